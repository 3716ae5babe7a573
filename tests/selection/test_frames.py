"""Results by name."""

from __future__ import annotations

import gc
import pickle
import re
from html import unescape

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pandas.testing import assert_frame_equal
from sklearn.exceptions import NotFittedError

from covmin import CCMSelector, unexplained_variance
from covmin.data import TableOptions, read
from covmin.datasets import make_xor
from covmin.remarks import CovminWarning


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((150, 5)), columns=list("abcde"))
    X["kind"] = pd.Categorical(rng.choice(["u", "v", "w"], 150))
    X["same"] = 1.0
    y = pd.Series(2.0 * X["a"] + 3.0 * (X["kind"] == "v") + 2.5 * X["b"] * X["c"], name="price")
    return X, y


@pytest.fixture(scope="module")
def fitted(table):
    with pytest.warns(UserWarning, match="constant"):
        return CCMSelector(given=["e"]).fit(*table)


def test_the_ranking_has_names_and_notes(fitted):
    frame = fitted.ranking_frame()
    assert list(frame)[:4] == ["name", "rank", "weight", "kept"]
    assert list(frame)[4:7] == ["lost_without", "in_folds", "alone"]
    assert list(frame)[7:] == ["kind", "distinct", "missing", "reason", "notes"]
    assert_array_equal(frame["rank"], np.sort(fitted.ranking_))
    by_name = frame.set_index("name").loc[list(fitted.feature_names_in_)]
    assert_array_equal(by_name["rank"], fitted.ranking_)
    assert_allclose(by_name["weight"], fitted.weights_)
    assert_array_equal(by_name["kept"], fitted.support_)
    assert frame["alone"].isna().all()
    assert by_name.loc["e", "notes"].startswith("given")
    assert by_name.loc["same", "reason"] == "constant"
    assert (frame["reason"] == "").tolist() == frame["kept"].tolist()
    assert "interacts with c" in by_name.loc["b", "notes"]


def test_what_a_feature_says_alone_is_told_of_the_samples(fitted, table):
    X, y = table
    alone = fitted.ranking_frame(X, y).set_index("name")["alone"]
    shares = X[list("abcde")].corrwith(y) ** 2
    assert alone["a"] == pytest.approx(shares["a"], abs=0.1)
    assert alone["kind"] > 0.1
    assert alone["same"] == 0.0
    assert alone[["d", "e"]].max() < 0.1
    with pytest.raises(ValueError, match="both X and y"):
        fitted.ranking_frame(X)


def test_groups_are_noted():
    X = np.random.default_rng(0).standard_normal((60, 4))
    selector = CCMSelector(1, feature_groups=["one", "one", "two", "two"]).fit(X, X[:, 0])
    frame = selector.ranking_frame()
    assert frame["name"].tolist()[:2] == ["x0", "x1"]
    assert frame["notes"].tolist() == ["group one", "group one", "group two", "group two"]


def test_pairs_have_names(fitted):
    frame = fitted.interactions_frame()
    assert "b × c" in set(frame["features"])
    assert_array_equal(frame["p_value"], fitted.interactions_.p_value)


def test_cross_validation_is_a_row_for_each_size(table):
    X, y = table
    selector = CCMSelector(epsilon=[0.01, 0.1]).fit(X[["a", "b", "c"]], y)
    frame = selector.cv_results_frame()
    assert len(frame) == selector.cv_results_.mean_error.size
    (chosen,) = frame.index[frame["chosen"]]
    assert frame.loc[chosen, "n_features"] == selector.n_features_
    assert frame.loc[chosen, "epsilon"] == pytest.approx(selector.epsilon_)
    assert_allclose(frame["mean_error"], selector.cv_results_.mean_error.ravel())
    assert not [name for name in frame if "variance" in name]
    assert CCMSelector(1).fit(X[["a"]], y).cv_results_frame().empty


def test_frames_are_those_that_transform_gives(table):
    X, y = table
    selector = CCMSelector(1).set_output(transform="polars").fit(X[["a", "b"]], y)
    assert isinstance(selector.ranking_frame(), pl.DataFrame)
    assert set(selector.ranking_frame()["name"]) == {"a", "b"}


def test_nothing_before_a_fit(tmp_path):
    for method in ("ranking_frame", "interactions_frame", "cv_results_frame"):
        with pytest.raises(NotFittedError):
            getattr(CCMSelector(), method)()
    with pytest.raises(NotFittedError):
        CCMSelector().report(tmp_path / "r.html")


class TestReport:
    def test_is_written_of_the_samples_of_the_fit(self, table, tmp_path):
        X, y = table[0][["a", "b"]].copy(), table[1]
        selector = CCMSelector().fit(X, y)
        path = selector.report(tmp_path / "r.html")
        text = path.read_text("utf-8")
        assert '<span class="name">price</span>' in text  # the name of y
        again = selector.report(tmp_path / "again.html", X, y, target_name="cost")
        assert '<span class="name">cost</span>' in again.read_text("utf-8")

    def test_is_shown_in_a_notebook(self, table, tmp_path):
        X, y = table[0][["a", "b"]].copy(), table[1]
        selector = CCMSelector(1).fit(X, y)
        report = selector.report()
        shown = report._repr_html_()
        assert shown.count("<") == 2  # the frame; all of the page is in an attribute
        assert shown.startswith("<iframe")
        (page,) = re.findall('srcdoc="([^"]*)"', shown)
        assert unescape(page) == report.html
        assert report.save(tmp_path / "r.html").read_text("utf-8") == report.html
        assert "<covmin report" in repr(report)

    def test_lists_are_remembered(self):
        X = np.random.default_rng(0).standard_normal((40, 3))
        selector = CCMSelector(1).fit(X.tolist(), X[:, 0].tolist())
        assert selector.report().html == selector.report(X=X, y=X[:, 0]).html

    def test_says_that_the_samples_are_gone(self, table, tmp_path):
        X, y = table
        selector = CCMSelector(1).fit(X[["a", "b"]].copy(), y)
        gc.collect()
        with pytest.raises(ValueError, match=r"Pass them: selector.report\(path, X, y\)"):
            selector.report(tmp_path / "r.html")

    def test_no_pickle_holds_samples(self, table, tmp_path):
        X, y = table[0][["a", "b"]].copy(), table[1]
        selector = CCMSelector(1).fit(X, y)
        loaded = pickle.loads(pickle.dumps(selector))
        with pytest.raises(ValueError, match="Pass them"):
            loaded.report(tmp_path / "r.html")
        assert loaded.report(tmp_path / "r.html", X, y).exists()
        assert selector.report(tmp_path / "r.html").exists()


def test_every_column_has_its_kind_its_values_and_a_reason(table):
    X, y = table
    n = len(X)
    dates = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(n)[::-1] * 5 % n, unit="D")
    X = pd.DataFrame(
        {
            "a": X["a"].where(np.arange(n) % 4 > 0),
            "b": dates,
            "c": np.arange(n) % 3,
            "text": [f"row {i * 37 % 1000}" for i in range(n)],
            "kind": X["kind"],
        }
    )
    with pytest.warns(UserWarning, match="text"):
        selector = CCMSelector(1).fit(X, y)
    rows = selector.ranking_frame(X, y).set_index("name")
    assert rows["kind"][["a", "b", "text"]].tolist() == ["number", "date", "identifier"]
    assert rows["missing"]["a"] == X["a"].isna().mean()
    assert rows["distinct"].to_dict() == X.nunique().to_dict()
    assert rows["reason"]["text"].startswith("left out: ")
    assert rows["reason"][rows["rank"] == 2].item() == "not first"
    # The fit has counted.
    again = pickle.loads(pickle.dumps(selector)).ranking_frame().set_index("name")
    assert again["distinct"].to_dict() == X.nunique().to_dict()


def test_values_of_a_large_table_are_counted_on_request(table, monkeypatch):
    X, y = table[0].drop(columns="same"), table[1]
    monkeypatch.setattr("covmin.selection.attributes.MEMORY_NUMBERS", 10)
    selector = CCMSelector(1).fit(X, y)
    assert selector.ranking_frame()["distinct"].isna().all()
    rows = selector.ranking_frame(X, y).set_index("name")
    assert rows["distinct"].to_dict() == X.nunique().to_dict()


def test_folds_are_counted():
    """Each fold ranks the features anew; the share that selects a feature is beside its rank."""
    X, y = make_xor(150, random_state=0, return_X_y=True)
    selector = CCMSelector(random_state=0).fit(X, y)
    frame = selector.ranking_frame().set_index("name")
    assert frame["in_folds"].sum() == pytest.approx(selector.n_features_)
    assert frame["in_folds"][["x0", "x1", "x2"]].tolist() == [1.0, 1.0, 1.0]
    assert CCMSelector(3).fit(X, y).fold_frequency_ is None
    noise = np.random.default_rng(0).standard_normal((60, 8))
    unsure = CCMSelector(4, epsilon=(0.01, 0.1), random_state=0).fit(noise, noise[:, 0] + 5)
    assert 0 < np.sort(unsure.fold_frequency_)[3] < 1  # which noise it is differs between folds
    assert unsure.fold_frequency_[0] == 1.0


def test_a_table_that_was_read_stands_for_the_samples():
    X, y = make_xor(60, random_state=0, return_X_y=True)
    table = read(X, y, TableOptions())
    selector = CCMSelector(3).fit(table)
    assert_array_equal(selector.ranking_, CCMSelector(3).fit(X, y).ranking_)
    assert unexplained_variance(table) == unexplained_variance(X, y)
    assert_frame_equal(selector.ranking_frame(table), selector.ranking_frame(X, y))
    assert_frame_equal(selector.substitutes(table), selector.substitutes(X, y))
    assert "<html" in selector.report().html
    with pytest.raises(ValueError, match="y"):
        unexplained_variance(X)


def test_what_is_lost_without_a_feature_can_be_read():
    """Of y = 2a + bc + d/2 + noise, the shares of the parts."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 5))
    product = X[:, 1] * X[:, 2]
    parts = np.array([2 * X[:, 0], product, product, 0.5 * X[:, 3]])
    y = parts[[0, 1, 3]].sum(axis=0) + 0.5 * rng.standard_normal(1500)
    selector = CCMSelector(4).fit(X, y)
    assert_allclose(selector.lost_without_[:4], parts.var(axis=1) / y.var(), atol=0.04)
    assert np.isnan(selector.lost_without_[4])
    assert "lost without" in selector._html_repr()
    with pytest.warns(CovminWarning, match="Too good to be true"):
        alone = CCMSelector(1).fit(X[:60], X[:60, 0])
    assert 0.99 < alone.lost_without_[0] <= 1.0
    few = CCMSelector(2).fit(X[:15], y[:15])  # too few samples for tuned regressions
    assert np.isnan(few.lost_without_).all()
    assert "weight" in few._html_repr()
