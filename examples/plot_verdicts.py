"""
Which features matter at all?
=============================

:class:`~covmin.VerdictSelector` tests every feature and gives one of three verdicts: needed,
relevant (other features can replace it), or not shown to matter.
"""

# %%
# The data are measurements of breast tumours. For each we add a probe: the same values in random
# order. Probes are unrelated to the response, so they show whether the verdicts can be trusted.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from covmin import VerdictSelector

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :10]
rng = np.random.default_rng(0)
probes = X.apply(rng.permutation).add_prefix("probe: ")
table = X.join(probes)

# %%
# Each feature has two p-values. ``needed_p`` tests whether it adds to all other features,
# ``relevant_p`` whether it is related to the response.

selector = VerdictSelector(fdr=0.1).fit(table, y)
frame = selector.verdict_frame()
print(frame[["name", "verdict", "needed_p", "relevant_p", "substitutes"]].head(12).to_string())

# %%
# All measurements are relevant, but only two are needed. Radius, perimeter and area, for example,
# all measure size and can replace each other. No probe is called needed or relevant.

fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
is_probe = np.array([name.startswith("probe") for name in table.columns])
small = 1e-20
for mask, color, label in ((~is_probe, "#0a6c74", "measurements"), (is_probe, "#b9b4a7", "probes")):
    ax.scatter(
        np.maximum(selector.relevant_pvalues_[mask], small),
        np.maximum(selector.needed_pvalues_[mask], small),
        color=color,
        label=label,
    )
for j in np.flatnonzero(selector.verdicts_ == "needed"):
    at = np.maximum([selector.relevant_pvalues_[j], selector.needed_pvalues_[j]], small)
    ax.annotate(table.columns[j], at, xytext=(6, 2), textcoords="offset points", fontsize=8)
ax.set(xscale="log", yscale="log", xlabel="p-value, relevant", ylabel="p-value, needed")
ax.legend()
plt.show()
