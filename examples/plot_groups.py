"""
Columns that belong together
============================

One-hot columns, lags of one sensor, pixels of one patch: some columns only make sense together.
``groups`` keeps or drops them as one.
"""

# %%
# Eight sensors with five readings each
# -------------------------------------
# The response depends on two sensors, through readings that differ from sensor to sensor.

import matplotlib.pyplot as plt
import numpy as np

from covmin import CCMSelector

rng = np.random.default_rng(0)
sensors, readings, n = 8, 5, 150
X = rng.standard_normal((n, sensors * readings))
effects = 2 * np.sin(X[:, 6]) + X[:, 8] + 1.5 * np.abs(X[:, 17]) + X[:, 18]
y = effects + 0.2 * rng.standard_normal(n)
labels = [f"sensor {j // readings}" for j in range(X.shape[1])]

grouped = CCMSelector(n_features_to_select=2, groups=labels).fit(X, y)
print("sensors kept:", grouped.groups_[grouped.group_support_])
print("columns kept:", grouped.get_support(indices=True))

# %%
# One at a time, by contrast
# --------------------------
# Without groups the columns themselves compete.

single = CCMSelector(n_features_to_select=4).fit(X, y)
print("columns kept one by one:", single.get_support(indices=True))

figure, axes = plt.subplots(2, 1, figsize=(9, 3.6), sharex=True, layout="constrained")
for ax, selector, title in zip(
    axes, (grouped, single), ("two groups of five", "four single columns"), strict=True
):
    ax.bar(range(X.shape[1]), selector.weights_, width=1.0, color="#0a6c74")
    for edge in range(readings, X.shape[1], readings):
        ax.axvline(edge - 0.5, color="0.8", linewidth=0.8)
    ax.set(title=title, ylabel="weight")
axes[1].set_xlabel("column; lines between sensors")
plt.show()
