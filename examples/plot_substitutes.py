"""
Which features can replace each other?
======================================

A test may be expensive, or a sensor may fail. Which other column can replace a selected one, and
how much is lost? The method ``substitutes`` names substitutes for every selected feature.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from covmin import CCMSelector

X, y = load_wine(return_X_y=True, as_frame=True)
selector = CCMSelector(n_features_to_select=4).fit(X, y)
found = selector.substitutes(X, y, n=2)
print(found.round(3).to_string(index=False))

# %%
# What each replacement costs
# ---------------------------
# The grey bar is the unexplained share without the feature. The teal bar is the share with the
# best substitute instead. The line is the share with all four features.

best = found.drop_duplicates("feature")
figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
place = np.arange(len(best))
ax.barh(place - 0.2, best["unexplained_without"], 0.4, color="0.75", label="dropped")
ax.barh(place + 0.2, best["unexplained_with"], 0.4, color="#0a6c74", label="replaced")
ax.axvline(best["unexplained"].iloc[0], color="#e0662c", label="all four kept")
names = [f"{a} → {b}" for a, b in zip(best["feature"], best["substitute"], strict=True)]
ax.set_yticks(place, names)
ax.set_xlabel("unexplained share of the response")
ax.legend(frameon=False)
plt.show()
