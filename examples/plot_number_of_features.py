"""
How many features?
==================

By default, ``n_features_to_select="auto"``, covmin chooses the number of features by
cross-validation. It ranks the features on the training folds and measures the error of kernel ridge
regression on the test fold. It then takes the smallest set whose error is within one standard
error of the best.
"""

# %%

import matplotlib.pyplot as plt

from covmin import CCMSelector
from covmin.datasets import make_shell
from covmin.plotting import ErrorCurveDisplay
from covmin.report import summary

shell = make_shell(200, n_noise=16, random_state=0)
X, y = shell.data, shell.target
selector = CCMSelector().fit(X, y)
print(summary(selector)["why"])

# %%
# The error curve
# ---------------
# Four of the twenty columns determine the class. The error falls until all four are included. It
# then rises slowly, as noise is added.

ErrorCurveDisplay.from_estimator(selector)
plt.show()

# %%
# Choosing the ridge, too
# -----------------------
# If ``epsilon`` is a list, the same folds choose it as well.

selector = CCMSelector(epsilon=[1e-3, 1e-2, 1e-1]).fit(X, y)
print(f"ε = {selector.epsilon_:g}, {selector.n_features_} features")
