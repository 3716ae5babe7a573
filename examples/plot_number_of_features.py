"""
How many features?
==================

Leave ``n_features_to_select="auto"`` and covmin chooses: it ranks on training folds, judges
kernel ridge regression on the fold left out, and takes the smallest set whose error is within
one standard error of the best.
"""

# %%

import matplotlib.pyplot as plt

from covmin import CCMSelector
from covmin.datasets import make_shell
from covmin.plotting import ErrorCurveDisplay
from covmin.report import explain_choice

shell = make_shell(200, n_noise=16, random_state=0)
X, y = shell.data, shell.target
selector = CCMSelector().fit(X, y)
print(explain_choice(selector))

# %%
# The curve behind the choice
# ---------------------------
# Four of the twenty columns carry the class. The error falls until they are all in, and rises
# slowly as noise comes in with them.

ErrorCurveDisplay.from_estimator(selector)
plt.show()

# %%
# The ridge as well
# -----------------
# ``epsilon`` may be a list: the same folds then choose it too.

selector = CCMSelector(epsilon=[1e-3, 1e-2, 1e-1]).fit(X, y)
print(f"ε = {selector.epsilon_:g}, {selector.n_features_} features")

# %%
# The error of the path itself (``path_.optimistic_loo_error``) must not choose: the ranking has
# seen the very samples it leaves out.

import numpy as np

row = int(np.flatnonzero(selector.cross_fit_.epsilon == selector.epsilon_)[0])
honest = dict(zip(selector.cross_fit_.n_features, selector.cross_fit_.mean_error[row], strict=True))
for m, optimistic in zip(
    selector.path_.n_features, selector.path_.optimistic_loo_error, strict=True
):
    if m in honest:
        print(f"{m:2d} features: optimistic {optimistic:.2f}, cross-fitted {honest[m]:.2f}")
