"""
Many features, few samples: the mixed kernel
============================================

With as many features as samples, or more, all distances between samples are similar. A kernel of
all features then shows little. The mixed kernel adds a sum of kernels of single features. This
sum finds single effects, and the kernel of all features still finds interactions.
"""

# %%
# A shell among 90 columns of noise
# ---------------------------------
# One class is a cloud in four dimensions, the other a shell around it. We draw 100 samples five
# times and look at the ranks of the four true features.

import matplotlib.pyplot as plt
import numpy as np

from covmin import CCMSelector
from covmin.datasets import make_shell

ranks = {"rational-quadratic": [], "mixed": []}
for seed in range(5):
    shell = make_shell(100, n_noise=90, random_state=seed)
    for kernel, found in ranks.items():
        selector = CCMSelector(4, kernel=kernel).fit(shell.data, shell.target)
        found.append(np.sort(selector.ranking_[shell.informative]))

for kernel, found in ranks.items():
    print(f"{kernel:18s}", *found)

# %%
# As a picture
# ------------

figure, axes = plt.subplots(1, 2, figsize=(8, 2.6), sharey=True, layout="constrained")
for ax, (kernel, found), colour in zip(axes, ranks.items(), ("#e0662c", "#0a6c74"), strict=True):
    for draw, rank in enumerate(found, start=1):
        ax.plot(rank, np.full(4, draw), "o", color=colour, alpha=0.8)
    ax.set(title=kernel, xscale="log", xlim=(0.8, 110), yticks=range(1, 6))
    ax.set_xlabel("rank of the four true features")
axes[0].set_ylabel("draw")
plt.show()

# %%
# The default, ``kernel="auto"``, selects the mixed kernel. The share of the sum is small if there
# are more samples than features, so that interactions are not lost.

from covmin.datasets import make_xor

X, y = make_xor(60, random_state=0, return_X_y=True)
selector = CCMSelector(3).fit(X, y)
print(selector.kernel_, selector.get_support(indices=True))
