"""
How stable is the choice?
=========================

A selector always names its best features. Would it name them again on other samples? Fitted
to many halves of the data, it shows how often it chooses each feature, and the frequencies
come with a bound on the number of features that are chosen by mistake.
"""

# %%
# Four of twenty features matter: through a sine, a hinge, a line and an exponential.

import matplotlib.pyplot as plt

from covmin import CCMSelector, StabilitySelector
from covmin.datasets import make_additive
from covmin.plotting import StabilityDisplay

data = make_additive(240, n_noise=16, random_state=0)
X, y = data.data, data.target

# %%
# Each fit chooses five features of a random half. Forty such fits are twenty pairs of
# halves that share no sample.

selector = StabilitySelector(CCMSelector(5), n_pairs=20, threshold=0.8).fit(X, y)
print("kept:", selector.get_support(indices=True))
print("true:", data.informative)

# %%
# Three of the true features are chosen nearly always; the hinge, x1, has the weakest effect.
# The dotted line is how often a blindfold choice of five would hit a feature.

StabilityDisplay.from_estimator(selector, n_features=12)
plt.show()

# %%
# Of the features that are chosen no more often than blindfold, at most this many are kept on
# average. The first bound holds without further assumptions; the others are sharper and
# assume a regular distribution of the frequencies.

for name, bound in selector.error_bound_.items():
    print(f"{name:>10}: {bound:.3f}")

# %%
# The other way round: say how many false selections are acceptable and let the bound set the
# threshold.

wanted = StabilitySelector(CCMSelector(5), n_pairs=20, max_false=0.5).fit(X, y)
print("threshold:", wanted.threshold_, "kept:", wanted.get_support(indices=True))

# %%
# Groups, given columns and the kinds of columns are parameters of the selector inside. With x0
# given, the others are chosen by what they add to it; it is always kept, and does not count.

known = StabilitySelector(CCMSelector(4, given=0), n_pairs=10, threshold=0.8).fit(X, y)
print("kept:", known.get_support(indices=True), "chosen:", known.n_features_)
