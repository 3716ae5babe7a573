"""What the baselines rank first and how a comparison scores it, kept in a file.

Rows of rivals in ``docs/evidence.md`` are current as long as these answers are the same.
``python tests/evaluation/test_golden.py`` writes the file anew.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine

from covmin.evaluation import compare_selectors
from covmin.evaluation.baselines import BASELINES, baseline
from covmin.evaluation.selectors import feature_order

FILE = Path(__file__).with_name("golden.json")
TABLES = {
    "wine": load_wine(return_X_y=True),
    "diabetes": [part[:150] for part in load_diabetes(return_X_y=True)],
}
COMPARED = "comparison"


def answers(name, table):
    """The first four of a baseline, or the scores of one."""
    X, y = TABLES[table]
    if name == COMPARED:
        found = compare_selectors(X, y, selectors=["anova"], n_features=[1, 4], cv=3)
        return np.round(found.summary()["mean_score"].to_numpy(float), 4).tolist()
    selector = baseline(BASELINES[name], 4, random_state=0).fit(X, y)
    return feature_order(selector)[:4].tolist()


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", [*BASELINES, COMPARED])
def test_answers_are_those_in_the_file(name, table):
    kept = json.loads(FILE.read_text())[name][table]
    assert answers(name, table) == pytest.approx(kept, abs=2e-3)


def test_the_file_has_no_more():
    assert set(json.loads(FILE.read_text())) == {*BASELINES, COMPARED}


if __name__ == "__main__":
    found = {name: {t: answers(name, t) for t in TABLES} for name in (*BASELINES, COMPARED)}
    text = ",\n".join(f' "{name}": {json.dumps(rows)}' for name, rows in found.items())
    FILE.write_text(f"{{\n{text}\n}}\n")
