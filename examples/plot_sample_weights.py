"""
Samples that count more than others
===================================

A survey that asked too many city dwellers, a study with few patients and many controls:
``sample_weight`` and ``class_weight`` say how much each sample counts.
"""

# %%
# Two populations, two effects
# ----------------------------
# In the city the response follows the first column, elsewhere the second. Nine of ten samples are
# from the city.

import matplotlib.pyplot as plt
import numpy as np

from covmin import CCMSelector

rng = np.random.default_rng(0)
n = 300
X = rng.standard_normal((n, 8))
city = rng.random(n) < 0.9
y = np.where(city, X[:, 0], 3 * X[:, 1]) + 0.2 * rng.standard_normal(n)

weights = {
    "as sampled": np.ones(n),
    "city once, country 20 times": np.where(city, 1.0, 20.0),
}
figure, axes = plt.subplots(1, 2, figsize=(8, 2.8), sharey=True, layout="constrained")
for ax, (title, weight) in zip(axes, weights.items(), strict=True):
    selector = CCMSelector(n_features_to_select=1).fit(X, y, sample_weight=weight)
    print(f"{title}: column {selector.get_support(indices=True)}")
    ax.bar(range(8), selector.path_.weights[0], color="#0a6c74")
    ax.set(title=title, xlabel="column")
axes[0].set_ylabel("weight at the first stage")
plt.show()

# %%
# A weight of two is the sample twice
# -----------------------------------

twice = np.r_[np.arange(n), np.flatnonzero(~city)]
a = CCMSelector(3).fit(X, y, sample_weight=np.where(city, 1.0, 2.0))
b = CCMSelector(3).fit(X[twice], y[twice])
print("same ranking:", np.array_equal(a.ranking_, b.ranking_))

# %%
# Rare classes
# ------------
# ``class_weight="balanced"`` gives each class the same say.

rare = (X[:, 2] ** 2 + X[:, 3] ** 2 > 6.0).astype(int)
print(f"{rare.mean():.0%} of the samples are in the rare class")
print(CCMSelector(2, class_weight="balanced").fit(X, rare).get_support(indices=True))
