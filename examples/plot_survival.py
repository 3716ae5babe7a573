"""
Times to an event
=================

How long until a machine fails, a customer leaves, a patient falls ill again? Of many samples it is
only known that nothing had happened when they were last seen: their times are *censored*. The
selector takes both as scikit-survival has them: whether the event was seen, and the time.
"""

# %%
# A hazard with an interaction
# ----------------------------
# The hazard is ``exp(x0 + x1 x2)``: it grows with the first column, and with the second where the
# third is positive, but falls with it where that is negative. Seven columns are noise, and about
# half of the times are censored.

import matplotlib.pyplot as plt
import numpy as np

from covmin import CCMSelector
from covmin.datasets import make_survival

X, y = make_survival(300, random_state=0, return_X_y=True)
print(y[:3], f"{1 - y['event'].mean():.0%} censored")

selector = CCMSelector().fit(X, y)
print("kept:", selector.get_support(indices=True))
print(selector.interactions_frame()[["feature", "other"]].to_string(index=False))

# %%
# What censoring leaves of a time is the difference between the events seen of a sample, none or
# one, and the number to be expected in the time that it was watched (its *martingale residual*).
# Sets of features are judged by the concordance index on samples left out: how often, of two
# samples, that of the higher predicted risk has the event first. A guess has 0.5.

from covmin.plotting import ErrorCurveDisplay

ErrorCurveDisplay.from_estimator(selector)
plt.show()

# %%
# What the columns do
# -------------------
# The share without an event so far (Kaplan–Meier), for samples with low and with high values. The
# interaction does not show in single columns: only the product of two tells the samples apart.


def share_without_event(y):
    """Kaplan and Meier's estimate after each event."""
    order = np.argsort(y["time"])
    event, time = y["event"][order], y["time"][order]
    at_risk = np.arange(len(y), 0, -1)
    return np.append(0.0, time), np.append(1.0, np.cumprod(1.0 - event / at_risk))


figure, axes = plt.subplots(1, 3, figsize=(9, 3), sharey=True, layout="constrained")
shown = {"x0": X[:, 0], "x1": X[:, 1], "x1 x2": X[:, 1] * X[:, 2]}
for ax, (name, values) in zip(axes, shown.items(), strict=True):
    for is_high, colour in ((False, "#0a6c74"), (True, "#c8553d")):
        its = (values > 0.0) == is_high
        label = "positive" if is_high else "negative"
        ax.step(*share_without_event(y[its]), where="post", color=colour, label=label)
    ax.set(title=name, xlabel="time", xlim=(0, 2), ylim=(0, 1))
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("share without an event")
axes[0].legend(frameon=False)
plt.show()

# %%
# Any estimator that takes such times can choose the number of features by its own score, such as
# ``CCMSelector(estimator=CoxPHSurvivalAnalysis())`` with scikit-survival.
