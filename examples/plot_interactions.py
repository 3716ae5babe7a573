"""
Features that matter only together
==================================

Four classes sit at opposite corners of a cube: three coordinates name the class, and no one of
them says anything by itself. Scores that look at one feature at a time cannot see this.
"""

# %%
# The data
# --------
# Ten columns, of which the first three decide the class and seven are noise.

import matplotlib.pyplot as plt
import numpy as np

from covmin import CCMSelector
from covmin.datasets import make_xor

xor = make_xor(120, random_state=1)
X, y = xor.data, xor.target
print(X.shape, "classes:", np.unique(y), "true features:", xor.informative)

# %%
# One at a time, they look like noise
# -----------------------------------
# The F statistic of each column, and what covmin makes of all columns together.

from sklearn.feature_selection import f_classif

selector = CCMSelector(n_features_to_select=3).fit(X, y)
print("covmin keeps", selector.get_support(indices=True))

figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
true = np.isin(np.arange(10), xor.informative)
colours = np.where(true, "#0a6c74", "0.75")
axes[0].bar(range(10), f_classif(X, y)[0], color=colours)
axes[0].set(title="one at a time: F statistic", xlabel="feature", xticks=range(10))
axes[1].bar(range(10), selector.weights_, color=colours)
axes[1].set(title="together: covmin's weight", xlabel="feature", xticks=range(10))
plt.show()

# %%
# What a pair knows
# -----------------
# :func:`~covmin.unexplained_variance` says what share of the response a set of features leaves
# unexplained in samples held out. One or two of the three are worth little; the third completes
# the picture.

from covmin import unexplained_variance

for columns in ([0], [0, 1], [0, 1, 2], [3, 4, 5]):
    print(f"columns {columns}: {unexplained_variance(X[:, columns], y):.0%} left unexplained")

# %%
# Among a thousand features
# -------------------------
# A path starts with all features at a small weight, where an interaction shows in no slope. So
# covmin looks at the products of all pairs first, and holds on to features whose product explains
# the response until there are few enough for the criterion to decide.

wide = make_xor(100, n_noise=1000, random_state=1)
for interactions in (True, False):
    selector = CCMSelector(3, interactions=interactions).fit(wide.data, wide.target)
    print(f"interactions={interactions}: keeps", selector.get_support(indices=True))

# %%
# The pairs are an attribute, with the chance that the best of all pairs looks as good where
# nothing interacts. A picture shows which features belong together: the numbers in the circles are
# ranks, and an arc is as wide as the share of its pair.

from covmin.plotting import InteractionDisplay

selector = CCMSelector(3).fit(wide.data, wide.target)
print(selector.interactions_frame())
InteractionDisplay.from_estimator(selector)
plt.show()
