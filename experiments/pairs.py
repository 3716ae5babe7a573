"""From how many samples pairs are found among how many features, and how often by chance.

Run as ``python -m experiments.pairs``; writes ``experiments/results/pairs.md`` and ``.csv``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from covmin.baselines import ExtraTreesSelector
from joblib import Parallel, delayed
from sklearn.utils import Bunch

from covmin import CCMSelector
from covmin.core.kernels import Gaussian
from covmin.core.problem import Problem, Sample
from covmin.datasets import make_correlated_interaction, make_xor
from covmin.plan.look import FirstLook
from experiments.tables import markdown_table

RESULTS = Path(__file__).parent / "results"
SIZES = (40, 60, 100, 200)
NOISE = (100, 1000)
NULLS = ((40, 100), (100, 1000), (400, 200))


def make_effects_and_product(n_samples: int, n_noise: int, *, random_state: int) -> Bunch:
    """A number: two single effects and a product of two other features."""
    rng = np.random.default_rng(random_state)
    X = rng.standard_normal((n_samples, 4 + n_noise))
    noise = 0.5 * rng.standard_normal(n_samples)
    y = X[:, 0] - X[:, 1] + 2.0 * X[:, 2] * X[:, 3] + noise
    return Bunch(data=X, target=y, informative=np.arange(4))


# A task, and the pairs of it that interact.
TASKS: dict[str, tuple[Any, list[set[int]]]] = {
    "XOR": (make_xor, [{0, 1}, {0, 2}, {1, 2}]),
    "interaction, look-alikes": (make_correlated_interaction, [{0, 1}]),
    "two effects and a product": (make_effects_and_product, [{2, 3}]),
}


def draw(task: str, n_noise: int, n_samples: int, seed: int) -> dict[str, Any]:
    """What is found in one draw, with pairs, without them, and by extra-trees."""
    make, true = TASKS[task]
    data = make(n_samples, n_noise, random_state=seed)
    m = len(data.informative)
    fits = {
        "ccm": CCMSelector(m),
        "without pairs": CCMSelector(m, interactions=False),
        "extra-trees": ExtraTreesSelector(m, random_state=seed),
    }
    ranks = {}
    for name, selector in fits.items():
        selector.fit(data.data, data.target)
        ranks[name] = float(np.median(selector.ranking_[data.informative]))
    named = [set(pair) for pair in fits["ccm"].interactions_.features.tolist()]
    return {
        "task": task,
        "noise": n_noise,
        "n": n_samples,
        "pair named": float(any(pair in true for pair in named)),
        "wrong pairs": sum(pair not in true for pair in named),
        **ranks,
    }


def by_chance(response: str, n_samples: int, n_columns: int, seed: int) -> dict[str, Any]:
    """Whether any pair is named where nothing depends on anything."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_columns))
    y = {
        "normal": rng.standard_normal(n_samples),
        "Cauchy": rng.standard_cauchy(n_samples),
        "two classes": np.arange(n_samples) % 2,
        "a class of eight": np.arange(n_samples) < 8,
        "ten classes": np.arange(n_samples) % 10,
    }[response]
    if response not in ("normal", "Cauchy"):
        Y = (y[:, None] == np.unique(y)).astype(float)
    else:
        Y = y[:, None]
    p = np.full(n_samples, 1.0 / n_samples)
    sample = Sample(X, Y - Y.mean(axis=0), p)
    task = "regression" if response in ("normal", "Cauchy") else "classification"
    problem = Problem.exact(sample, kernel=Gaussian(), epsilon=0.01)
    found = FirstLook(problem, task).protected
    return {
        "response": response,
        "n": n_samples,
        "d": n_columns,
        "pair named": found.interactions.share.size > 0,
        "spread named": found.spread.share.size > 0,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--nulls", type=int, default=400)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    options = parser.parse_args()
    parallel = Parallel(options.jobs)
    drawn = pd.DataFrame(
        parallel(
            delayed(draw)(task, noise, n, seed)
            for task in TASKS
            for noise in NOISE
            for n in SIZES
            for seed in range(options.draws)
        )
    )
    found = drawn.groupby(["task", "noise", "n"], sort=False).mean().reset_index()
    responses = ("normal", "Cauchy", "two classes", "a class of eight", "ten classes")
    nulls = pd.DataFrame(
        parallel(
            delayed(by_chance)(response, n, d, seed)
            for response in responses
            for n, d in NULLS
            for seed in range(options.nulls)
        )
    )
    level = nulls.groupby(["response", "n", "d"], sort=False).mean().reset_index()
    found.to_csv(RESULTS / "pairs.csv", index=False, float_format="%.4f", lineterminator="\n")
    text = "\n".join(
        [
            f"Share of {options.draws} draws in which a pair that interacts is named, number of "
            "wrong pairs, and mean of the median rank of the true features:\n",
            markdown_table(found, 2),
            f"\nShare of {options.nulls} draws without any dependence in which a pair is named "
            "(level 0.05):\n",
            markdown_table(level, 3),
        ]
    )
    (RESULTS / "pairs.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
