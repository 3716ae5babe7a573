"""
Sample weights
==============

A survey may have asked too many people in cities. A study may have few patients and many controls.
``sample_weight`` and ``class_weight`` set how much each sample counts.
"""

# %%
# Two populations, two effects
# ----------------------------
# In the city the response depends on column 0, in the country on column 1. Nine of ten samples are
# from the city.

import matplotlib.pyplot as plt
import numpy as np

from covmin import CCMSelector

rng = np.random.default_rng(0)
n = 300
X = rng.standard_normal((n, 8))
city = rng.random(n) < 0.9
y = np.where(city, X[:, 0], X[:, 1]) + 0.2 * rng.standard_normal(n)

weights = {
    "no weights": np.ones(n),
    "country samples count ten times": np.where(city, 1.0, 10.0),
}
figure, axes = plt.subplots(1, 2, figsize=(8, 2.8), sharey=True, layout="constrained")
for ax, (title, weight) in zip(axes, weights.items(), strict=True):
    selector = CCMSelector(n_features_to_select=1).fit(X, y, sample_weight=weight)
    print(f"{title}: column {selector.get_support(indices=True)[0]}")
    ax.bar(range(8), selector.weights_, color="#0a6c74")
    ax.set(title=title, xlabel="column")
axes[0].set_ylabel("weight of the feature")
plt.show()

# %%
# A weight of two
# ---------------
# A sample with weight two counts like two copies of it.

twice = np.r_[np.arange(n), np.flatnonzero(~city)]
a = CCMSelector(3).fit(X, y, sample_weight=np.where(city, 1.0, 2.0))
b = CCMSelector(3).fit(X[twice], y[twice])
print("same ranking:", np.array_equal(a.ranking_, b.ranking_))

# %%
# Rare classes
# ------------
# With ``class_weight="balanced"``, all classes have the same total weight.

rare = (X[:, 2] ** 2 + X[:, 3] ** 2 > 6.0).astype(int)
print(f"{rare.mean():.0%} of the samples are in the rare class")
print(CCMSelector(2, class_weight="balanced").fit(X, rare).get_support(indices=True))
