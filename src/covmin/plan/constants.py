"""The constants behind every "auto", with their reasons.

This module has all numbers that affect a result. Numbers that only affect speed are next to the
code that they speed up.
"""

from typing import Final

from covmin.constants import MEMORY_NUMBERS

# --- exact kernel or random Fourier features -------------------------------------------------
#: Up to this many samples the n×n kernel matrix is used. Beyond it, random Fourier features are
#: about as fast, and their memory does not grow with n².
EXACT_SAMPLES: Final = 2000
#: Random Fourier features: enough to approximate a kernel of a few dozen columns to a few per cent.
N_COMPONENTS: Final = 512
#: Largest number of values to hold in memory as an array (32 MB in single precision, or 84,000 rows
#: of a first budget of 100 columns). It limits the sample of a table that is read in blocks, which
#: has more rows as fewer columns remain, and the sparse tables that are converted to dense.
HELD_NUMBERS: Final = MEMORY_NUMBERS

# --- the kernel ------------------------------------------------------------------------------
#: Smallest additive share of the mixed kernel: most responses are largely sums of single effects.
LEAST_MIXING: Final = 0.3

# --- regularisation ε ------------------------------------------------------------------------
#: The paper's values, for a single solve and for the inverse-free form.
PAPER_RIDGE: Final = {"classification": 0.001, "regression": 0.1, "survival": 0.1}
#: Smallest and largest ε on a path. A few features leave more unpredicted than all of them, so some
#: noise remains whatever the estimate says. Above the upper limit, strong effects are shrunk so
#: much that a copy of a strong feature is worth more than a new one.
RIDGE_LIMITS: Final = (0.003, 0.01)
#: Noise-to-signal ratio if all features together predict nothing: only a close fit can then reveal
#: an interaction.
NOISE_OF_UNPREDICTED: Final = 0.1
#: Smallest ε in that case: a smaller one makes a solve slow.
LEAST_RIDGE: Final = 0.001
#: Rows used to estimate the noise: they determine its share to a few per cent, and with more rows ε
#: is mostly at its lower limit.
NOISE_ROWS: Final = 1000
#: A prediction counts if its correlation exceeds this many standard errors.
STANDARD_ERRORS: Final = 2.0
#: Largest ε due to the sizes of categories and groups.
LARGEST_RIDGE_OF_UNITS: Final = 0.1

# --- the path --------------------------------------------------------------------------------
#: Factor by which the budget shrinks from stage to stage: a feature is then tested in about ten
#: stages.
SHRINK: Final = 0.6
#: First budget on wide data; it is at most 60 % of all features.
FIRST_BUDGET: Final = 100
#: Penalties λ₁ of a soft budget, as fractions of the criterion without features, tried in turn
#: until the requested number of features has positive weight.
SOFT_PRICES: Final = tuple(0.05 * 0.25**k for k in range(6))
#: λ₂ as a multiple of 1/(nε): six times the bound ½, below which the inverse-free objective need
#: not decrease with dependence.
PENALTY: Final = 3.0

# --- interactions ----------------------------------------------------------------------------
#: Limit on the search for pairs: squared columns times rows times responses, which takes some
#: seconds.
PAIR_WORK: Final = 4e11
#: Elementwise passes over the pairs cost as much as this many rows.
PAIR_PASSES: Final = 100
#: Limit on the values held in memory for the search for pairs.
PAIR_NUMBERS: Final = 2**25
#: Number of rows for the search whatever the memory, if there is time for them.
PAIR_ROWS: Final = 2000
#: Share of that work for products of several functions per column, which limits their number: most
#: interactions show in the plain products.
WAVE_SHARE: Final = 0.1

# --- cross-validation ------------------------------------------------------------------------
#: Number of cross-validation folds.
N_FOLDS: Final = 5
#: Folds are only used until they hold this many test samples in total: the relative error of the
#: estimate is then a few per cent.
ENOUGH_LEFT_OUT: Final = 400
#: Smallest number of folds, so that a single ranking does not decide.
FEWEST_FOLDS: Final = 2
#: With fewer samples than this there is no cross-validation.
FEWEST_TO_CROSS_FIT: Final = 4
#: With more samples than this, a random sample chooses ε and m: its error is accurate to a fraction
#: of a per cent.
CROSS_FIT_ROWS: Final = 20_000
#: Each number of features up to this one is a candidate, then only those of the path: errors of
#: sets that differ by a few features of many cannot be told apart.
EACH_SIZE_UP_TO: Final = 10
#: Number of features kept if the time limit ends before the first fold has chosen it: as many as a
#: person looks at one by one.
KEPT_UNCHOSEN: Final = 10
#: Ridges of the kernel ridge regression on all features that estimates the noise.
REGRESSION_RIDGES: Final = (1e-1, 1e-2, 1e-3, 1e-4)

# --- regression that evaluates feature sets ----------------------------------------------------
#: If many sets are evaluated, the regression is fitted to at most this many samples, which adds a
#: fraction of a per cent to the noise. It is evaluated on all test samples.
SCORING_ROWS: Final = 2000
#: Weight of one feature in the exponent of the in-sample kernel: a pair then counts a tenth of each
#: single feature.
IN_SAMPLE_SHARE: Final = 0.1
#: Ridge of the in-sample criterion: it determines the noise of a product and a linear term in 300
#: samples to within a third.
IN_SAMPLE_RIDGE: Final = 1e-5
