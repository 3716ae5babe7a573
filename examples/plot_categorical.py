"""
Numbers and categories in one table
===================================

A categorical column is one feature, whatever its number of levels, and needs no encoding: any two
levels are equally far apart. covmin reads the dtype of a pandas or polars frame.
"""

# %%
# A small market of houses
# ------------------------

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
# Names and dtypes come back as they went in.

selector = CCMSelector(n_features_to_select=2).set_output(transform="pandas").fit(houses, price)
print(selector.transform(houses).dtypes)

# %%
# The ranking
# -----------

from covmin.plotting import RankingDisplay

RankingDisplay.from_estimator(selector)
plt.show()

# %%
# Categories that are stored as numbers or text are named: ``categorical_features=["zip"]``.

coded = houses.assign(district=houses["district"].cat.codes, agent=houses["agent"].cat.codes)
selector = CCMSelector(2, categorical_features=["district", "agent"]).fit(coded, price)
print(list(selector.get_feature_names_out()))
