"""
Features that matter only together
==================================

Each of four classes occupies two opposite corners of a cube. The three coordinates determine the
class together, but none of them is related to it alone. Methods that score one feature at a time
cannot find them.
"""

# %%
# The data
# --------
# There are ten columns. The first three determine the class, the other seven are noise.

import matplotlib.pyplot as plt
import numpy as np

from covmin import CCMSelector
from covmin.datasets import make_xor

xor = make_xor(120, random_state=1)
X, y = xor.data, xor.target
print(X.shape, "classes:", np.unique(y), "true features:", xor.informative)

# %%
# One at a time, or together
# --------------------------
# The F statistic looks at each column alone. covmin looks at all columns together.

from sklearn.feature_selection import f_classif

selector = CCMSelector(n_features_to_select=3).fit(X, y)
print("covmin selects", selector.get_support(indices=True))

figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
true = np.isin(np.arange(10), xor.informative)
colours = np.where(true, "#0a6c74", "0.75")
axes[0].bar(range(10), f_classif(X, y)[0], color=colours)
axes[0].set(title="one at a time: F statistic", xlabel="feature", xticks=range(10))
axes[1].bar(range(10), selector.weights_, color=colours)
axes[1].set(title="together: covmin's weight", xlabel="feature", xticks=range(10))
plt.show()

# %%
# One, two and three features
# ---------------------------
# :func:`~covmin.unexplained_variance` is the share of the variance of the response that a set of
# features does not explain on held-out samples. One or two of the three features explain little;
# all three explain most of it.

from covmin import unexplained_variance

for columns in ([0], [0, 1], [0, 1, 2], [3, 4, 5]):
    print(f"columns {columns}: {unexplained_variance(X[:, columns], y):.0%} unexplained")

# %%
# Among a thousand features
# -------------------------
# With this many features all weights start small, and the gradient does not show interactions.
# covmin therefore tests the products of all pairs first. It keeps the features of significant
# pairs until few enough features remain for the criterion to decide.

wide = make_xor(100, n_noise=1000, random_state=1)
for interactions in (True, False):
    selector = CCMSelector(3, interactions=interactions).fit(wide.data, wide.target)
    print(f"interactions={interactions}: selects", selector.get_support(indices=True))

# %%
# ``interactions_frame`` has the significant pairs. The p-value is the probability that any pair
# explains as much if nothing interacts. In the picture, each circle shows the rank of a feature,
# and the width of an arc is the share of its pair.

from covmin.plotting import InteractionDisplay

selector = CCMSelector(3).fit(wide.data, wide.target)
print(selector.interactions_frame())
InteractionDisplay.from_estimator(selector)
plt.show()
