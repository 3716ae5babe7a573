"""
What could stand in for a feature?
==================================

A test is expensive, a sensor fails: which other column could take the place of one that was
selected, and at what loss? ``n_substitutes`` answers for every feature kept.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from covmin import CCMSelector

X, y = load_wine(return_X_y=True, as_frame=True)
selector = CCMSelector(n_features_to_select=4, n_substitutes=2).fit(X, y)
found = pd.DataFrame(dict(selector.substitutes_))
found["feature"] = X.columns[found["feature"]]
found["substitute"] = X.columns[found["substitute"]]
print(found.round(3).to_string(index=False))

# %%
# The price of each swap
# ----------------------

best = found.drop_duplicates("feature")
figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
place = np.arange(len(best))
ax.barh(place - 0.2, best["unexplained_without"], 0.4, color="0.75", label="left out")
ax.barh(place + 0.2, best["unexplained_with"], 0.4, color="#0a6c74", label="substituted")
ax.axvline(best["unexplained"].iloc[0], color="#e0662c", label="all four kept")
names = [f"{a} → {b}" for a, b in zip(best["feature"], best["substitute"], strict=True)]
ax.set_yticks(place, names)
ax.set_xlabel("share of the response left unexplained")
ax.legend(frameon=False)
plt.show()
