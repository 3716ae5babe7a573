"""
Groups of columns
=================

Some columns belong together: one-hot columns, lags of a series, the readings of one sensor.
``feature_groups`` selects or drops them as one feature.
"""

# %%
# Eight sensors with five readings each
# -------------------------------------
# The response depends on two readings of sensor 1 and two of sensor 3.

import matplotlib.pyplot as plt
import numpy as np

from covmin import CCMSelector

rng = np.random.default_rng(0)
sensors, readings, n = 8, 5, 150
X = rng.standard_normal((n, sensors * readings))
effects = 2 * np.sin(X[:, 6]) + X[:, 8] + 1.5 * np.abs(X[:, 17]) + X[:, 18]
y = effects + 0.2 * rng.standard_normal(n)
labels = [f"sensor {j // readings}" for j in range(X.shape[1])]

grouped = CCMSelector(n_features_to_select=2, feature_groups=labels).fit(X, y)
print("selected sensors:", grouped.feature_groups_[grouped.group_support_])
print("selected columns:", grouped.get_support(indices=True))

# %%
# Without groups
# --------------
# Now each column is a feature of its own.

single = CCMSelector(n_features_to_select=4).fit(X, y)
print("selected columns:", single.get_support(indices=True))

figure, axes = plt.subplots(2, 1, figsize=(9, 3.6), sharex=True, layout="constrained")
for ax, selector, title in zip(
    axes, (grouped, single), ("two groups of five", "four single columns"), strict=True
):
    ax.bar(range(X.shape[1]), selector.weights_, width=1.0, color="#0a6c74")
    for edge in range(readings, X.shape[1], readings):
        ax.axvline(edge - 0.5, color="0.8", linewidth=0.8)
    ax.set(title=title, ylabel="weight")
axes[1].set_xlabel("column (grey lines separate sensors)")
plt.show()
