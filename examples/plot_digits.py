"""
Which pixels tell digits apart?
===============================

A picture of a fit on pictures: the pixels that covmin keeps lie where the shapes differ.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from covmin import CCMSelector

X, y = load_digits(return_X_y=True)
three = np.flatnonzero(np.isin(y, [3, 8, 9]))[:300]
X, y = X[three], y[three]
varies = (X > 0).mean(axis=0) > 0.02  # the border is almost always blank

selector = CCMSelector(n_features_to_select=8).fit(X[:, varies], y)
kept = np.flatnonzero(varies)[selector.get_support()]
print(f"{kept.size} of {varies.sum()} pixels that are ever used")

# %%
# The pixels on the mean digits
# -----------------------------

figure, axes = plt.subplots(1, 3, figsize=(8, 3), layout="constrained")
for ax, digit in zip(axes, (3, 8, 9), strict=True):
    ax.imshow(X[y == digit].mean(axis=0).reshape(8, 8), cmap="gray_r")
    ax.scatter(kept % 8, kept // 8, s=150, facecolors="none", edgecolors="#e0662c", linewidths=2)
    ax.set(title=f"mean {digit}", xticks=[], yticks=[])
plt.show()

# %%
# What eight pixels are worth
# ---------------------------

from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

everything = make_pipeline(StandardScaler(), SVC())
chosen = make_pipeline(StandardScaler(), CCMSelector(8), SVC())
print(f"all pixels:   {cross_val_score(everything, X[:, varies], y, cv=5).mean():.3f}")
print(f"eight pixels: {cross_val_score(chosen, X[:, varies], y, cv=5).mean():.3f}")
