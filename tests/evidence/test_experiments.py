"""The experiments on regression sets and on counts of words: rivals, splits, tables, pages."""

from __future__ import annotations

import re
from argparse import Namespace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

regression = pytest.importorskip(
    "experiments.regression", reason="run in a checkout of the repository"
)
from experiments import regression_tables as tables  # noqa: E402
from experiments import words  # noqa: E402
from experiments.rivals import BoostingSelector, LassoSelector, PermutationSelector  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "experiments" / "results"


def two_effects(n=150, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, 2.0 * X[:, 1] - X[:, 4] + 0.1 * rng.standard_normal(n)


# Rivals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rival", [LassoSelector, BoostingSelector, PermutationSelector])
def test_rivals_find_two_effects(rival):
    X, y = two_effects()
    selector = rival(2).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [1, 4]
    assert sorted(selector.ranking_) == list(range(1, 9))
    np.testing.assert_array_equal(selector.ranking_, rival(2).fit(X, y).ranking_)


@pytest.mark.filterwarnings("ignore:Regressors in active set degenerate")
def test_the_lasso_ranks_columns_that_never_enter():
    X, y = two_effects()
    X = np.column_stack([X, X[:, 1]])
    ranking = LassoSelector(2).fit(X, y).ranking_
    assert sorted(ranking) == list(range(1, 10))
    assert min(ranking[1], ranking[8]) == 1


# Splits and scores ---------------------------------------------------------------------------


def test_probes_leave_the_split_as_it_is():
    X, y = two_effects()
    plain, probed = regression.split(X, y, 3, 0), regression.split(X, y, 3, 7)
    for one, other in zip(plain, probed, strict=True):
        np.testing.assert_array_equal(one, other[:, : X.shape[1]] if one.ndim == 2 else other)
    assert probed[0].shape[1] == X.shape[1] + 7


@pytest.fixture
def folder(tmp_path):
    X, y = two_effects(200)
    np.savez(tmp_path / "effects.npz", X=X, y=y)
    return str(tmp_path)


@pytest.mark.parametrize("probes", [0, 100])
def test_scores_of_a_split(folder, probes):
    unit = {"dataset": "effects", "selector": "anova", "split": 0, "probes": probes}
    result = regression.scores(folder, unit)
    assert result["first"][:2] == [1, 4]
    assert result["probes found"] == sum(column >= 8 for column in result["first"][:5])
    assert (result["probes found"] > 0) == (probes > 0)
    assert all(0.7 < result[judge] < 1.0 for judge in regression.JUDGES)


def test_selectors_without_a_log_keep_their_rows(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(regression, "RESULTS", tmp_path)
    options = Namespace(data=folder, logs=tmp_path, jobs=1, tables=False, other=False)
    regression.run(folder, "anova", ["effects"], 0, range(2), options)
    options.tables = True
    kept = {"dataset": "effects", "selector": "mrmr", "probes": 0, "split": 0}
    kept |= {"kernel ridge": 0.5, "extra-trees": 0.5, "probes found": 0, "seconds": 1.0}
    stale = kept | {"selector": "anova", "split": 9}
    pd.DataFrame([kept, stale]).to_csv(tmp_path / "regression.csv", index=False)
    frame = regression.gather(options, ["effects"])
    found = frame[["selector", "split"]].apply(tuple, axis=1).tolist()
    assert sorted(found) == [("anova", 0), ("anova", 1), ("mrmr", 0)]


def test_words_of_too_few_texts_are_no_feature():
    texts = np.array(["good film"] * 400 + ["bad film rarely"] * 4 + ["bad film"] * 396)
    X, y, X_test, y_test = words.counts(texts, np.repeat([0, 1], 400), 0)
    assert X.shape == (500, 3)
    assert X_test.shape == (300, 3)
    assert y.mean() == y_test.mean() == 0.5


# Tables --------------------------------------------------------------------------------------


@pytest.fixture
def frame():
    """Two sets, two selectors, three splits; the second selector lacks a set with probes."""
    rows = [
        {"dataset": dataset, "selector": name, "probes": probes, "split": k}
        | {"kernel ridge": level + gain + 0.1 * k, "extra-trees": level, "seconds": 1.0}
        | {"probes found": k if probes else 0}
        for probes in (0, 100)
        for name, gain in (("ccm", 0.05), ("mrmr", 0.0))
        for dataset, level in (("bike", 0.2), ("housing", 0.4))
        for k in range(3)
        if (name, dataset, probes) != ("mrmr", "housing", 100)
    ]
    return pd.DataFrame(rows)


def test_mean_over_sets_and_its_error(frame):
    table = tables.figures(frame, ["bike", "housing"]).set_index("selector")
    error = 0.1 / np.sqrt(3) / np.sqrt(2)
    assert table.loc["mrmr", "kernel ridge"] == f"0.400 ± {error:.3f}"
    assert table.loc["ccm", "extra-trees"] == "0.300 ± 0.000"


def test_differences_are_taken_split_by_split(frame):
    gains = tables.gains(frame, ["bike", "housing"]).set_index("selector")
    assert gains.loc["mrmr", "kernel ridge"] == "0.050 ± 0.000"


def test_a_missing_set_leaves_the_mean_empty(frame):
    table = tables.figures(frame, ["bike", "housing"]).set_index("selector")
    assert table.loc["mrmr", "kernel ridge, 100 probes"] == ""
    assert table.loc["ccm", "kernel ridge, 100 probes"] != ""


def test_a_split_that_some_sets_lack_does_not_count(frame):
    unfinished = (frame["selector"] == "mrmr") & (frame["dataset"] == "housing")
    kept = tables.done_everywhere(frame[~(unfinished & (frame["split"] == 2))])
    plain = kept[kept["probes"] == 0]
    counts = plain.groupby(["selector", "dataset"])["split"].max().tolist()
    assert counts == [2, 2, 1, 1]


def test_probes_and_splits_are_counted(frame):
    costs = tables.costs(frame, ["bike", "housing"]).set_index("selector")
    assert costs.loc["ccm", "probes among the first five"].startswith("1.00 ±")
    assert costs.loc["ccm", "splits"] == "3"
    assert costs.loc["mrmr", "splits, 100 probes"] == "0"


# Pages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "report"),
    [
        ("regression", tables.report),
        ("regression-other", tables.report),
        ("words", words.report),
    ],
)
def test_tables_are_those_of_the_results(name, report):
    frame = pd.read_csv(RESULTS / f"{name}.csv")
    assert (RESULTS / f"{name}.md").read_text(encoding="utf-8") == report(frame)


def numbers(text: str) -> set[str]:
    """Numbers with a decimal point."""
    return set(re.findall(r"\d+\.\d+", text))


def test_figures_of_the_page_are_in_the_results():
    page = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    included = re.findall(r"\{include\} (\S+)", page)
    files = [(ROOT / "docs" / name).resolve() for name in included]
    known = set().union(*(numbers(file.read_text(encoding="utf-8")) for file in files))
    prose = re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)
    assert numbers(prose) <= known


# Values taken out ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["at random", "by the value"])
def test_so_many_values_are_taken_out(kind):
    from experiments.missing import with_values_taken_out

    X = two_effects(n=2000)[0]
    gaps = with_values_taken_out(X, kind, 0.2, 0)
    assert abs(np.isnan(gaps).mean() - 0.2) < 0.02
    large = np.isnan(gaps[X > 0.0]).mean()
    assert abs(large - (0.2 if kind == "at random" else 0.3)) < 0.03
    np.testing.assert_array_equal(gaps[~np.isnan(gaps)], X[~np.isnan(gaps)])


def test_a_feature_is_as_good_as_its_values_or_its_gaps():
    from experiments.missing import imputed, order

    X, y = two_effects()
    gaps = X.copy()
    gaps[y > 1.0, 6] = np.nan
    filled = imputed(gaps, gaps)[0]
    for way in ("gaps", "iterative", "mean"):
        assert sorted(order(way, gaps, filled, y)) == list(range(8))
        assert {1, 4} <= set(order(way, gaps, filled, y)[:3].tolist())


def test_simulated_times_are_censored_as_asked_for():
    from experiments.survival_responses import CANDIDATES, CENSORED, DESIGNS, simulated

    for design in DESIGNS:
        for censored in CENSORED:
            _, event, time = simulated(design, censored, 0)
            assert abs((~event).mean() - censored) < 0.02
            assert (time > 0.0).all()
    for respond in CANDIDATES.values():
        assert np.isfinite(respond(event, time)).all()


def test_probes_hold_the_values_of_columns_in_another_order():
    from experiments.survival import N_PROBES, with_probes

    X = np.arange(60.0).reshape(20, 3) % 7
    both = with_probes(X, 0)
    assert both.shape == (20, 3 + N_PROBES)
    np.testing.assert_array_equal(both[:, :3], X)
    values = {tuple(sorted(column)) for column in X.T}
    assert {tuple(sorted(column)) for column in both[:, 3:].T} <= values
