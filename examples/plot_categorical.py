"""
Numbers and categories in one table
===================================

A categorical column is one feature, whatever its number of levels. You need not encode it: covmin
reads the dtypes of a pandas or polars data frame. Any two levels have the same distance.
"""

# %%
# House prices
# ------------
# The price depends on the area and on the district. The other columns are noise.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from covmin import CCMSelector

rng = np.random.default_rng(0)
n = 200
houses = pd.DataFrame(
    {
        "area": rng.normal(100, 25, n),
        "age": rng.uniform(0, 80, n),
        "rooms": rng.integers(1, 7, n),
        "district": pd.Categorical(rng.choice(["north", "east", "south", "west"], n)),
        "agent": pd.Categorical(rng.choice(list("abcdefgh"), n)),
    }
)
premium = houses["district"].map({"north": 0, "east": 60, "south": 10, "west": -30}).astype(float)
price = 3 * houses["area"] + premium + 20 * rng.standard_normal(n)

# %%
# The output keeps the names and dtypes of the selected columns.

selector = CCMSelector(n_features_to_select=2).set_output(transform="pandas").fit(houses, price)
print(selector.transform(houses).dtypes)

# %%
# The ranking
# -----------

from covmin.plotting import RankingDisplay

RankingDisplay.from_estimator(selector)
plt.show()

# %%
# If categories are stored as numbers, say so in ``column_types``.

coded = houses.assign(district=houses["district"].cat.codes, agent=houses["agent"].cat.codes)
selector = CCMSelector(2, column_types={"district": "category", "agent": "category"}).fit(
    coded, price
)
print(list(selector.get_feature_names_out()))
