"""The paper's experiments, from the command to tables and pictures."""

import numpy as np
import pandas as pd
import pytest
from experiments.paper import protocols
from experiments.paper.__main__ import main
from experiments.paper.figures import rank_figure
from experiments.paper.protocols import METHODS, SETS, VARIANTS, curve_task, run_real
from experiments.paper.ranks import median_rank, summarised
from experiments.paper.selectors import paper_selectors
from experiments.provenance import read
from sklearn.base import BaseEstimator
from sklearn.exceptions import FitFailedWarning

from covmin.datasets import make_shell, make_xor
from covmin.evaluation.selectors import feature_order

SEEN = []


class ByPosition(BaseEstimator):
    """Ranks columns by position and counts its fits."""

    def fit(self, X, y):
        SEEN.append(sorted(X[:, 0].tolist()))
        self.ranking_ = np.arange(1, X.shape[1] + 1)
        return self


class Widest(BaseEstimator):
    """Ranks columns by their range; fails on fewer than 20 rows if told to."""

    def __init__(self, fails=False):
        self.fails = fails

    def fit(self, X, y):
        if self.fails and len(X) < 20:
            raise RuntimeError("too few")
        self.scores_ = np.ptp(X, axis=0)
        return self


@pytest.fixture(autouse=True)
def _forget():
    SEEN.clear()


# Commands --------------------------------------------------------------------------------------


def test_synthetic(tmp_path, capsys):
    words = ["synthetic", "--quick", "--output", str(tmp_path), "--quiet", "--repeats", "2"]
    words += ["--samples", "20", "--samples", "30"]
    for name in ("ccm-single", "pearson", "ccm-soft-0.1"):
        words += ["--only", name]
    assert main(words) == 0
    table = read(tmp_path / "results" / "synthetic-quick.csv")
    assert set(table["protocol"]) == {"median rank"}
    assert len(table) == 3 * 3 * 2
    for stem in ("synthetic-quick", "synthetic-quick-variants"):
        for suffix in ("png", "svg"):
            assert (tmp_path / "figures" / f"{stem}.{suffix}").stat().st_size > 1000
    (tmp_path / "results" / "synthetic-quick.csv").unlink()
    assert main([*words, "--no-run", "--only", "mi"]) == 0
    assert "Resuming the run" in capsys.readouterr().err
    pd.testing.assert_frame_equal(read(tmp_path / "results" / "synthetic-quick.csv"), table)


def test_real(tmp_path):
    words = ["real", "--quick", "--output", str(tmp_path), "--quiet", "--dataset", "wine"]
    assert main([*words, "--only", "pearson", "--only", "ccm-single"]) == 0
    table = read(tmp_path / "results" / "real-quick.csv")
    assert set(table["protocol"]) == {"paper", "nested"}
    assert len(table) == 2 * 2 * 13
    for protocol in ("paper", "nested"):
        picture = (tmp_path / "figures" / f"real-quick-{protocol}.svg").read_text()
        assert f"protocol: {protocol}" in picture


def test_what_is_wrong_is_a_message(tmp_path, capsys):
    path = tmp_path / "results" / "real.jsonl"
    path.parent.mkdir()
    path.write_text('{"format":"covmin-results-1","settings":{"random_state":7}}\n')
    for words, said in [
        (["real", "--dataset", "wine", "--quiet"], "other settings"),
        (["real", "--dataset", "wien"], "There is no data set called 'wien'"),
        (["synthetic", "--quick", "--no-run"], "--no-run"),
    ]:
        assert main([*words, "-o", str(tmp_path)]) == 2
        assert said in capsys.readouterr().err


def test_an_interrupt_keeps_what_is_done(tmp_path, monkeypatch, capsys):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.paper.ranks.rank_features", interrupt)
    words = ["synthetic", "--quick", "--only", "pearson", "-o", str(tmp_path / "out")]
    assert main(words) == 130
    assert "resumes" in capsys.readouterr().err


def test_full_settings_cover_the_paper():
    assert len(SETS) == 14
    assert {"ccm", "ccm-single", "bahsic", "hsic-lasso", "mrmr"} <= set(METHODS)
    assert VARIANTS[0] == "ccm-soft-0.001"
    assert len(VARIANTS) == 10
    assert curve_task("wine").sizes == list(range(1, 14))


def test_protocol_by_name():
    with pytest.raises(ValueError, match="honest"):
        run_real(datasets=["wine"], selectors=["pearson"], protocols=["honest"])


@pytest.mark.parametrize("name", [*protocols.VARIANTS, "bahsic", "hsic-lasso"])
@pytest.mark.filterwarnings("ignore:lambda2")
def test_every_name_ranks_every_feature(name):
    X, y = make_shell(30, random_state=0, return_X_y=True)
    order = feature_order(paper_selectors()[name].make(4, random_state=0).fit(X, y))
    assert sorted(order) == list(range(10))


# Median ranks ----------------------------------------------------------------------------------


def test_known_order():
    def generator(n, random_state):
        data = make_xor(n, random_state=random_state)
        data.data[:, data.informative] *= 100
        return data

    result = median_rank(generator, {"widest": Widest()}, n_samples=[10, 20], n_repeats=12)
    assert (result["median_rank"] == 2).all()
    assert len(result) == 24
    assert summarised(result)["n_draws"].tolist() == [12, 12]


def test_position_tells_nothing():
    """A selector that ties everything and goes by position is at chance, not optimal."""
    result = median_rank(make_xor, {"spy": ByPosition()}, n_samples=[10], n_repeats=200)
    assert result["median_rank"].mean() == pytest.approx(5.5, abs=0.6)


def test_all_selectors_see_the_same_draws():
    pair = {"a": ByPosition(), "b": ByPosition()}
    median_rank(make_xor, pair, n_samples=[12], n_repeats=3)
    assert len(SEEN) == 6
    assert SEEN[:3] == SEEN[3:]


def test_failures_are_missing_ranks():
    with pytest.warns(FitFailedWarning, match="3 of 6 rankings"):
        result = median_rank(make_xor, {"b": Widest(True)}, n_samples=[10, 20], n_repeats=3)
    assert summarised(result)["n_failed"].tolist() == [3, 0]


def test_more_draws_reuse_those_that_are_there(tmp_path):
    arguments = {"n_samples": [10], "log": tmp_path / "log.jsonl"}
    median_rank(make_xor, {"spy": ByPosition()}, n_repeats=10, **arguments)
    median_rank(make_xor, {"spy": ByPosition()}, n_repeats=20, **arguments)
    assert len(SEEN) == 20


def test_figure():
    tasks = {"xor": make_xor, "binary": make_shell}
    result = median_rank(tasks, ["pearson", "ccm-single"], n_samples=[20, 30], n_repeats=2)
    figure = rank_figure(summarised(result))
    assert [ax.get_title() for ax in figure.axes] == ["xor", "binary"]
    assert "Protocol: median rank" in figure.get_suptitle()
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["pearson", "CCM (single)", "optimal"]
    assert figure.axes[0].lines[-1].get_ydata()[0] == 2
    figure.canvas.draw()
