"""
What is new, given what is known?
=================================

Age and sex are in every model already; the question is what else helps. ``given`` keeps columns
that are known to matter and ranks the others by what they add.
"""

# %%
# A marker that only repeats what age says
# ----------------------------------------

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
# Ranks by what each column adds
# ------------------------------
# Given columns have rank 0 and do not count.

ranks = pd.Series(given.ranking_, table.columns).sort_values(ascending=False)
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.barh(
    ranks.index, ranks, color=["#e0662c" if name == "age" else "#0a6c74" for name in ranks.index]
)
ax.set_xlabel("rank given age (0: given)")
plt.show()
