"""
How stable is a selection?
==========================

A selector always returns its best features. Would it select the same ones on other samples?
:class:`~covmin.StabilitySelector` fits a selector to many random halves of the samples and counts
how often each feature is selected. It also bounds the expected number of false selections.
"""

# %%
# Four of twenty features matter. Their effects are a sine, a hinge, a line and an exponential.

import matplotlib.pyplot as plt

from covmin import CCMSelector, StabilitySelector
from covmin.datasets import make_additive
from covmin.plotting import RankingDisplay

data = make_additive(240, n_noise=16, random_state=0)
X, y = data.data, data.target

# %%
# Each fit selects five features from a random half of the samples. There are forty fits: twenty
# pairs of halves that share no samples.

selector = StabilitySelector(CCMSelector(5), n_pairs=20, threshold=0.8).fit(X, y)
print("selected:", selector.get_support(indices=True))
print("true:    ", data.informative)

# %%
# Three of the true features are selected almost always. The hinge, x1, has the weakest effect. The
# dotted line is the frequency with which a random choice of five selects a feature.

RankingDisplay.from_estimator(selector, n_features=12)
plt.show()

# %%
# These are bounds on the expected number of false selections: of features that a fit selects no
# more often than a random choice does. The first bound needs no further assumptions. The other
# is sharper and assumes a shape of the distribution of the frequencies.

for name, bound in selector.error_bound_.items():
    print(f"{name:>10}: {bound:.3f}")

# %%
# You can also set the number of false selections that you accept. The threshold is then chosen
# from the bound.

wanted = StabilitySelector(CCMSelector(5), n_pairs=20, max_false=0.5).fit(X, y)
print("threshold:", wanted.threshold_, "selected:", wanted.get_support(indices=True))

# %%
# Set groups, given columns and types of columns on the inner selector. Here x0 is given: it is
# always kept and does not count, and the other features are selected by what they add to it.

known = StabilitySelector(CCMSelector(4, given=0), n_pairs=10, threshold=0.8).fit(X, y)
print("kept:", known.get_support(indices=True), "of which selected:", known.n_features_)
