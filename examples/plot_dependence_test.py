"""
Does this feature add anything?
===============================

A feature may be related to the response only because both follow a third one. The test asks
whether it says something *beyond* features that are known already, in any way: by itself or
together with them.
"""

# %%
# The response follows z and, through a square, a. Features u and v both follow z; u carries a
# as well.

import matplotlib.pyplot as plt
import numpy as np

from covmin import conditional_dependence_test
from covmin.datasets import make_xor

rng = np.random.default_rng(0)
z, a, b = rng.standard_normal((3, 150))
y = 2 * z + a**2 + 0.5 * rng.standard_normal(150)
u, v = z + a, z + b

# %%
# Both are related to the response, but only u adds to z.

for name, feature in (("u", u), ("v", v)):
    alone = conditional_dependence_test(feature, y)
    beyond = conditional_dependence_test(feature, y, given=z)
    print(f"{name}: p = {alone.p_value:.3f} by itself, p = {beyond.p_value:.3f} given z")

# %%
# By itself, the p-value comes from statistics of features in another order of the samples.

fig, axes = plt.subplots(1, 2, figsize=(7.2, 3.0), sharey=True, layout="constrained")
for ax, (name, feature) in zip(axes, (("u", u), ("v", v)), strict=True):
    test = conditional_dependence_test(feature, y)
    ax.hist(test.null_, bins=20, color="#b9b4a7", label="in another order")
    ax.axvline(test.statistic, color="#0a6c74", label="as it is")
    ax.set(title=f"{name} by itself, p = {test.p_value:.3f}", xlabel="share explained")
axes[0].legend(framealpha=1.0, edgecolor="none")
plt.show()

# %%
# In the XOR data no feature says anything by itself. Given its two partners, each does.

X, labels = make_xor(100, random_state=0, return_X_y=True)
print("x1 by itself:", conditional_dependence_test(X[:, 0], labels).p_value)
print("x1 given x2, x3:", conditional_dependence_test(X[:, 0], labels, given=X[:, 1:3]).p_value)
