"""Answers of the tools of inference on small tables, kept in a file.

Results in ``docs/evidence.md`` are current as long as these answers are the same.
``python tests/inference/test_golden.py`` writes the file anew.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from covmin import (
    CCMSelector,
    KnockoffSelector,
    StabilitySelector,
    VerdictSelector,
    conditional_dependence_test,
)
from covmin.datasets import make_additive, make_shell, make_xor

FILE = Path(__file__).with_name("golden.json")


def lines(n, d, seed):
    """Correlated columns, of which two matter, and one by its square."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[:, 3] = X[:, 0] + 0.5 * X[:, 3]
    return X, X[:, 0] - X[:, 1] + X[:, 2] ** 2 + X[:, -1]


TABLES = {
    "numbers": lines(120, 8, 0),
    "additive": make_additive(100, n_noise=4, random_state=1, return_X_y=True),
    "classes": make_shell(120, n_noise=4, random_state=2, return_X_y=True),
    "xor": make_xor(120, n_noise=5, random_state=3, return_X_y=True),
}


def best(selector):
    """The first four; behind them rounding may decide."""
    return np.argsort(selector.ranking_, kind="stable")[:4].tolist()


def p_values(X, y):
    """Of each of the first columns, given the two after it."""
    given = [X[:, [(j + 1) % 4, (j + 2) % 4]] for j in range(4)]
    tests = [conditional_dependence_test(X[:, [j]], y, given=given[j]) for j in range(4)]
    return [test.p_value for test in tests]


def verdicts(X, y):
    found = VerdictSelector(random_state=0, verbose=0).fit(X, y)
    return [*found.verdicts_.tolist(), *best(found)]


def knockoffs(X, y):
    found = KnockoffSelector(random_state=0).fit(X, y)
    return [*found.q_values_.tolist(), *best(found)]


def frequencies(X, y):
    found = StabilitySelector(CCMSelector(3), n_pairs=4, random_state=0).fit(X, y)
    return found.frequencies_.tolist()


def named(X, y):
    """Features that are said to interact, and those that set the spread, with their shares."""
    fitted = CCMSelector(3).fit(X, y)
    found = (fitted.interactions_, fitted.spread_)
    return [
        x for each in found for part in ("features", "share") for x in each[part].ravel().tolist()
    ]


# Part, by which results name what they depend on; and the function of a table.
PARTS = {
    "test": p_values,
    "verdicts": verdicts,
    "knockoffs": knockoffs,
    "stability": frequencies,
    "search": named,
}


def answers(part, table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = PARTS[part](*TABLES[table])
    return [round(x, 4) if isinstance(x, float) else x for x in found]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("part", PARTS)
def test_answers_are_those_in_the_file(part, table):
    kept, now = json.loads(FILE.read_text())[part][table], answers(part, table)
    assert len(now) == len(kept)
    for x, before in zip(now, kept, strict=True):
        assert x == (before if isinstance(x, str) else pytest.approx(before, abs=2e-3)), kept


if __name__ == "__main__":
    found = {part: {table: answers(part, table) for table in TABLES} for part in PARTS}
    text = ",\n".join(
        f' "{part}": {{\n'
        + ",\n".join(f'  "{table}": {json.dumps(row)}' for table, row in rows.items())
        + "\n }"
        for part, rows in found.items()
    )
    FILE.write_text(f"{{\n{text}\n}}\n")
