"""The paper's experiments: ranks of the true features, accuracy on its sets, figures."""

import numpy as np
import pandas as pd
import pytest
from experiments.paper import studies
from experiments.paper.figures import rank_figure
from experiments.paper.selectors import budget, paper_selectors
from experiments.paper.studies import (
    BLOCK,
    METHODS,
    PAPER_SETS,
    TASKS,
    VARIANTS,
    curve_task,
    curves,
    draws,
    mean_scores,
    summarised,
)
from experiments.registry import STUDIES
from experiments.study import rows_of
from sklearn.base import BaseEstimator

from covmin.datasets import make_shell, make_xor
from covmin.evaluation.selectors import feature_order

SEEN = []


class ByPosition(BaseEstimator):
    """Ranks columns by position and notes what it sees."""

    def __init__(self, fails=False):
        self.fails = fails

    def fit(self, X, y):
        SEEN.append(sorted(X[:, 0].tolist()))
        if self.fails and len(SEEN) % 2:
            raise RuntimeError("every other time")
        self.ranking_ = np.arange(1, X.shape[1] + 1)
        return self


@pytest.fixture(autouse=True)
def spies(monkeypatch):
    """Selectors that go by position, beside the real ones."""

    def by_position(fails):
        return lambda m, **options: ByPosition(fails)

    known = paper_selectors() | {n: by_position(n == "failing") for n in ("a", "b", "failing")}
    monkeypatch.setattr(studies, "paper_selectors", lambda: known)
    SEEN.clear()


def ranked(selector, n=10, task="xor", first=0):
    unit = {"task": task, "selector": selector, "n_samples": n, "first": first}
    return rows_of([unit], [draws(unit)])


def test_full_settings_cover_the_paper(paper_data):
    assert len(PAPER_SETS) == 12
    assert {"ccm", "ccm-single", "bahsic", "hsic-lasso", "mrmr"} <= set(METHODS)
    assert VARIANTS[0] == "ccm-soft-0.001"
    assert len(VARIANTS) == 10
    assert curve_task("wine").sizes == list(range(1, 14))
    cells = [(u["selector"], u["task"]) for u in STUDIES["synthetic"].units() if not u["first"]]
    assert cells.count(("ccm", "xor")) == 10


def test_single_solves_have_the_budget_of_the_paper():
    assert [budget("ccm-single", d, 13) for d in (1024, 13)] == [100, 3]
    assert budget("mrmr", 1024, 50) == 50
    assert curve_task("wine").selectors["ccm-single"](13).n_features_to_select == 3


@pytest.mark.parametrize("name", [*VARIANTS, "bahsic", "hsic-lasso"])
@pytest.mark.filterwarnings("ignore:lambda2")
def test_every_name_ranks_every_feature(name):
    X, y = make_shell(30, random_state=0, return_X_y=True)
    order = feature_order(paper_selectors()[name](4, random_state=0).fit(X, y))
    assert sorted(order) == list(range(10))


# Median ranks ----------------------------------------------------------------------------------


def test_known_order(monkeypatch):
    def easy(n, random_state):
        data = make_xor(n, random_state=random_state)
        data.target = data.data[:, data.informative].sum(axis=1)
        return data

    monkeypatch.setitem(TASKS, "easy", easy)
    table = summarised(ranked("pearson", 100, "easy"))
    assert table["mean_rank"].tolist() == [2.0]
    assert table["n_draws"].tolist() == [BLOCK]


def test_all_selectors_see_the_same_draws_and_blocks_differ():
    for name, first in (("a", 0), ("b", 0), ("a", BLOCK)):
        ranked(name, first=first)
    assert SEEN[:BLOCK] == SEEN[BLOCK : 2 * BLOCK]
    assert not any(each in SEEN[:BLOCK] for each in SEEN[2 * BLOCK :])


# Accuracy --------------------------------------------------------------------------------------


def test_protocols_of_a_set(paper_data):
    units = [
        unit
        for unit in STUDIES["real"].units()
        if (unit["dataset"], unit["selector"]) == ("wine", "pearson")
    ]
    table = mean_scores(rows_of(units, list(map(curves, units))))
    folds = table.groupby("protocol")["n_folds"].unique().map(list)
    assert folds.to_dict() == {"nested": [5], "paper": [15]}
    assert table["n_features"].tolist() == 2 * list(range(1, 14))
    assert table["mean_score"].between(0.5, 1.0).all()


def test_figure():
    summary = summarised(pd.concat([ranked("pearson", n, t) for n in (20, 30) for t in TASKS]))
    figure = rank_figure(summary)
    assert [ax.get_title() for ax in figure.axes] == list(TASKS)
    assert "Protocol: median rank" in figure.get_suptitle()
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "optimal" in texts
