"""
Wide data: genes, spectra, sensors
==================================

There are 100 samples and 2000 columns in correlated blocks. The response depends on three of the
blocks.
"""

# %%
# Blocks of ten columns that measure the same thing
# -------------------------------------------------

import matplotlib.pyplot as plt
import numpy as np

from covmin import CCMSelector

rng = np.random.default_rng(0)
n, n_blocks, size = 100, 200, 10
hidden = rng.standard_normal((n, n_blocks))
X = np.repeat(hidden, size, axis=1) + 0.7 * rng.standard_normal((n, n_blocks * size))
y = (hidden[:, 0] + hidden[:, 1] - hidden[:, 2] > 0).astype(int)

for m in (3, 6, 12):
    selector = CCMSelector(n_features_to_select=m).fit(X, y)
    print(f"blocks of {m} selected columns:", np.sort(selector.get_support(indices=True) // size))

# %%
# Three columns come from the three blocks, and six columns are two from each. Of twelve, two are
# noise, because more columns of the same blocks explain little new. A filter that looks at one
# column at a time selects several columns of one block before it has one of each.

from sklearn.feature_selection import SelectKBest, f_classif

for m in (3, 6, 12):
    best = SelectKBest(f_classif, k=m).fit(X, y).get_support(indices=True)
    print(f"blocks of {m} columns by ANOVA:", np.sort(best // size))

# %%
# The selected columns
# --------------------

figure, ax = plt.subplots(figsize=(9, 2.6), layout="constrained")
first = np.arange(10 * size)
ax.bar(first, selector.weights_[first], width=1.0, color="#0a6c74")
for block in range(1, 10):
    ax.axvline(block * size - 0.5, color="0.85", linewidth=0.8)
ax.set(xlabel="column (first ten blocks; blocks 0 to 2 matter)", ylabel="weight")
plt.show()

# %%
# Select inside the cross-validation
# ----------------------------------
# If you select features on all samples and cross-validate afterwards, the score is too high. In a
# pipeline the features are selected anew in each training fold. Here the response is noise, so the
# accuracy should be 0.5.

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

noise = rng.permutation(y)  # a response that is unrelated to X
leaky = SelectKBest(f_classif, k=12).fit_transform(X, noise)
honest = make_pipeline(SelectKBest(f_classif, k=12), LogisticRegression())
biased = cross_val_score(LogisticRegression(), leaky, noise).mean()
print(f"selected first:           accuracy {biased:.2f}")
print(f"selected in the pipeline: accuracy {cross_val_score(honest, X, noise).mean():.2f}")
