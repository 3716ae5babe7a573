"""What is drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from covmin import CCMSelector
from covmin.report import build_report


@pytest.fixture(scope="module")
def plots(years):
    X, y = years
    report = build_report(CCMSelector(2, task="regression").fit(X, y), X, y)
    return {report["names"][plot["feature"]]: plot for plot in report["plots"]}


def test_categories_are_drawn_as_levels_with_mean_response(plots, years):
    X, y = years
    means = pd.Series(y).groupby(X["district"].to_numpy()).mean()
    for name, levels in (("district", ["a", "b", "c"]), ("code", ["0", "1", "2"])):
        plot = plots[name]
        assert (plot["kind"], plot["levels"]) == ("means", levels)
        assert plot["counts"] == X["district"].value_counts().sort_index().tolist()
        np.testing.assert_allclose(plot["means"], means, rtol=1e-3)


def test_classes_are_shares_of_levels_and_rare_levels_one_bar():
    rng = np.random.default_rng(0)
    city = np.concatenate([np.repeat(list("abcdefghijk"), 12), rng.choice(list("pqrstuv"), 30)])
    y = np.where(city == "a", "yes", rng.choice(["yes", "no"], city.size))
    X = pd.DataFrame({"city": pd.Categorical(city), "x": rng.normal(size=city.size)})
    report = build_report(CCMSelector(2).fit(X, y), X, y)
    (plot,) = [plot for plot in report["plots"] if plot["feature"] == 0]
    assert plot["kind"] == "shares"
    assert plot["classes"] == ["no", "yes"]
    assert plot["levels"] == [*"abcdefghijk", "7 others"]
    assert plot["counts"] == [12] * 11 + [30]
    assert plot["shares"][0] == [0.0, 1.0]
    np.testing.assert_allclose(np.sum(plot["shares"], axis=1), 1.0, atol=1e-3)
    assert report["pair"]["levels"][report["pair"]["features"].index(0)] == plot["levels"]


def test_points_keep_the_digits_that_differ(plots, years):
    assert sorted(plots["day"]["x"]) == sorted(years[0]["day"])


def test_axes_of_the_widest_numbers_stay_finite():
    x = np.random.default_rng(0).normal(size=(40, 2))
    x[:2, 1] = [1.79e308, -1.79e308]
    y = (x[:, 0] > 0).astype(int)
    selector = CCMSelector(1).fit(x, y)
    report = build_report(selector, x, y)
    (wide,) = [plot for plot in report["plots"] if plot["feature"] == 1]
    assert np.isfinite(wide["grid"][1] - wide["grid"][0])
    assert np.isfinite(np.ptp(report["pair"]["xy"[report["pair"]["features"].index(1)]]))


def test_few_numbers_are_bars_and_missing_ones_a_level_or_left_out(incomplete):
    _, X, _ = incomplete
    report = build_report(*incomplete)
    plots = {report["names"][plot["feature"]]: plot for plot in report["plots"]}
    assert plots["rooms"]["levels"] == ["1", "2", "3", "4"]
    assert plots["plan"]["levels"] == ["basic", "gold", "(missing)"]
    assert plots["plan"]["counts"][2] == 20
    assert plots["income"]["missing"] == X["income"].isna().mean()
    assert plots["income"]["grid"][0] > 10_000  # no gap was drawn as a number
    assert plots["when"]["date"]
    pair = report["pair"]
    shown = len(pair["x"]) + pair["n_missing"]
    assert shown == report["described_rows"]


def test_means_of_levels_are_on_the_scale_of_the_response_and_flags_have_words():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=80), "flag": rng.random(80) < 0.5})
    y = 50.0 * X["x"].to_numpy() + 300.0
    report = build_report(CCMSelector(1, task="regression").fit(X, y), X, y)
    (plot,) = [plot for plot in report["plots"] if plot["feature"] == 1]
    assert plot["levels"] == ["False", "True"]
    assert plot["sd"] == pytest.approx(y.std())
