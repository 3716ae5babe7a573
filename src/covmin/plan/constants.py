"""Every number behind an "auto": its value and where it comes from.

A number that changes an answer stands here. Numbers that only change how fast an answer comes
stand beside the code that they speed up.
"""

from dataclasses import replace
from typing import Final

from covmin.core import nominations
from covmin.core.effort import Effort
from covmin.core.nominations import Search
from covmin.data import ranks, rules
from covmin.data.sources import sparse

# --- what a column is read as ------------------------------------------------------------------
#: Indicators of one column, at most; of more levels the rarest are merged.
MOST_LEVELS: Final = rules.MOST_LEVELS
#: So few levels are categories even where rows are few, or where most of them are numbers.
FEW_LEVELS: Final = rules.FEW_LEVELS
#: A level of fewer rows is merged with others: so few say next to nothing about it.
FEWEST_IN_LEVEL: Final = rules.FEWEST_IN_LEVEL
#: But not one that has this share of the rows: in a small table five rows are many.
RARE_SHARE: Final = rules.RARE_SHARE
#: Share of the cells of a column of numbers that may be something else, and count as missing.
STRAY_SHARE: Final = rules.STRAY_SHARE
#: Whole numbers, all different, count the rows if they leave out at most this share of those
#: between the least and the largest: by chance, hardly any twenty of them do.
SKIPPED_SHARE: Final = rules.SKIPPED_SHARE
#: The same where they rise from row to row: rows may have been left out since.
SKIPPED_IN_ORDER: Final = rules.SKIPPED_IN_ORDER
#: Rows from which that is asked.
FEWEST_COUNTED: Final = rules.FEWEST_COUNTED
#: Consecutive numbers between these are years, which may matter.
YEARS: Final = rules.YEARS

# --- scaling by ranks ------------------------------------------------------------------------
#: Of more samples than this, as many are drawn to rank by: a rank is then known to 0.4 per cent.
RANKED_ROWS: Final = ranks.RANKED_ROWS
#: Values of a column at which its scores are kept, with lines between them: all, as long as the
#: exact kernel is used.
KNOTS: Final = ranks.KNOTS

# --- exact kernel or random components -------------------------------------------------------
#: Up to this many samples the n×n kernel matrix is used: beyond, random components take about
#: as long, and their memory does not grow with n².
EXACT_SAMPLES: Final = 2000
#: Random components: enough to resolve a kernel of a few dozen columns to a few per cent.
N_COMPONENTS: Final = 512
#: Numbers held in memory as an array: of a table read in blocks the rows of a sample, the more the
#: fewer columns are left to choose among, and a sparse table of no more numbers is made dense. They
#: take 32 MB in single precision: 84,000 rows of the hundred columns of a first budget.
HELD_NUMBERS: Final = sparse.HELD_NUMBERS

# --- the kernel ------------------------------------------------------------------------------
#: Least share of the sum over single features in the mixed kernel: most responses are largely
#: sums of single effects.
LEAST_MIXING: Final = 0.3

# --- the ridge ε -----------------------------------------------------------------------------
#: The paper's values, for a single solve and for the inverse-free form. What stands for times to
#: an event is numbers.
PAPER_RIDGE: Final = {"classification": 0.001, "regression": 0.1, "survival": 0.1}
#: Least and largest ε along a path. Fewer features leave more unpredicted than all of them, so
#: that some noise is left whatever these say; above, strong effects are held back so much that a
#: copy of a strong feature is worth more than a new one.
RIDGE_LIMITS: Final = (0.003, 0.01)
#: Ratio of noise to signal where all features predict nothing: only a close fit can show what
#: there is.
NOISE_OF_UNPREDICTED: Final = 0.1
#: Least ε there: below, a solve takes long.
LEAST_RIDGE: Final = 0.001
#: Rows on which the noise is told: a share of noise is then known to a few per cent, and a ridge
#: for more rows is mostly at its least value.
NOISE_ROWS: Final = 1000
#: What is predicted counts as something beyond this many standard errors of a correlation.
STANDARD_ERRORS: Final = 2.0
#: Largest ε by the sizes of categories and groups.
LARGEST_RIDGE_OF_UNITS: Final = 0.1

# --- the path --------------------------------------------------------------------------------
#: Budgets shrink by this factor from stage to stage: a feature then has some ten chances.
SHRINK: Final = 0.6
#: First budget on wide data; at most three fifths of all features.
FIRST_BUDGET: Final = 100
#: Interacting features are held on to, whatever the criterion, while there are fewer samples
#: than this for each feature left: among so many features any set fits.
SAMPLES_FOR_EACH_FEATURE: Final = 10
#: What an evaluation may take: a fraction of a second. The first steps of a stage have as many rows
#: for each column as tell features apart, and are solved three times more loosely than the next.
#: Those on eight times the rows cost so much more that the first come for next to nothing.
EFFORT: Final = Effort(
    work=3e10,
    first_rows=SAMPLES_FOR_EACH_FEATURE,
    fewest_first=1000,
    fewest_rows=250,
    growth=8,
    matrix_rows=EXACT_SAMPLES,
    looseness=3.0,
)
#: The same on an accelerator, which does a hundred times as much in the same time.
DEVICE_EFFORT: Final = replace(EFFORT, work=100 * EFFORT.work, matrix_rows=10_000)
#: Prices of a unit of weight under a soft budget, as shares of the criterion of no feature, tried
#: in turn until as many features as asked for are worth their price.
SOFT_PRICES: Final = tuple(0.05 * 0.25**k for k in range(6))
#: λ₂ as a multiple of 1/(nε): six times the floor of ½, below which the inverse-free objective
#: need not fall with dependence.
PENALTY: Final = 3.0

# --- interactions ----------------------------------------------------------------------------
#: When a pair interacts, or a feature goes with the spread of the response (see
#: :class:`~covmin.core.nominations.Search`).
SEARCH: Final = Search()
#: Functions of the ranks of a column, at most: a line, and three waves, of which the fastest goes
#: up and down twice over the samples.
N_WAVES: Final = nominations.N_WAVES
#: Rows for the look at pairs: columns squared times rows and responses is at most this, which
#: takes some seconds.
PAIR_WORK: Final = 4e11
#: Passes over the pairs cost as much as so many rows.
PAIR_PASSES: Final = 100
#: No more than this many numbers are held for the look at pairs, waves included.
PAIR_NUMBERS: Final = 2**25
#: But this many rows at least, if there is time for them.
PAIR_ROWS: Final = 2000
#: Of that work, the share for products of waves: as many waves of each column as it allows. The
#: plain products are what most interactions show in.
WAVE_SHARE: Final = 0.1

# --- cross-fitting ---------------------------------------------------------------------------
#: Folds of the samples, which are left out in turn.
N_FOLDS: Final = 5
#: But no more of them than together hold this many samples, and no fewer than three: errors are
#: then known to a few per cent of themselves.
ENOUGH_LEFT_OUT: Final = 600
#: Below this many samples there is nothing to hold out.
FEWEST_TO_CROSS_FIT: Final = 4
#: Of more samples than this, a random sample chooses ε and m: its error is known to a fraction
#: of a per cent.
CROSS_FIT_ROWS: Final = 20_000
#: Numbers of features that are tried: each up to the first of these, then a quarter more each
#: time up to the second.
SIZES: Final = (10, 100)
#: Features kept where the number was to be chosen and the time allowed was over before a single
#: fold was judged: as many as are looked at one by one.
KEPT_UNCHOSEN: Final = 10
#: Ridges of the kernel ridge regression on all features, which tells the noise.
REGRESSION_RIDGES: Final = (1e-1, 1e-2, 1e-3, 1e-4)

# --- the judge of a set of features ------------------------------------------------------------
#: Scales of the functions of one feature, in its standard deviations: at a half, it may wave
#: several times over the samples; at eight, it is all but a parabola.
FUNCTION_SCALES: Final = (0.5, 1.25, 3.0, 8.0)
#: Ridges of the regression; the wider the functions, the smaller. The last leaves the mean alone.
FUNCTION_RIDGES: Final = (*(10.0**-k for k in range(1, 9)), float("inf"))
#: Samples around which functions are built: eigenvectors of so many take half a second.
LANDMARKS: Final = 1000
#: Where many sets are judged, as many as this times the root of the number of samples: the error
#: of a product of signs in 800 samples is then within a tenth of that with all of them.
LANDMARKS_OVER_ROOT: Final = 6.0
#: But no fewer than these.
FEWEST_LANDMARKS: Final = 100
#: Of more samples than this the judge of many sets learns from as many: a regression on them leaves
#: but a fraction of a per cent beyond the noise. It is tried on all that are left out.
JUDGED_ROWS: Final = 2000
#: How far predictions of numbers go beyond those seen, as a share of their range: a product goes
#: as far in 60 samples, and a polynomial that has no samples goes no further.
EXTRAPOLATION: Final = 0.5
#: Features that take no more values than this make equal rows by chance, which are no copies.
FEW_VALUES: Final = 10
#: Weight of one feature in the exponent in the sample: a pair then counts a tenth of each alone.
IN_SAMPLE_SHARE: Final = 0.1
#: The ridge in the sample: the noise of a product and a line in 300 samples is told to a third.
IN_SAMPLE_RIDGE: Final = 1e-5
