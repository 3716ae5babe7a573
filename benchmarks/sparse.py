"""Counts of many words in many texts, as a sparse matrix: words found, time and peak of memory.

Run with ``python -m benchmarks.sparse [--rows 20000 --columns 50000]`` (Linux). Twenty words occur
more often in the texts of one of two classes, the strongest in every fifth of them and the weakest
in three of a hundred; the others are in one of 500 texts. Exit status 1 when one of the twenty is
not among the first twenty, or the process takes more than 2 GB. The figures go to
``benchmarks/results/sparse.csv``.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from scipy.sparse import csr_array, hstack, random_array

from benchmarks.step import peak_bytes
from benchmarks.tables import write

_WORDS = 20
_MOST_BYTES = 2e9


def texts(n: int, d: int, share: float = 0.002) -> tuple[csr_array, np.ndarray, np.ndarray]:
    """Counts of words (n, d), classes, and the words that matter, the strongest first."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    rates = np.linspace(0.2, 0.03, _WORDS)
    is_often = y[:, None] == np.arange(_WORDS) % 2
    present = rng.random((n, _WORDS)) < np.where(is_often, rates, rates / 4)
    matter = csr_array(present * rng.geometric(0.5, present.shape).astype(float))

    def how_often(size: int) -> np.ndarray:
        return rng.geometric(0.5, size).astype(float)

    others = random_array((n, d - _WORDS), density=share, rng=rng, data_sampler=how_often)
    order = rng.permutation(d)
    X = csr_array(hstack([matter, others]))[:, order]
    return csr_array(X), y, np.argsort(order)[:_WORDS]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=50_000)
    parser.add_argument("--auto", action="store_true", help="let the number of words be chosen")
    options = parser.parse_args()
    from covmin import CCMSelector

    X, y, words = texts(options.rows, options.columns)
    print(f"{options.rows:,} × {options.columns:,}, {X.nnz / np.prod(X.shape):.2%} not zero")
    before, start = peak_bytes(), time.process_time()
    selector = CCMSelector("auto" if options.auto else _WORDS).fit(X, y)
    seconds, peak = time.process_time() - start, peak_bytes()
    print(selector.plan_)
    n_first = int((selector.ranking_[words] <= _WORDS).sum())
    print(
        f"{seconds:.0f} s of a processor, peak of memory {peak / 1e9:.2f} GB "
        f"({before / 1e9:.2f} GB before), {n_first} of {_WORDS} words first, "
        f"{selector.n_features_} kept"
    )
    row = {"rows": options.rows, "columns": options.columns, "processor seconds": seconds}
    write("sparse", [row | {"peak GB": peak / 1e9, "words first": n_first}])
    return 0 if n_first == _WORDS and peak <= _MOST_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
