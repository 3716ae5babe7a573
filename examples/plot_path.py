"""
The path, stage by stage
========================

A fit is a path of stages. Each stage has a smaller budget than the one before, and only the
features that it keeps go on to the next. The order in which features leave is the ranking.
:class:`~covmin.plotting.PathDisplay` draws the path.
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
# The criterion at each stage
# ---------------------------
# The criterion times ε is the part of the response that the features do not explain. It can
# fall as features leave, because each stage has a new bandwidth and dropping noise helps.

path = selector.path_
for m, value in zip(path.n_features, path.criterion, strict=True):
    print(f"{m:3d} features: {selector.epsilon_ * value:.4f} unexplained")

# %%
# Every step of the solver
# ------------------------
# ``history_`` records every step. To follow a fit while it runs, pass a ``callback`` to
# :class:`covmin.LongRun`.

history = selector.history_
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.step(range(len(history.objective)), history.n_active, color="#0a6c74")
ax.set(xlabel="step of the solver", ylabel="features with positive weight", yscale="log")
plt.show()
