"""
Nonlinear effects in regression
===============================

The response is the sum of a sine, a parabola, an absolute value, a line and noise. Correlation
finds the line and the sine. covmin finds all four columns.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

from covmin import CCMSelector

rng = np.random.default_rng(0)
X = rng.standard_normal((150, 10))
effects = 2 * np.sin(2 * X[:, 0]) + 1.5 * X[:, 1] ** 2 + 2 * np.abs(X[:, 2]) + X[:, 3]
y = effects + 0.5 * rng.standard_normal(150)
selector = CCMSelector(n_features_to_select=4).fit(X, y)
print("task:", selector.task_, " selected:", selector.get_support(indices=True))

# %%
# The four effects
# ----------------

figure, axes = plt.subplots(1, 4, figsize=(10, 2.8), sharey=True, layout="constrained")
for j, ax in enumerate(axes):
    r = np.corrcoef(X[:, j], y)[0, 1]
    ax.plot(X[:, j], y, ".", color="#0a6c74", alpha=0.6)
    ax.set_title(f"feature {j}\ncorrelation {r:+.2f}, rank {selector.ranking_[j]}", fontsize=9)
axes[0].set_ylabel("response")
plt.show()

# %%
# The ranking by correlation
# --------------------------

strength = np.abs([np.corrcoef(X[:, j], y)[0, 1] for j in range(X.shape[1])])
print("first four by correlation:", np.sort(np.argsort(-strength)[:4]))

# %%
# Several responses
# -----------------
# If ``y`` has several columns, covmin selects one set of features that explains them all.

both = np.column_stack([np.sin(2 * X[:, 0]), X[:, 5] ** 2])
print(CCMSelector(n_features_to_select=2).fit(X, both).get_support(indices=True))
