"""The numbers that change an answer, with their reasons.

Numbers that only affect speed or rounding are next to the code that they concern.
"""

from typing import Final

# --- how much is enough ------------------------------------------------------------------------
#: Rows that are enough for an estimate that need not be exact, such as a noise or a score: another
#: sample of this size changes it by a few per cent. Up to this many rows use the kernel matrix;
#: beyond it, random Fourier features are about as fast, and their memory does not grow with n².
SAMPLE_ROWS: Final = 2000
#: Rows that are enough for a choice between close alternatives, to a fraction of a per cent.
MANY_ROWS: Final = 20_000
#: Multiplications of one evaluation of the criterion, a fraction of a second, and of the search for
#: interactions, some seconds: work, not seconds, so that no answer depends on the machine.
WORK: Final = (3e10, 4e11)
#: Largest number of values to hold in memory as an array: 32 MB in single precision.
MEMORY_NUMBERS: Final = 2**23

# --- core --------------------------------------------------------------------------------------
#: Samples per feature that the data can distinguish: with more features than that, any set fits,
#: so interacting features are protected.
SAMPLES_FOR_EACH_FEATURE: Final = 10
#: Length scales of the functions of one feature, in its standard deviations: at 0.5 they may
#: oscillate several times over the samples; at 8 they are almost parabolas.
FUNCTION_SCALES: Final = (0.5, 1.25, 3.0, 8.0)
#: Ridges of the regression; larger length scales need smaller ones. The last one leaves only the
#: mean.
FUNCTION_RIDGES: Final = (*(10.0**-k for k in range(1, 9)), float("inf"))
#: Landmarks of the regression: the fewest, the number per root of the number of samples, and the
#: most. The error for a product of signs in 800 samples is then within a tenth of that of all.
LANDMARKS: Final = (100, 6.0, 1000)
#: How far predictions may exceed the observed values, as a fraction of their range: a product of
#: two features does by as much in 60 samples, and a polynomial is limited where there are none.
EXTRAPOLATION: Final = 0.5
#: Kernels that compare sets of features, from fast to slow, with their length scales: rational
#: quadratics ``(1 + D/s²)^-½`` act at several scales, wide Gaussians are close to polynomials, and
#: half of a mixed one is a mean of fast functions of single features.
SET_KERNELS: Final = (
    *(("rational", scale) for scale in (0.25, 0.5, 1.0, 2.0)),
    ("mixed", 4.0),
    *(("gaussian", scale) for scale in (4.0, 8.0)),
)
#: Sets compared feature by feature: the size of the largest, as many as a person looks at one by
#: one; the candidates, the first of the path; and the samples that each candidate needs: the lowest
#: error of a set found among more is chance.
CANDIDATES: Final = (12, 30, 7)

# --- plan and selection ------------------------------------------------------------------------
#: Random Fourier features: enough to approximate a kernel of a few dozen columns to a few per cent.
N_COMPONENTS: Final = 512
#: Smallest additive share of the mixed kernel: most responses are largely sums of single effects.
LEAST_MIXING: Final = 0.3
#: ε of the paper, for a single solve and for the inverse-free form.
PAPER_RIDGE: Final = {"classification": 0.001, "regression": 0.1, "survival": 0.1}
#: ε on a path: the smallest if all features together predict nothing, where only a close fit can
#: reveal an interaction; the smallest otherwise, because a few features leave more unpredicted than
#: all of them; the largest, above which a copy of a strong feature is worth more than a new one;
#: and the largest due to the sizes of categories and groups.
RIDGE_LIMITS: Final = (0.001, 0.003, 0.01, 0.1)
#: Rows used to estimate the noise: they determine its share to a few per cent. And the
#: noise-to-signal ratio if all features together predict nothing.
NOISE: Final = (1000, 0.1)
#: A prediction counts if its correlation exceeds the first number of standard errors, and a set of
#: features if its gain over none exceeds the second: this finds something in a fortieth of all
#: tables of pure noise.
STANDARD_ERRORS: Final = (2.0, 1.5)
#: Features of the first stage of a path: at most this number, and this share of all; and the
#: factor from stage to stage.
BUDGETS: Final = (100, 0.6, 0.4)
#: Penalties λ₁ of a soft budget, as fractions of the criterion without features, tried in turn
#: until the requested number of features has positive weight.
SOFT_PENALTIES: Final = tuple(0.05 * 0.25**k for k in range(6))
#: λ₂ as a multiple of 1/(nε): six times the bound ½, below which the inverse-free objective need
#: not decrease with dependence.
PENALTY: Final = 3.0
#: Cross-validation: the number of folds, the fewest, so that a single ranking does not decide, and
#: the test samples that are enough, with a relative error of a few per cent.
FOLDS: Final = (5, 2, 400)
#: Each number of features up to this one is a candidate, then only some, because errors of large
#: sets hardly differ. It is also the number kept if the time ends before the first fold.
EACH_SIZE_UP_TO: Final = 10

# --- data --------------------------------------------------------------------------------------
#: Maximum number of indicators per column; the rarest of more levels are merged.
MOST_LEVELS: Final = 255
#: A column of text with at most this many values is categorical even in few rows. In as few rows,
#: consecutive integers are not called row numbers, and at most one cell in this many may be
#: something else in a column of numbers.
FEW_LEVELS: Final = 10
#: Levels are merged if they have fewer rows than the first number, which carry little information,
#: and a smaller share of the rows than the second: in a small table five rows are many.
RARE_LEVEL: Final = (5, 0.01)
#: Integers as y are numbers if they have more distinct values than the first number and fewer
#: samples per value than the second.
MANY_CLASSES: Final = (20, 5)
#: Equal rows are different samples, not duplicates, if more than the first share of them have equal
#: features but different responses, or if pairs are at most the second number times as frequent
#: as independent features without rare values would make them.
DUPLICATES: Final = (0.1, 10.0)

# --- inference ---------------------------------------------------------------------------------
#: A share of a variance this small is nothing: ties at their mean rank may lose it, and a feature
#: of which others leave no more is determined by them.
NEGLIGIBLE_SHARE: Final = 0.01
#: Ridges of the regression of each feature on the others, in units of the variance of a feature.
NEIGHBOUR_RIDGES: Final = (10.0, 1.0, 0.1, 0.01, 0.001)
#: Largest number of samples to test: effects that are too small for these are of no practical use.
TESTED_ROWS: Final = 5000
#: Gibbs sweeps over the latent variables of a copula, both to estimate their correlation and before
#: each copy: half of them come within a thousandth of the estimate.
GIBBS_SWEEPS: Final = 20
#: Share of a column that a product of others must explain for a warning that a copula does not
#: represent it: a smaller share is common and hardly visible in a plot.
CURVED_SHARE: Final = 0.1
#: Additive share of the kernel and ridge ε that rank features and their knockoffs: a comparison
#: gains from a ridge that does not fit the noise, and from a larger additive share.
KNOCKOFF_KERNEL: Final = (0.5, 0.01)

# --- summary and report ------------------------------------------------------------------------
#: What a single feature must explain to be called too good to be true, what several must, and what
#: a row number must explain to be said to follow the response.
SUSPICIOUS_SHARE: Final = (0.98, 0.999, 0.2)
