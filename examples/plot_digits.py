"""
Which pixels distinguish digits?
================================

Here the features are the pixels of small images. covmin selects pixels where the shapes of the
digits differ.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from covmin import CCMSelector

X, y = load_digits(return_X_y=True)
rows = np.flatnonzero(np.isin(y, [3, 8, 9]))[:300]
X, y = X[rows], y[rows]
varies = (X > 0).mean(axis=0) > 0.02  # the border is almost always blank

selector = CCMSelector(n_features_to_select=8).fit(X[:, varies], y)
kept = np.flatnonzero(varies)[selector.get_support()]
print(f"{kept.size} of {varies.sum()} pixels selected")

# %%
# The selected pixels
# -------------------
# The images are means over all samples of a digit.

figure, axes = plt.subplots(1, 3, figsize=(8, 3), layout="constrained")
for ax, digit in zip(axes, (3, 8, 9), strict=True):
    ax.imshow(X[y == digit].mean(axis=0).reshape(8, 8), cmap="gray_r")
    ax.scatter(kept % 8, kept // 8, s=150, facecolors="none", edgecolors="#e0662c", linewidths=2)
    ax.set(title=f"mean {digit}", xticks=[], yticks=[])
plt.show()

# %%
# Accuracy with eight pixels
# --------------------------

from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

everything = make_pipeline(StandardScaler(), SVC())
chosen = make_pipeline(StandardScaler(), CCMSelector(8), SVC())
print(f"all pixels:   {cross_val_score(everything, X[:, varies], y, cv=5).mean():.3f}")
print(f"eight pixels: {cross_val_score(chosen, X[:, varies], y, cv=5).mean():.3f}")
