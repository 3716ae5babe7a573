"""
Does this feature add anything?
===============================

A feature may be related to the response only because both depend on a third one. This test asks
whether a feature explains the response *beyond* features that you already know. The effect can be
nonlinear, and it can be an interaction with the known features.
"""

# %%
# The response depends on z and on the square of a. The features u and v both depend on z, but only
# u depends on a.

import matplotlib.pyplot as plt
import numpy as np

from covmin import conditional_dependence_test
from covmin.datasets import make_xor

rng = np.random.default_rng(0)
z, a, b = rng.standard_normal((3, 150))
y = 2 * z + a**2 + 0.5 * rng.standard_normal(150)
u, v = z + a, z + b

# %%
# Both features are related to the response, but only u adds to z.

for name, feature in (("u", u), ("v", v)):
    alone = conditional_dependence_test(feature, y)
    beyond = conditional_dependence_test(feature, y, given=z)
    print(f"{name}: p = {alone.p_value:.2g} by itself, p = {beyond.p_value:.2g} given z")

# %%
# Without given features this is a permutation test: the statistic is compared with its values on
# permuted samples.

fig, axes = plt.subplots(1, 2, figsize=(7.2, 3.0), sharey=True, layout="constrained")
for ax, (name, feature) in zip(axes, (("u", u), ("v", v)), strict=True):
    test = conditional_dependence_test(feature, y)
    ax.hist(test.null_, bins=20, color="#b9b4a7", label="permuted")
    ax.axvline(test.statistic, color="#0a6c74", label="observed")
    ax.set(title=f"{name} by itself, p = {test.p_value:.3f}", xlabel="share explained")
axes[0].legend(framealpha=1.0, edgecolor="none")
plt.show()

# %%
# In the XOR data no single feature is related to the class. Given the other two, each of them is.

X, labels = make_xor(100, random_state=0, return_X_y=True)
alone = conditional_dependence_test(X[:, 0], labels)
beyond = conditional_dependence_test(X[:, 0], labels, given=X[:, 1:3])
print(f"x1 by itself: p = {alone.p_value:.2g}, given x2 and x3: p = {beyond.p_value:.2g}")
