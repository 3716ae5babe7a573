"""
What do new features add?
=========================

Suppose that age is already in your model, and you ask what else helps. ``given`` keeps columns
that you already use, and ranks the others by what they add to them.
"""

# %%
# A copy of age, and a marker
# ---------------------------
# The risk depends on age and on the marker. A noisy copy of age adds nothing if age is known.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from covmin import CCMSelector

rng = np.random.default_rng(0)
n = 200
age = rng.standard_normal(n)
table = pd.DataFrame(
    {
        "age": age,
        "copy of age": age + 0.4 * rng.standard_normal(n),
        "marker": rng.standard_normal(n),
        **{f"noise {j}": rng.standard_normal(n) for j in range(5)},
    }
)
risk = 2 * age + np.abs(table["marker"]) + 0.3 * rng.standard_normal(n)

alone = CCMSelector(n_features_to_select=1).fit(table.drop(columns="age"), risk)
print("without age in the table:", alone.get_feature_names_out())

given = CCMSelector(n_features_to_select=1, given="age").fit(table, risk)
print("given age:               ", given.get_feature_names_out())

# %%
# The ranking
# -----------
# Given columns have rank 0. They do not count towards ``n_features_to_select``.

ranks = pd.Series(given.ranking_, table.columns).sort_values(ascending=False)
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.barh(
    ranks.index, ranks, color=["#e0662c" if name == "age" else "#0a6c74" for name in ranks.index]
)
ax.set_xlabel("rank (0: given)")
plt.show()
