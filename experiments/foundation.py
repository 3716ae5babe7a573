"""Median rank of the true features on the paper's synthetic sets, beside its limit.

Run with ``python -m experiments.foundation``; exit status 1 if one exceeds its limit.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from covmin import CCMSelector
from covmin.datasets import make_additive, make_shell, make_xor

GENERATORS = {"binary": make_shell, "XOR": make_xor, "regression": make_additive}

# formulation, set, samples, largest mean of the median rank
LIMITS = [
    ("paper", "binary", 40, 2.60),
    ("paper", "XOR", 40, 2.10),
    ("paper", "regression", 60, 2.80),
    ("path", "binary", 30, 2.70),
    ("path", "binary", 40, 2.60),
    ("path", "binary", 60, 2.55),
    ("path", "XOR", 30, 2.25),
    ("path", "XOR", 40, 2.10),
    ("path", "regression", 30, 3.10),
    ("path", "regression", 60, 2.70),
]


def median_rank(formulation: str, name: str, n_samples: int, seed: int) -> float:
    """Median rank of the true features of one draw."""
    data = GENERATORS[name](n_samples, random_state=seed)
    selector = CCMSelector(len(data.informative), formulation=formulation, task=data.task)
    return float(np.median(selector.fit(data.data, data.target).ranking_[data.informative]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args()
    print(f"Mean of the median rank over {options.draws} draws (standard error)\n")
    print("| formulation | set | n | median rank | limit | |")
    print("| --- | --- | ---: | ---: | ---: | --- |")
    n_above = 0
    for formulation, name, n_samples, limit in LIMITS:
        seeds = range(options.first_seed, options.first_seed + options.draws)
        ranks = [median_rank(formulation, name, n_samples, seed) for seed in seeds]
        mean, error = np.mean(ranks), np.std(ranks, ddof=1) / np.sqrt(len(ranks))
        is_above = mean > limit
        n_above += is_above
        verdict = "too high" if is_above else "ok"
        measured = f"{mean:.3f} ({error:.3f})"
        print(
            f"| {formulation} | {name} | {n_samples} | {measured} | {limit:.2f} | {verdict} |",
            flush=True,
        )
    return 1 if n_above else 0


if __name__ == "__main__":
    sys.exit(main())
