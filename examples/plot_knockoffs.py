"""
Few false discoveries
=====================

Knockoffs are copies of the features that know nothing about the response. Features and copies
are ranked together, and the copies that rank high show how many of the features that do are
there by chance.
"""

# %%
# Twelve of forty correlated features matter, most of them in ways that no straight line sees.

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
# At most a fifth of the features kept should be false, on average.

selector = KnockoffSelector(fdr=0.2).fit(X, y)
kept = selector.get_support(indices=True)
print(f"{len(kept)} kept, {np.isin(kept, true).sum()} of them true")

# %%
# The statistic is positive where a feature ranks before its copy. Features of no use fall on
# both sides alike; the true ones stand out to the right.

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
# Any model may give the importances. The Lasso, with the same copies, sees straight lines only.

lasso = KnockoffSelector(LassoCV(), importance=lambda model: np.abs(model.coef_), fdr=0.2)
kept = np.flatnonzero(lasso.fit(X, y).support_)
print(f"Lasso: {len(kept)} kept, {np.isin(kept, true).sum()} of them true")

# %%
# ``q_values_`` say at which level each feature would come in.

for j in np.argsort(selector.ranking_)[:5]:
    print(f"x{j}: q = {selector.q_values_[j]:.2f}, true: {is_true[j]}")

# %%
# A filter of this kind keeps 1/fdr features at the least, or none. Where fewer matter, it says
# what to use instead.

import warnings

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    few = KnockoffSelector(fdr=0.1).fit(X, X[:, 0] + X[:, 1] ** 2 + 0.2 * rng.standard_normal(n))
print(few.n_features_, "kept.", said[0].message)

# %%
# Tables with text and gaps are taken as they are. What belongs together and what is given is said
# to the selector inside: here, the first five columns are one feature, and x5 is known.

import pandas as pd

from covmin import CCMSelector

table = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])
table["half"] = np.where(rng.random(n) < 0.5, "left", "right")
table.loc[rng.random(n) < 0.1, "x7"] = np.nan
inner = CCMSelector(groups={"first": [f"x{j}" for j in range(5)]}, given="x5")
selector = KnockoffSelector(inner, fdr=0.2).fit(table, y)
print(selector.n_features_, "kept:", *selector.get_feature_names_out())
print("true:", *(f"x{j}" for j in np.sort(true)))
