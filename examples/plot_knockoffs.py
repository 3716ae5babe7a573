"""
Few false discoveries
=====================

A knockoff is a random copy of a feature that says nothing more about the response. Features and
copies are ranked together. The copies with a high rank show how many features rank high by chance.
"""

# %%
# Twelve of forty correlated features matter. All effects are nonlinear.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LassoCV

from covmin import KnockoffSelector

rng = np.random.default_rng(0)
n, d = 300, 40
X = rng.standard_normal((n, d))
for j in range(1, d):
    X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
true = rng.choice(d, 12, replace=False)
effects = [lambda x: -2 * np.sin(2 * x), lambda x: 3 * np.exp(-np.abs(x)), lambda x: x**2]
signal = sum(effects[i % 3](X[:, j]) for i, j in enumerate(true))
y = signal / signal.std() + np.sqrt(0.5) * rng.standard_normal(n)

# %%
# With ``fdr=0.2``, at most a fifth of the selected features are false on average.

selector = KnockoffSelector(fdr=0.2).fit(X, y)
kept = selector.get_support(indices=True)
print(f"{len(kept)} selected, {np.isin(kept, true).sum()} of them true")

# %%
# The statistic is positive if a feature ranks before its copy. Features that do not matter are
# equally likely to be on either side of zero. Features that matter are on the right.

fig, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
is_true = np.isin(np.arange(d), true)
bins = np.arange(-2 * d, 2 * d + 1, 8)
ax.hist(
    [selector.W_[is_true], selector.W_[~is_true]],
    bins=bins,
    stacked=True,
    color=["#0a6c74", "#b9b4a7"],
    label=["true features", "others"],
)
ax.axvline(selector.threshold_, color="#b4532a", linestyle="--", label="threshold")
ax.set(xlabel="statistic W", ylabel="features")
ax.legend(framealpha=1.0, edgecolor="none")
plt.show()

# %%
# Any model can rank the features. The Lasso fits linear effects only and finds nothing here.

lasso = KnockoffSelector(LassoCV(), importance=lambda model: np.abs(model.coef_), fdr=0.2)
kept = np.flatnonzero(lasso.fit(X, y).support_)
print(f"Lasso: {len(kept)} selected, {np.isin(kept, true).sum()} of them true")

# %%
# ``q_values_`` is the smallest ``fdr`` at which a feature is selected.

for j in np.argsort(selector.ranking_)[:5]:
    print(f"x{j}: q = {selector.q_values_[j]:.2f}, true: {is_true[j]}")

# %%
# A knockoff filter selects at least 1/fdr features, or none. If fewer features matter, a warning
# says what to use instead.

import warnings

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    KnockoffSelector(fdr=0.1).fit(X, X[:, 0] + X[:, 1] ** 2 + 0.2 * rng.standard_normal(n))
print(caught[0].message)

# %%
# Tables may have text and missing values. Set groups and given columns on the inner selector: here
# the first five columns are one group, and x5 is given.

import pandas as pd

from covmin import CCMSelector

table = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])
table["half"] = np.where(rng.random(n) < 0.5, "left", "right")
table.loc[rng.random(n) < 0.1, "x7"] = np.nan
inner = CCMSelector(feature_groups={"first": [f"x{j}" for j in range(5)]}, given="x5")
selector = KnockoffSelector(inner, fdr=0.2).fit(table, y)
print("selected:", *selector.get_feature_names_out())
print("true:", *(f"x{j}" for j in np.sort(true)))
