"""
Eight formulations of one method
================================

The paper has eight formulations. They combine three choices: a hard or soft budget, the exact or
the inverse-free objective, and the kernel matrix or random Fourier features. Here they are
compared on the same data.
"""

# %%

import time
from itertools import product

import matplotlib.pyplot as plt
import numpy as np

from covmin import CCMSelector, Formulation, Fourier
from covmin.datasets import make_shell

shell = make_shell(150, random_state=0)
X, y, true = shell.data, shell.target, shell.informative

rows = []
for constraint, inverse, approximation in product(
    ("hard", "soft"), ("exact", "free"), ("exact", "fourier")
):
    selector = CCMSelector(
        4,
        formulation=Formulation(strategy="single", constraint=constraint, inverse=inverse),
        approximation=approximation,
        random_state=0,
    )
    start = time.perf_counter()
    selector.fit(X, y)
    name = (
        f"{constraint}, {inverse}, {'kernel matrix' if approximation == 'exact' else approximation}"
    )
    rows.append((name, selector.weights_, np.median(selector.ranking_[true])))
    print(f"{name:32s} median rank {rows[-1][2]:.1f}, {time.perf_counter() - start:.2f} s")

# %%
# The weights
# -----------
# The first four columns matter, the other six are noise. All formulations rank the four first.

figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
shown = ax.pcolormesh(np.array([weights for _, weights, _ in rows]), cmap="Blues", vmin=0, vmax=1)
ax.set_yticks(np.arange(8) + 0.5, [name for name, *_ in rows])
ax.set_xticks(np.arange(10) + 0.5, range(10))
ax.set_xlabel("feature")
ax.invert_yaxis()
figure.colorbar(shown, ax=ax, label="weight")
plt.show()

# %%
# Random Fourier features replace the n×n kernel matrix by D columns. The cost then grows linearly
# with the number of samples, not with its cube. Above 2000 samples they are the default.

rng = np.random.default_rng(0)
X = rng.standard_normal((6000, 8))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
selector = CCMSelector(2, approximation=Fourier(n_components=128)).fit(X, y)
print("6000 samples:", selector.get_support(indices=True))
