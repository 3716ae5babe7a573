"""
The path, stage by stage
========================

A fit solves at a generous budget, keeps those features, and shrinks. The order of leaving is the
ranking. :class:`~covmin.plotting.PathDisplay` shows it.
"""

# %%

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from covmin import CCMSelector
from covmin.plotting import PathDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
selector = CCMSelector(n_features_to_select=6).fit(X, y)
PathDisplay.from_estimator(selector, n_features=12)
plt.show()

# %%
# What each stage leaves unexplained
# ----------------------------------
# The criterion Q times ε is the variance of the response that the features leave; it is a number
# for each stage. The bandwidth is measured anew at each, so that it need not rise as features
# leave: dropping noise can lower it.

path = selector.path_
for m, value in zip(path.n_features, path.criterion, strict=True):
    print(f"{m:3d} features: {selector.epsilon_ * value:.4f} left")

# %%
# Following a fit
# ---------------
# ``history_`` keeps every step of the solver; :class:`covmin.LongRun` takes a ``callback`` that is
# called after each.

history = selector.history_
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.step(range(len(history.objective)), history.n_active, color="#0a6c74")
ax.set(xlabel="step of the solver", ylabel="features with positive weight", yscale="log")
plt.show()
