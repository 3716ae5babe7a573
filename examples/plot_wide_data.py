"""
Wide data: genes, spectra, sensors
==================================

A hundred samples, two thousand columns in correlated blocks, a response that depends on three of
the blocks. The whole path takes about a second, because features at zero weight leave the arrays.
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
    print(f"blocks of the {m} kept:", np.sort(selector.get_support(indices=True) // size))

# %%
# Three features come from the three blocks. Asked for more, covmin adds a second copy of some and
# then reaches for noise: copies of what is known explain nothing new. A filter that looks at one
# column at a time fills its list with copies instead.

from sklearn.feature_selection import SelectKBest, f_classif

best = SelectKBest(f_classif, k=12).fit(X, y).get_support(indices=True)
print("ANOVA's first twelve:  ", np.sort(best // size))

# %%
# Where the kept columns lie
# --------------------------

figure, ax = plt.subplots(figsize=(9, 2.6), layout="constrained")
first = np.arange(10 * size)
ax.bar(first, selector.weights_[first], width=1.0, color="#0a6c74")
for block in range(1, 10):
    ax.axvline(block * size - 0.5, color="0.85", linewidth=0.8)
ax.set(xlabel="column (first ten blocks; blocks 0 to 2 are true)", ylabel="weight")
plt.show()

# %%
# An honest score
# ---------------
# Ranking on all samples and validating afterwards flatters any method. Inside the pipeline each
# fold ranks anew.

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

noise = rng.permutation(y)  # a response that has nothing to do with X
leaky = SelectKBest(f_classif, k=12).fit_transform(X, noise)
honest = make_pipeline(SelectKBest(f_classif, k=12), LogisticRegression())
flattered = cross_val_score(LogisticRegression(), leaky, noise).mean()
print(f"pure noise, selected first:  {flattered:.2f}")
print(f"pure noise, in the pipeline: {cross_val_score(honest, X, noise).mean():.2f}")
