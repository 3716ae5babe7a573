"""
covmin beside other selectors
=============================

Which method is best depends on the data. :func:`~covmin.evaluation.compare_selectors` finds out
on yours: each method ranks on training folds, and a kernel machine on the first m features is
scored on the fold left out.
"""

# %%
# Where interactions decide
# -------------------------

import matplotlib.pyplot as plt

from covmin.datasets import make_xor
from covmin.evaluation import compare_selectors

X, y = make_xor(120, random_state=0, return_X_y=True)
methods = ["ccm", "anova", "mrmr", "rfe"]
interactions = compare_selectors(X, y, methods, n_features=[1, 2, 3, 4, 6, 8, 10], random_state=0)

# %%
# Where a linear model is right
# -----------------------------

from sklearn.datasets import make_classification

X, y = make_classification(
    120, 40, n_informative=4, n_redundant=4, n_clusters_per_class=1, random_state=0
)
linear = compare_selectors(X, y, methods, n_features=[1, 2, 4, 8, 16, 40], random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
interactions.plot(axes[0], title="three features that interact")
linear.plot(axes[1], title="one linear direction", legend=False)
plt.show()

# %%
# On the left only covmin finds the three features. On the right every method does well, and the
# quick ones are the better choice.

summary = linear.summary()
print(summary.groupby("selector")[["mean_score", "fit_seconds"]].mean().round(3))
