"""Direction and size of effects, in the units of the response."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from covmin import CCMSelector
from covmin.datasets import make_survival
from covmin.report import build_report


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(0, 10, (400, 4)), columns=["up", "down", "bowl", "noise"])
    X["plan"] = rng.choice(["basic", "gold", "plus"], 400)
    y = 20 * X["up"] - 5 * X["down"] + 4 * (X["bowl"] - 5) ** 2 + 60 * (X["plan"] == "gold")
    return X, y


def effects_of(selector, X, y):
    report = build_report(selector, X, y)
    return {report["names"][plot["feature"]]: plot["effect"] for plot in report["plots"]}


def test_an_effect_has_its_direction_and_its_size(table):
    X, y = table
    said = effects_of(CCMSelector(4, random_state=0).fit(X, y), X, y)
    assert said["noise"] is None
    for name, verb, slope in (("up", "rises", 20.0), ("down", "falls", -5.0)):
        words, *numbers = re.fullmatch(
            r"Mean prediction (\w+) from (\S+) at (\S+) to (\S+) at (\S+)", said[name]
        ).groups()
        assert words == verb
        first, low, last, high = map(float, numbers)
        assert (last - first) / (high - low) == pytest.approx(slope, rel=0.1)
        assert [low, high] == pytest.approx(X[name].quantile([0.1, 0.9]), rel=0.1)
    assert re.match(r"Mean prediction is lowest at [45]\S+ ", said["bowl"])
    low, high = map(float, re.findall(r"\((\S+)\)", said["plan"]))
    assert high - low == pytest.approx(60.0, rel=0.1)
    assert "highest for gold" in said["plan"]


def test_units_of_the_response_do_not_matter(table):
    X, y = table
    said = effects_of(CCMSelector(1, random_state=0).fit(X, 1e100 * y), X, 1e100 * y)
    assert re.search(r"rises from \S+e\+10\d at", said["up"])


def test_classes_have_frequencies(table):
    X, _ = table
    two = np.where(X["up"] > 5, "yes", "no")
    said = effects_of(CCMSelector(1, random_state=0).fit(X, two), X, two)
    words = r"Frequency of “yes” rises from (\S+)% at \S+ to (\S+)% at \S+"
    low, high = map(float, re.fullmatch(words, said["up"]).groups())
    assert low < 5
    assert high > 95
    three = pd.cut(X["up"], 3, labels=["a", "b", "c"]).astype(str)
    said = effects_of(CCMSelector(1, random_state=0).fit(X, three), X, three)
    # The middle class comes and goes, which is the largest change.
    assert re.match("Frequency of “b” is lowest at .*, highest at 5", said["up"])


def test_an_interaction_alone_has_no_direction():
    X = np.random.default_rng(0).choice([-1.0, 1.0], (300, 4))
    y = X[:, 0] * X[:, 1] > 0
    said = effects_of(CCMSelector(2, random_state=0).fit(X, y), X, y)
    for name in ("x0", "x1"):
        shares = [float(share) for share in re.findall(r"(\d+)%", said[name])]
        assert np.ptp(shares) < 15


def test_other_responses():
    X, y = make_survival(200, random_state=0, return_X_y=True)
    for response in (y, X[:, :2]):
        said = effects_of(CCMSelector(1, random_state=0).fit(X, response), X, response)
        assert set(said.values()) == {None}
