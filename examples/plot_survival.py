"""
Survival times
==============

How long until a machine fails, a customer leaves or a patient falls ill again? For many samples
the event has not happened when they are last seen: their times are *censored*. Pass ``y`` as in
scikit-survival: a structured array with the event (true or false) and the time.
"""

# %%
# A hazard with an interaction
# ----------------------------
# The hazard is ``exp(x0 + x1 x2)``. It increases with x0. It increases with x1 if x2 is positive,
# and decreases with x1 if x2 is negative. Seven columns are noise, and about half of the times are
# censored.

import matplotlib.pyplot as plt
import numpy as np

from covmin import CCMSelector
from covmin.datasets import make_survival

X, y = make_survival(300, random_state=0, return_X_y=True)
print(y[:3], f"{1 - y['event'].mean():.0%} censored")

selector = CCMSelector().fit(X, y)
print("selected:", selector.get_support(indices=True))
print(selector.interactions_frame()[["features"]].to_string(index=False))

# %%
# covmin explains the *martingale residual* of each sample: the number of observed events (0 or 1)
# minus the number expected in the time that the sample was observed. Sets of features are scored
# by the concordance index on test folds: of all pairs of samples whose order is known, the share
# in which the sample with the higher predicted risk has the event first. Guessing scores 0.5.

from covmin.plotting import ErrorCurveDisplay

ErrorCurveDisplay.from_estimator(selector)
plt.show()

# %%
# The effects of the columns
# --------------------------
# Kaplan–Meier curves for samples with negative and with positive values. The interaction does not
# show in x1 alone, only in the product of x1 and x2.


def share_without_event(y):
    """The Kaplan–Meier estimate."""
    order = np.argsort(y["time"])
    event, time = y["event"][order], y["time"][order]
    at_risk = np.arange(len(y), 0, -1)
    return np.append(0.0, time), np.append(1.0, np.cumprod(1.0 - event / at_risk))


figure, axes = plt.subplots(1, 3, figsize=(9, 3), sharey=True, layout="constrained")
shown = {"x0": X[:, 0], "x1": X[:, 1], "x1 x2": X[:, 1] * X[:, 2]}
for ax, (name, values) in zip(axes, shown.items(), strict=True):
    for is_high, colour in ((False, "#0a6c74"), (True, "#c8553d")):
        group = (values > 0.0) == is_high
        label = "positive" if is_high else "negative"
        ax.step(*share_without_event(y[group]), where="post", color=colour, label=label)
    ax.set(title=name, xlabel="time", xlim=(0, 2), ylim=(0, 1))
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("share without an event")
axes[0].legend(frameon=False)
plt.show()

# %%
# An estimator of scikit-survival can choose the number of features by its own score, for example
# ``CCMSelector(estimator=CoxPHSurvivalAnalysis())``.
