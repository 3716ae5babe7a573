"""Protocols: what they see, what they keep, how they resume, what they draw."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import nullcontext
from types import SimpleNamespace

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import FitFailedWarning
from sklearn.feature_selection import RFE, SelectKBest
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_info
from typer.testing import CliRunner

from covmin import __version__
from covmin.cli.reproduce import app
from covmin.datasets import make_additive, make_shell, make_xor
from covmin.evaluation import compare_selectors, default_sizes, median_rank, named_selectors
from covmin.evaluation.categories import order_of_features, read_categories
from covmin.evaluation.paper_real import METHODS, SETS, curve_task, run_real
from covmin.evaluation.paper_synthetic import run_synthetic
from covmin.evaluation.runner import run_units
from covmin.evaluation.selectors import SelectorSpec, feature_order
from covmin.evaluation.svm import machine_score
from covmin.plotting.curves import AccuracyCurveDisplay, MedianRankDisplay
from covmin.runtime.log import ResultLog

SEEN: list[list[int]] = []


class Spy(BaseEstimator):
    """Ranks columns by position and records the rows it was fitted on (column 0 is the row)."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        SEEN.append(sorted(int(row) for row in X[:, 0]))
        self.ranking_ = np.arange(1, X.shape[1] + 1)
        return self


class Widest(BaseEstimator):
    """Ranks columns by their range."""

    def fit(self, X, y):
        self.scores_ = np.ptp(X, axis=0)
        return self


class Broken(BaseEstimator):
    """Fails on fewer than 20 rows."""

    def fit(self, X, y):
        if len(X) < 20:
            raise RuntimeError("too few")
        self.ranking_ = np.arange(1, X.shape[1] + 1)
        return self


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(40), rng.normal(size=(40, 4))])
    y = (X[:, 1] > 0).astype(int)
    return X, y


@pytest.fixture(autouse=True)
def _forget():
    SEEN.clear()


class TestProtocols:
    def test_nested_never_ranks_with_test_rows(self, table):
        X, y = table
        folds = list(StratifiedKFold(4).split(X, y))
        compare_selectors(X, y, {"spy": Spy()}, n_features=[2], cv=folds, random_state=0)
        assert [train.tolist() for train, _ in folds] == SEEN

    def test_paper_ranks_once_on_all_rows(self, table):
        X, y = table
        result = compare_selectors(
            X, y, {"spy": Spy()}, protocol="paper", n_features=[2], n_repeats=2, random_state=0
        )
        assert [list(range(40))] == SEEN
        assert len(result.frame) == 2 * 5

    @pytest.mark.parametrize("protocol", ["nested", "paper"])
    def test_label_in_every_row(self, table, protocol):
        X, y = table
        result = compare_selectors(X, y, ["pearson"], protocol=protocol, random_state=0)
        assert "scores (accuracy) of pearson; see .summary()" in repr(result)
        assert set(result.frame["protocol"]) == {protocol}
        assert set(result.summary()["protocol"]) == {protocol}

    def test_groups_stay_on_one_side(self, table):
        X, y = table
        groups = np.arange(40) // 4
        compare_selectors(X, y, {"spy": Spy()}, n_features=[2], groups=groups, random_state=0)
        for rows in SEEN:
            assert not set(groups[rows]) & set(np.delete(groups, rows))

    def test_splitter_with_groups(self, table):
        X, y = table
        groups = np.arange(40) // 8
        result = compare_selectors(
            X, y, ["pearson"], cv=GroupKFold(5), groups=groups, n_features=[1], random_state=0
        )
        assert len(result.frame) == 5

    def test_machine_is_the_papers(self, table):
        X, y = table
        train, test = np.arange(30), np.arange(30, 40)
        columns = [1, 2]
        score = machine_score(
            X[train][:, columns], y[train], X[test][:, columns], y[test], classification=True
        )
        Z = StandardScaler().fit_transform(X[train][:, columns])
        distances = np.linalg.norm(Z[:, None] - Z[None], axis=2)[np.triu_indices(30, 1)]
        sigma = np.median(distances) / np.sqrt(2)
        machine = make_pipeline(StandardScaler(), SVC(C=1, gamma=1 / (2 * sigma**2)))
        expected = machine.fit(X[train][:, columns], y[train]).score(X[test][:, columns], y[test])
        assert score == pytest.approx(expected)

    def test_machine_on_constant_features(self):
        y = np.array([0, 0, 1])
        score = machine_score(np.full((3, 2), 0.1), y, np.zeros((3, 2)), y, classification=True)
        assert score == pytest.approx(2 / 3)

    def test_unknown_protocol(self, table):
        with pytest.raises(ValueError, match="'nested'"):
            compare_selectors(*table, protocol="honest")


class TestCompare:
    def test_frame(self, table):
        X, y = table
        result = compare_selectors(
            X, y, ["ccm", "pearson"], n_features=[1, 3], cv=3, n_repeats=2, random_state=0
        )
        assert list(result.frame.columns) == [
            "selector",
            "protocol",
            "repeat",
            "fold",
            "n_features",
            "score",
            "fit_seconds",
        ]
        assert len(result.frame) == 2 * 2 * 3 * 2
        assert not result.frame.duplicated(["selector", "repeat", "fold", "n_features"]).any()
        assert result.frame["score"].between(0, 1).all()

    def test_reproducible_and_parallel_alike(self, table):
        X, y = table
        names = ["ccm", "mi", "extra-trees"]
        names = {n: named_selectors()[n] for n in names}
        names["extra-trees"] = SelectorSpec(
            "extra-trees", names["extra-trees"].factory, {"n_estimators": 10}
        )
        first, second = (
            compare_selectors(X, y, names, n_features=[2], random_state=3, n_jobs=n).frame
            for n in (1, 2)
        )
        pd.testing.assert_frame_equal(
            first.drop(columns="fit_seconds"), second.drop(columns="fit_seconds")
        )

    def test_global_generator_untouched(self, table):
        X, y = table
        before = np.random.get_state()  # noqa: NPY002
        compare_selectors(X, y, n_features=[2], random_state=0)
        median_rank(make_additive, ["rfe", "hsic-lasso"], n_samples=[20], n_repeats=1)
        after = np.random.get_state()  # noqa: NPY002
        assert (before[1] == after[1]).all()
        assert before[2] == after[2]

    def test_data_untouched(self, table):
        X, y = table
        X0, y0 = X.copy(), y.copy()
        compare_selectors(X, y, ["ccm"], n_features=[2], random_state=0)
        assert (X == X0).all()
        assert (y == y0).all()

    def test_regression(self):
        X = np.random.default_rng(0).normal(size=(80, 6))
        y = 100 + np.sin(X[:, 2]) + X[:, 4] ** 2
        result = compare_selectors(X, y, ["ccm"], n_features=[1, 2], random_state=0)
        assert result.score_name == "R²"
        means = result.summary().set_index("n_features")["mean_score"]
        assert means[2] > means[1] + 0.05

    def test_frames_and_text_labels(self, table):
        X, y = table
        frame = pd.DataFrame(X, columns=list("abcde"))
        labels = pd.Series(np.where(y == 1, "yes", "no"))
        result = compare_selectors(frame, labels, ["pearson"], n_features=[1], random_state=0)
        plain = compare_selectors(X, y, ["pearson"], n_features=[1], random_state=0)
        assert result.frame["score"].tolist() == plain.frame["score"].tolist()

    def test_estimators_of_scikit_learn(self, table):
        X, y = table
        given = {"kbest": SelectKBest(k=2), "rfe": RFE(SVC(kernel="linear"))}
        result = compare_selectors(X, y, given, n_features=[1], random_state=0)
        assert set(result.frame["selector"]) == {"kbest", "rfe"}

    def test_failures_are_counted_and_said(self, table):
        X, y = table
        folds = [(np.arange(10), np.arange(10, 20)), (np.arange(30), np.arange(30, 40))]
        with pytest.warns(FitFailedWarning, match=r"1 of 2 rankings.*RuntimeError: too few"):
            result = compare_selectors(X, y, {"b": Broken()}, cv=folds, n_features=[1, 2])
        assert result.frame["score"].isna().tolist() == [True, True, False, False]
        assert result.summary()["n_failed"].tolist() == [1, 1]

    @pytest.mark.parametrize("n_features", [[0], [6], []])
    def test_impossible_sizes(self, table, n_features):
        with pytest.raises(ValueError, match="from 1 to 5"):
            compare_selectors(*table, ["pearson"], n_features=n_features)

    def test_unknown_selector(self, table):
        with pytest.raises(ValueError, match=r"'ccn'.*Known names: ccm"):
            compare_selectors(*table, ["ccn"])

    def test_selector_without_order(self):
        with pytest.raises(TypeError, match="ranking_"):
            feature_order(object())


class TestCategories:
    """A category is one feature to every selector, however many levels it has."""

    @pytest.fixture
    def shop(self):
        rng = np.random.default_rng(0)
        city = rng.choice(["Bonn", "Oslo", "Rome"], 120)
        age = rng.uniform(18, 80, 120)
        y = np.where((age > 45) ^ (city == "Rome"), "yes", "no")
        frame = pd.DataFrame({"noise": rng.normal(size=120), "city": city, "age": age})
        return frame.astype({"city": "category"}), y

    def test_features_are_counted_not_levels(self, shop):
        X, y = shop
        result = compare_selectors(X, y, ["ccm", "anova", "mrmr"], random_state=0)
        assert set(result.frame["n_features"]) == {1, 2, 3}
        table = result.summary().set_index(["selector", "n_features"])["mean_score"]
        assert table["ccm", 2] > 0.9
        # With all features every selector gives the machine the same columns.
        assert table.xs(3, level="n_features").nunique() == 1

    def test_named_columns_of_an_array_are_as_good_as_dtypes(self, shop):
        X, y = shop
        options = {"n_features": [1, 2], "random_state": 0}
        by_dtype = compare_selectors(X, y, ["ccm", "anova"], **options)
        by_number = compare_selectors(
            X.astype(object).to_numpy(), y, ["ccm", "anova"], categorical_features=[1], **options
        )
        columns = ["selector", "fold", "n_features", "score"]
        pd.testing.assert_frame_equal(by_dtype.frame[columns], by_number.frame[columns])

    def test_a_category_stands_where_its_best_level_does(self):
        categories = read_categories(np.array([[1, 7], [2, 7], [3, 9]]), [0])
        assert categories.source.tolist() == [0, 0, 0, 1]
        selector = SimpleNamespace(get_params=dict)
        selector.fit = lambda X, y: SimpleNamespace(ranking_=[4, 1, 3, 2])
        order = order_of_features(selector, None, None, categories)
        assert order.tolist() == [0, 1]
        selector.fit = lambda X, y: SimpleNamespace(ranking_=[4, 2, 3, 1])
        assert order_of_features(selector, None, None, categories).tolist() == [1, 0]

    def test_missing_levels_are_refused_by_name(self, shop):
        X, y = shop
        X.loc[3, "city"] = None
        with pytest.raises(ValueError, match="'city' has missing values"):
            compare_selectors(X, y, ["anova"], random_state=0)


def test_what_cannot_be_compared_is_told_in_words(table):
    X, y = table
    frame = pd.DataFrame(X).rename(columns=str).assign(word="a")
    with pytest.raises(ValueError, match="'word'"):
        compare_selectors(frame, y, ["pearson"], random_state=0)
    with pytest.raises(ValueError, match="one response at a time"):
        compare_selectors(X, np.column_stack([y, y]), ["pearson"], random_state=0)


class TestRegistry:
    @pytest.mark.parametrize("name", [n for n in named_selectors() if n != "extra-trees"])
    def test_every_name_ranks_every_feature(self, name):
        X, y = make_shell(30, random_state=0, return_X_y=True)
        selector = named_selectors()[name].make(4, random_state=0)
        too_small = name in ("ccm-free-1", "ccm-free-10")
        with pytest.warns(UserWarning, match="lambda2") if too_small else nullcontext():
            order = feature_order(selector.fit(X, y))
        assert sorted(order) == list(range(10))

    def test_budgets(self):
        specs = named_selectors()
        assert specs["ccm-single"].budget(1024, 100) == 100
        assert specs["ccm"].budget(13, 13) == 3
        assert specs["hsic-lasso"].budget(13, 13) == 13

    def test_sizes(self):
        assert default_sizes(3) == [1, 2, 3]
        assert default_sizes(101) == list(range(5, 101, 5))


class TestMedianRank:
    def test_known_order(self):
        def generator(n, random_state):
            data = make_xor(n, random_state=random_state)
            data.data[:, data.informative] *= 100
            return data

        result = median_rank(generator, {"widest": Widest()}, n_samples=[10, 20], n_repeats=12)
        assert repr(result) == (
            "<MedianRankResult: 24 median ranks of widest; see .summary(), .frame and .plot()>"
        )
        assert (result.frame["median_rank"] == 2).all()
        assert len(result.frame) == 24
        assert result.summary()["n_draws"].tolist() == [12, 12]

    def test_position_tells_nothing(self):
        """A selector that ties everything and goes by position is at chance, not optimal."""
        result = median_rank(make_xor, {"spy": Spy()}, n_samples=[10], n_repeats=200)
        assert result.frame["median_rank"].mean() == pytest.approx(5.5, abs=0.6)

    def test_selectors_see_the_same_draws(self):
        median_rank(make_xor, {"a": Spy(), "b": Spy()}, n_samples=[12], n_repeats=3)
        assert SEEN[:3] == SEEN[3:]
        assert SEEN[0] != SEEN[1]

    def test_failures_are_missing(self):
        with pytest.warns(FitFailedWarning, match="3 of 6"):
            result = median_rank(make_xor, {"b": Broken()}, n_samples=[10, 20], n_repeats=3)
        assert result.summary()["n_failed"].tolist() == [3, 0]
        assert result.summary()["mean_rank"].isna().tolist() == [True, False]


def _most_threads(unit):
    np.ones((8, 8)) @ np.ones((8, 8))
    return max(library["num_threads"] for library in threadpool_info())


class TestRunner:
    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_one_thread_inside(self, n_jobs):
        assert run_units([{"x": 0}, {"x": 1}], _most_threads, n_jobs=n_jobs) == [1, 1]

    def test_results_in_order_of_units(self):
        units = [{"x": x} for x in range(20)]
        assert run_units(units, lambda unit: unit["x"], n_jobs=2) == list(range(20))

    def test_an_error_in_the_work_is_raised_and_the_rest_is_kept(self, tmp_path):
        def work(unit):
            return 1 // unit["x"]

        path = tmp_path / "log.jsonl"
        with pytest.raises(ZeroDivisionError):
            run_units([{"x": 1}, {"x": 0}], work, log=path)
        with ResultLog(path, {"covmin": __version__}) as log:
            assert {"x": 1} in log

    def test_progress(self, capsys):
        run_units([{"x": 1}], lambda unit: 1, progress=True, description="things")
        assert "things" in capsys.readouterr().err


class TestLog:
    def test_resumes_after_a_torn_line(self, table, tmp_path):
        X, y = table
        path = tmp_path / "log.jsonl"
        arguments = {"n_features": [1, 2], "random_state": 0, "log": path}
        first = compare_selectors(X, y, {"spy": Spy()}, **arguments)
        assert len(SEEN) == 5
        path.write_bytes(path.read_bytes()[:-25])
        SEEN.clear()
        second = compare_selectors(X, y, {"spy": Spy()}, **arguments)
        assert len(SEEN) == 1
        drop = {"columns": "fit_seconds"}
        pd.testing.assert_frame_equal(first.frame.drop(**drop), second.frame.drop(**drop))
        SEEN.clear()
        third = compare_selectors(X, y, {"spy": Spy()}, **arguments)
        assert not SEEN
        pd.testing.assert_frame_equal(second.frame, third.frame)

    def test_torn_header_starts_anew(self, tmp_path):
        path = tmp_path / "log.jsonl"
        path.write_text('{"format":"covm')
        assert run_units([{"x": 1}], lambda unit: unit["x"], log=path) == [1]
        assert [json.loads(line) for line in path.read_text().splitlines()][1] == {
            "unit": {"x": 1},
            "result": 1,
        }

    def test_other_settings_are_refused(self, table, tmp_path):
        X, y = table
        path = tmp_path / "log.jsonl"
        compare_selectors(X, y, ["pearson"], n_features=[1], random_state=0, log=path)
        kept = path.read_bytes()
        with pytest.raises(ValueError, match=r"(?s)random_state: there 0, now 1.*another file"):
            compare_selectors(X, y, ["pearson"], n_features=[1], random_state=1, log=path)
        with pytest.raises(ValueError, match="data: there"):
            compare_selectors(X + 1, y, ["pearson"], n_features=[1], random_state=0, log=path)
        assert path.read_bytes() == kept

    def test_other_parameters_of_a_users_selector_are_refused(self, table, tmp_path):
        X, y = table
        arguments = {"n_features": [1], "random_state": 0, "log": tmp_path / "log.jsonl"}
        compare_selectors(X, y, {"k": SelectKBest(k=1)}, **arguments)
        with pytest.raises(ValueError, match="selectors: there"):
            compare_selectors(X, y, {"k": SelectKBest(k=2)}, **arguments)

    def test_seed_is_needed(self, table, tmp_path):
        with pytest.raises(ValueError, match="random_state=0"):
            compare_selectors(*table, log=tmp_path / "log.jsonl")

    def test_damage_in_the_middle(self, tmp_path):
        path = tmp_path / "log.jsonl"
        run_units([{"x": 1}, {"x": 2}], lambda unit: unit["x"], log=path)
        lines = path.read_text().splitlines()
        path.write_text("\n".join([lines[0], lines[1][:5], lines[2], ""]))
        with pytest.raises(ValueError, match=r"Line 2 of .* is damaged"):
            run_units([{"x": 1}], lambda unit: unit["x"], log=path)

    def test_reading_changes_nothing(self, tmp_path):
        path = tmp_path / "log.jsonl"
        run_units([{"x": 1}, {"x": 2}], lambda unit: unit["x"], log=path)
        torn = path.read_bytes()[:-4]
        path.write_bytes(torn)
        assert run_units([{"x": 1}, {"x": 2}], None, log=path, run=False) == [1, None]
        assert path.read_bytes() == torn
        assert run_units([{"x": 1}], None, log=tmp_path / "none.jsonl", run=False) == [None]
        assert not (tmp_path / "none.jsonl").exists()

    def test_not_a_log(self, tmp_path):
        path = tmp_path / "other.json"
        path.write_text('{"a": 1}\n')
        with pytest.raises(ValueError, match="not a file of covmin's results"):
            ResultLog(path, {})

    def test_more_repeats_reuse_what_is_there(self, tmp_path):
        arguments = {"n_samples": [12], "log": tmp_path / "log.jsonl"}
        median_rank(make_xor, {"spy": Spy()}, n_repeats=10, **arguments)
        median_rank(make_xor, {"spy": Spy()}, n_repeats=20, **arguments)
        assert len(SEEN) == 20

    def test_killed_process_resumes(self, tmp_path):
        """A run killed for good, mid-work, is taken up by the next without doing work twice."""
        path, done = tmp_path / "log.jsonl", tmp_path / "done"
        program = textwrap.dedent(
            f"""
            import time
            from covmin.evaluation.runner import run_units

            def work(unit):
                with open({str(done)!r}, "a") as file:
                    file.write(f"{{unit['x']}}\\n")
                time.sleep(0.05)
                return unit["x"] ** 2

            print(run_units([{{"x": x}} for x in range(30)], work, log={str(path)!r}))
            """
        )
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen([sys.executable, "-c", program], env=environment)
        while not path.exists() or path.read_bytes().count(b"\n") < 4:
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        finished = path.read_bytes().count(b"\n") - 1
        assert finished < 30
        out = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, check=True
        )
        assert json.loads(out.stdout) == [x**2 for x in range(30)]
        # The unit that was under way when the process died is the only one done twice.
        assert len(done.read_text().split()) <= 31


class TestDisplays:
    @pytest.mark.parametrize("protocol", ["nested", "paper"])
    def test_accuracy_curves(self, table, protocol):
        X, y = table
        result = compare_selectors(
            X, y, ["ccm", "pearson"], protocol=protocol, n_features=[1, 2], random_state=0
        )
        display = result.plot(title="mine")
        assert f"protocol: {protocol}" in display.ax_.get_title()
        assert display.ax_.get_xlabel() == "number of selected features"
        assert display.ax_.get_ylabel() == "cross-validated accuracy"
        assert len(display.lines_) == 2
        assert len({line.get_marker() for line in display.lines_}) == 2
        display.figure_.canvas.draw()

    def test_two_protocols_are_told_apart(self, table):
        X, y = table
        frames = [
            compare_selectors(
                X, y, ["ccm"], protocol=p, n_features=[1, 2], random_state=0
            ).summary()
            for p in ("nested", "paper")
        ]
        display = AccuracyCurveDisplay.from_results(pd.concat(frames)).plot()
        labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
        assert labels == ["CCM (path) (nested)", "CCM (path) (paper)"]
        assert display.lines_[0].get_linestyle() != display.lines_[1].get_linestyle()

    def test_median_ranks(self):
        result = median_rank(
            {"xor": make_xor, "binary": make_shell},
            ["ccm-single", "pearson"],
            n_samples=[20, 30],
            n_repeats=2,
        )
        display = MedianRankDisplay.from_results(result, ["pearson", "ccm-single"]).plot()
        assert [ax.get_title() for ax in display.axes_] == ["xor", "binary"]
        assert "median rank" in display.figure_.get_suptitle()
        assert "Protocol" in display.figure_.get_suptitle()
        texts = [text.get_text() for text in display.legend_.get_texts()]
        assert texts == ["pearson", "CCM (single)", "optimal"]
        optimal = display.axes_[0].lines[-1]
        assert optimal.get_linestyle() == ":"
        assert optimal.get_ydata()[0] == 2
        display.figure_.canvas.draw()


class TestReproduce:
    def test_synthetic(self, tmp_path):
        arguments = ["synthetic", "--quick", "--output", str(tmp_path), "--quiet", "--repeats", "2"]
        arguments += ["--samples", "20", "--samples", "30"]
        for name in ("ccm-single", "pearson", "ccm-soft-0.1"):
            arguments += ["--only", name]
        outcome = CliRunner().invoke(app, arguments)
        assert outcome.exit_code == 0, outcome.output
        table = pd.read_csv(tmp_path / "results" / "synthetic-quick.csv")
        assert set(table["protocol"]) == {"median rank"}
        assert len(table) == 3 * 3 * 2
        assert "protocol: median rank" in (tmp_path / "results/synthetic-quick.md").read_text()
        for stem in ("synthetic-quick", "synthetic-quick-variants"):
            for suffix in ("png", "svg"):
                assert (tmp_path / "figures" / f"{stem}.{suffix}").stat().st_size > 1000
        (tmp_path / "results" / "synthetic-quick.csv").unlink()
        again = CliRunner().invoke(app, [*arguments, "--no-run", "--only", "mi"])
        assert "Taking up the run" in again.output
        pd.testing.assert_frame_equal(
            pd.read_csv(tmp_path / "results" / "synthetic-quick.csv"), table
        )

    def test_real(self, tmp_path):
        arguments = ["real", "--quick", "--output", str(tmp_path), "--quiet", "--dataset", "wine"]
        arguments += ["--only", "pearson", "--only", "ccm-single"]
        outcome = CliRunner().invoke(app, arguments)
        assert outcome.exit_code == 0, outcome.output
        table = pd.read_csv(tmp_path / "results" / "real-quick.csv")
        assert set(table["protocol"]) == {"paper", "nested"}
        assert len(table) == 2 * 2 * 13
        for protocol in ("paper", "nested"):
            picture = (tmp_path / "figures" / f"real-quick-{protocol}.svg").read_text()
            assert f"protocol: {protocol}" in picture

    def test_settings_mismatch_is_a_message(self, tmp_path):
        path = tmp_path / "results" / "real.jsonl"
        path.parent.mkdir()
        path.write_text('{"format":"covmin-results-1","settings":{"random_state":7}}\n')
        outcome = CliRunner().invoke(app, ["real", "-o", str(tmp_path), "--dataset", "wine", "-q"])
        assert outcome.exit_code == 2
        assert "other settings" in outcome.output

    def test_full_settings_cover_the_paper(self):
        assert len(SETS) == 14
        assert {"mrmr", "bahsic", "mi", "ccm", "ccm-single"} <= set(METHODS)
        assert curve_task("wine").sizes == list(range(1, 14))

    def test_protocol_by_name(self):
        with pytest.raises(ValueError, match="honest"):
            run_real(datasets=["wine"], selectors=["pearson"], protocols=["honest"])

    def test_functions_run_without_a_log(self):
        result = run_synthetic(n_samples=[12], n_repeats=1, selectors=["pearson"])
        assert len(result.frame) == 3
