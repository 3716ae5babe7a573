"""Features that give the response away are named when a selector is fitted."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from covmin import CCMSelector
from covmin.remarks import CovminWarning

RNG = np.random.default_rng(0)
N = 300


def named(X, y, **parameters):
    """Return the columns that a fit calls too good to be true."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CCMSelector(random_state=0, **parameters).fit(X, y)
    found = [each.message.remark for each in caught if isinstance(each.message, CovminWarning)]
    return [set(remark.columns) for remark in found if remark.code == "leak"]


def noise(names):
    return pd.DataFrame(RNG.standard_normal((N, len(names))), columns=list(names))


@pytest.mark.parametrize("m", [2, "auto"])
def test_one_column_is_the_response_in_other_units(m):
    X = noise("abcd").assign(fahrenheit=np.linspace(0, 100, N) * 1.8 + 32)
    assert named(X, np.linspace(0, 100, N), n_features_to_select=m) == [{"fahrenheit"}]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("m", "n_scores"), [("auto", 10), (10, 10), (12, 10), (5, 10), (20, 20)])
def test_scores_that_add_up(m, n_scores, seed):
    values = np.random.default_rng(seed).integers(0, 11, (N, n_scores))
    scores = pd.DataFrame(values, columns=[f"q{k}" for k in range(n_scores)])
    X = scores.astype(float).join(noise("abc"))
    assert named(X, scores.sum(axis=1), n_features_to_select=m) == [set(scores)]


@pytest.mark.parametrize("seed", range(3))
def test_sums_of_many_columns_are_not_fitted_by_chance(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((60, 1500)), rng.standard_normal(60)
    assert named(X, y, n_features_to_select=12) == []
    y = X[:, :10].sum(axis=1)
    assert named(X, y + 0.1 * y.std() * rng.standard_normal(60), n_features_to_select=10) == []


def test_the_middle_between_the_least_and_the_most():
    X = noise("abcd").assign(low=RNG.normal(10, 3, N))
    X["high"] = X["low"] + RNG.exponential(2, N)
    assert named(X, (X["low"] + X["high"]) / 2) == [{"low", "high"}]


def test_a_text_that_contains_the_class():
    y = RNG.choice(["spam", "ham", "eggs"], N)
    X = noise("ab").assign(subject=[f"{word} of day {RNG.integers(30)}" for word in y])
    types = {"subject": "category"}
    assert named(X, y, column_types=types) == [{"subject"}]
    X["subject"] = X["subject"].sample(frac=1.0, random_state=0).to_numpy()
    assert named(X, y, column_types=types) == []


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer, load_diabetes])
def test_honest_tables_are_not_accused(load):
    assert named(*load(return_X_y=True, as_frame=True), n_features_to_select=5) == []


def test_what_is_good_but_not_perfect_is_not_accused():
    X = noise("abcdef")
    y = X["a"] * X["b"] + X["c"] + 0.1 * RNG.standard_normal(N)
    assert named(X, y) == []


def test_what_is_known_only_after_the_event():
    time, event = RNG.exponential(1.0, N), RNG.random(N) < 0.4
    y = pd.DataFrame({"event": event, "time": time})
    cause = pd.Series(RNG.choice(["heart", "lung", "other"], N)).where(event)

    assert named(noise("ab").assign(cause=cause), y, task="survival") == [{"cause"}]
    assert named(noise("ab").assign(code=2.0 - event), y, task="survival") == [{"code"}]
    mixed = cause.sample(frac=1.0, random_state=0).to_numpy()
    assert named(noise("ab").assign(cause=mixed), y, task="survival") == []
