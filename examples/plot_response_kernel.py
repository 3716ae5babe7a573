"""
Features that change the spread
===============================

A feature can affect the spread of the response without affecting its mean.
``Formulation(response_kernel="gaussian")`` looks for any change of its
distribution.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

from covmin import CCMSelector, Formulation

rng = np.random.default_rng(0)
n = 300
X = rng.standard_normal((n, 16))
y = X[:, 0] + np.exp(0.8 * X[:, 1]) * rng.standard_normal(n)

for kernel in ("linear", "gaussian"):
    selector = CCMSelector(
        n_features_to_select=2, formulation=Formulation(response_kernel=kernel)
    ).fit(X, y)
    print(f"{kernel:8s} ranks of columns 0 and 1: {selector.ranking_[:2]}")

# %%
# Column 0 affects the mean, column 1 the spread
# ----------------------------------------------

figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
for j, ax in enumerate(axes):
    ax.plot(X[:, j], y, ".", color="#0a6c74", alpha=0.5)
    ax.set(xlabel=f"column {j}", ylim=(-8, 8))
axes[0].set_ylabel("response")
plt.show()
