"""Small studies behind choices of the selector: given features, units, response kernel, ε.

    python -m experiments.choices

writes experiments/results/choices.md. Takes a few minutes on one core.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.random import Generator, default_rng

from covmin import CCMSelector
from covmin.datasets import make_additive
from covmin.evaluation.frames import markdown_table

RESULTS = Path(__file__).parent / "results"
DRAWS = 50

Draw = Callable[[Generator], tuple[np.ndarray, np.ndarray]]


def redundant(rng: Generator, n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """A strong effect of feature 0, of which 1 is nearly a copy, and a weak one of feature 2."""
    X = rng.standard_normal((n, 8))
    X[:, 1] = X[:, 0] + 0.05 * rng.standard_normal(n)
    return X, 3.0 * X[:, 0] + X[:, 2] + 0.3 * rng.standard_normal(n)


def spread(rng: Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Feature 1 changes the mean of y, feature 0 its spread."""
    X = rng.standard_normal((n, 10))
    return X, X[:, 1] + np.exp(0.8 * X[:, 0]) * rng.standard_normal(n)


def share_of_draws(draw: Draw, found: Callable[[np.ndarray, np.ndarray], bool]) -> float:
    """Share of draws in which something was found."""
    return float(np.mean([found(*draw(default_rng(seed))) for seed in range(DRAWS)]))


def given_features() -> pd.DataFrame:
    """How often the new feature comes before the copy of the given one."""

    def new_before_copy(X: np.ndarray, y: np.ndarray, **options: object) -> bool:
        ranking = CCMSelector(1, given=[0], **options).fit(X, y).ranking_
        return bool(ranking[2] < ranking[1])

    return pd.DataFrame(
        {
            "kernel": kernel,
            "ε": f"{epsilon:g}",
            "new feature before the copy": share_of_draws(
                redundant,
                lambda X, y, k=kernel, e=epsilon: new_before_copy(X, y, kernel=k, epsilon=e),
            ),
        }
        for kernel in ("mixed", "gaussian")
        for epsilon in (0.1, 0.01, 0.001)
    )


def response_kernel() -> pd.DataFrame:
    """How often both the feature of the mean and that of the spread are kept."""

    def both(X: np.ndarray, y: np.ndarray, kernel: str) -> bool:
        return bool(CCMSelector(2, response_kernel=kernel).fit(X, y).support_[:2].all())

    return pd.DataFrame(
        {
            "n": n,
            **{
                kernel: share_of_draws(
                    lambda rng, n=n: spread(rng, n), lambda X, y, k=kernel: both(X, y, k)
                )
                for kernel in ("linear", "gaussian")
            },
        }
        for n in (100, 200, 400)
    )


def regression_epsilon() -> pd.DataFrame:
    """Median rank on the additive task, and how often two features are not one twice."""

    def rank(n: int, epsilon: float) -> float:
        ranks = []
        for seed in range(2 * DRAWS):
            X, y = make_additive(n, random_state=seed, return_X_y=True)
            ranks.append(np.median(CCMSelector(4, epsilon=epsilon).fit(X, y).ranking_[:4]))
        return float(np.mean(ranks))

    def second_effect(X: np.ndarray, y: np.ndarray, epsilon: float) -> bool:
        return bool(CCMSelector(2, epsilon=epsilon).fit(X, y).support_[2])

    return pd.DataFrame(
        {
            "ε": f"{epsilon:g}",
            **{f"additive, n={n}": rank(n, epsilon) for n in (30, 60, 100)},
            "second effect kept": share_of_draws(
                redundant, lambda X, y, e=epsilon: second_effect(X, y, e)
            ),
        }
        for epsilon in (0.1, 0.03, 0.01, 0.003, 0.001)
    )


def weak_effect(rng: Generator, n: int, size: int, classes: bool) -> tuple[np.ndarray, np.ndarray]:
    """A weak effect of feature 0 among five of noise, and ``size`` columns of noise besides."""
    X = rng.standard_normal((n, 6 + size))
    y = 0.5 * X[:, 0] + rng.standard_normal(n)
    return X, (y > 0).astype(int) if classes else y


def unequal_units() -> pd.DataFrame:
    """How often a weak effect comes before a category, or a group, that says nothing."""
    ridges: dict[str, dict[str, object]] = {"auto": {}, "0.005": {"epsilon": 0.005}}
    ridges |= {"0.01": {"epsilon": 0.01}, "0.1": {"epsilon": 0.1}}

    def with_category(X: np.ndarray, y: np.ndarray, levels: int, **options: object) -> bool:
        codes = np.argsort(np.argsort(X[:, 6])) % levels  # of equal size
        table = np.column_stack([X[:, :6], codes])
        selector = CCMSelector(1, categorical_features=[6], **options)
        return bool(selector.fit(table, y).support_[0])

    def with_group(X: np.ndarray, y: np.ndarray, **options: object) -> bool:
        groups = [*range(6), *[6] * (X.shape[1] - 6)]
        return bool(CCMSelector(1, feature_groups=groups, **options).fit(X, y).support_[0])

    cases = {
        "category of 5 levels": (1, lambda X, y, **o: with_category(X, y, 5, **o)),
        "category of 20 levels": (1, lambda X, y, **o: with_category(X, y, 20, **o)),
        "group of 10 columns": (10, with_group),
    }
    return pd.DataFrame(
        {
            "beside": name,
            "response": "classes" if classes else "number",
            "n": n,
            **{
                f"ε = {label}": share_of_draws(
                    lambda rng, n=n, s=size, c=classes: weak_effect(rng, n, s, c),
                    lambda X, y, f=found, o=options: f(X, y, **o),
                )
                for label, options in ridges.items()
            },
        }
        for name, (size, found) in cases.items()
        for classes in (False, True)
        for n in (100, 300)
    )


def main() -> None:
    """Run the studies and write their tables."""
    parts = [
        ("Given features", given_features),
        ("Kernel on the response: features of the mean and of the spread kept", response_kernel),
        ("Default ε of regression along the path", regression_epsilon),
        ("Units of unequal size: the one effect found first", unequal_units),
    ]
    text = ["# Choices\n", f"`python -m experiments.choices`, {DRAWS} draws each.\n"]
    for title, study in parts:
        table = markdown_table(study(), 2)
        text += [f"## {title}\n", table, ""]
        print(f"{title}\n{table}\n", flush=True)
        if study is unequal_units:  # shown in docs/decisions.md
            (RESULTS / "choices-units.md").write_text(f"{table}\n", encoding="utf-8")
    (RESULTS / "choices.md").write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
