"""Both sides of every size at which a fit changes its method.

``python -m experiments.sizes`` prints, for tables of seven kinds with 2000 and with 2001 samples
(the exact kernel, and random components), how many of the true features are among the first as
many and how long a fit takes; ``--columns`` does so for weak effects among 2047 and 2049 columns
(all of them chosen among at once, or a sample of the rows first).
"""

import argparse
import time

import numpy as np
import pandas as pd

from covmin import CCMSelector

N_DRAWS = 3
D = 40


def interactions(rng, n):
    """Two products."""
    X = rng.standard_normal((n, D))
    return X, X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + 0.7 * rng.standard_normal(n), range(4)


def parity(rng, n):
    """Two classes by the sign of a product of three."""
    X = rng.standard_normal((n, D))
    return X, (X[:, :3].prod(axis=1) > 0).astype(int), range(3)


def weak_effects(rng, n):
    """Three weak effects beside a strong one."""
    X = rng.standard_normal((n, D))
    return X, X[:, 0] + 0.12 * X[:, 1:4].sum(axis=1) + 0.5 * rng.standard_normal(n), range(4)


def weak_effects_on_classes(rng, n):
    """Four effects on the log-odds of two classes."""
    X = rng.standard_normal((n, D))
    return X, (0.4 * X[:, :4].sum(axis=1) + rng.logistic(size=n) > 0).astype(int), range(4)


def counts(rng, n):
    """Counts that are mostly zero."""
    X = rng.poisson(0.3, (n, D)).astype(float)
    y = np.log1p(X[:, 0]) - np.log1p(X[:, 1]) + 0.5 * X[:, 2] * (X[:, 3] > 0)
    return X, y + 0.7 * rng.standard_normal(n), range(4)


def categories(rng, n):
    """Six categories, two of which interact, beside numbers."""
    levels = rng.integers(0, 5, (n, 6))
    X = pd.DataFrame(rng.standard_normal((n, D - 6))).rename(columns="x{}".format)
    for j in range(6):
        X.insert(j, f"c{j}", pd.Categorical(levels[:, j].astype(str)))
    y = (levels[:, 0] == 2) + 0.5 * ((levels[:, 1] + levels[:, 2]) % 2) + 0.4 * X["x0"].to_numpy()
    return X, y + 0.5 * rng.standard_normal(n), (0, 1, 2, 6)


def blocks(rng, n):
    """Blocks of ten columns with correlations of 0.9; one column of each of four matters."""
    X = 0.95 * np.repeat(rng.standard_normal((n, D // 10)), 10, axis=1)
    X += 0.3 * rng.standard_normal((n, D))
    y = X[:, 0] + np.sin(2 * X[:, 10]) + X[:, 20] * X[:, 30] + 0.3 * rng.standard_normal(n)
    return X, y, (0, 10, 20, 30)


TABLES = (
    interactions,
    parity,
    weak_effects,
    weak_effects_on_classes,
    counts,
    categories,
    blocks,
)


def found_and_seconds(X, y, true):
    """How many true features are among the first as many, their largest rank, processor time."""
    true = list(true)
    start = time.process_time()
    ranks = CCMSelector(len(true)).fit(X, y).ranking_[true]
    return (ranks <= len(true)).sum(), ranks.max(), time.process_time() - start


def rows():
    print("| table | true | found at 2000 | at 2001 | seconds at 2001 / at 2000 |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for make in TABLES:
        sides = []
        for n in (2000, 2001):
            tables = [make(np.random.default_rng(seed), n) for seed in range(N_DRAWS)]
            sides.append(np.mean([found_and_seconds(*table) for table in tables], axis=0))
        (few, _, short), (many, _, long) = sides
        n_true = len(tables[0][2])
        name = make.__name__.replace("_", " ")
        print(f"| {name} | {n_true} | {few:.1f} | {many:.1f} | {long / short:.2f} |", flush=True)


def columns():
    print("| draw | columns | largest rank of eight effects of 0.055, 10,000 samples | seconds |")
    print("| ---: | ---: | ---: | ---: |")
    for seed in range(2):
        for d in (2047, 2049):
            rng = np.random.default_rng(seed)
            X = rng.standard_normal((10_000, d))
            y = 0.055 * X[:, :8].sum(axis=1) + rng.standard_normal(10_000)
            _, largest, seconds = found_and_seconds(X, y, range(8))
            print(f"| {seed} | {d} | {largest} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", action="store_true", help="2047 and 2049 columns")
    (columns if parser.parse_args().columns else rows)()
