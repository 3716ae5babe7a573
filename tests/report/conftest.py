"""A report on the wine data, whose columns have names that are markup."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from covmin import CCMSelector
from covmin.datasets import make_survival
from covmin.report import build_report, render_report

EVIL = "</script><script>alert(1)</script>"


@pytest.fixture(scope="package")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X.rename(columns={"hue": EVIL, "ash": '<b>ash</b> & "co"'})
    return CCMSelector(random_state=0).fit(X, y), X, y


@pytest.fixture(scope="package")
def wine_report(wine):
    return build_report(*wine, target_name="<i>cultivar</i>", source="wine.csv")


@pytest.fixture(scope="package")
def wine_page(wine_report):
    return render_report(wine_report)


@pytest.fixture(scope="package")
def years():
    """A response that follows years and districts, whose copy has numbers for names."""
    rng = np.random.default_rng(0)
    district = rng.choice(list("abc"), 120)
    X = pd.DataFrame({"year": rng.integers(2001, 2021, 120).astype(float)})
    X["day"] = 20070100 + rng.integers(0, 240, 120)
    X["district"] = pd.Categorical(district)
    X["code"] = pd.Categorical(np.searchsorted(list("abc"), district))
    y = 2.0 * (district == "b") + (X["year"] - 2010) / 6 + 0.1 * rng.normal(size=120)
    return X, y.to_numpy()


@pytest.fixture(scope="package")
def incomplete():
    """A table with missing values, dates and few numbers, and a selector that was fitted on it."""
    rng = np.random.default_rng(0)
    n = 200
    X = pd.DataFrame({"income": rng.normal(50_000, 9000, n), "rooms": rng.integers(1, 5, n)})
    y = np.where(X["income"] + 5000 * rng.standard_normal(n) > 50_000, "stayed", "left")
    X["when"] = pd.Timestamp("2018-03-01") + pd.to_timedelta(rng.integers(0, 1500, n), unit="D")
    X["plan"] = rng.choice(["basic", "gold"], n)
    X.loc[y == "left", "income"] = X["income"].where(rng.random(n) < 0.6)
    X.loc[::10, "plan"] = None
    return CCMSelector(2).fit(X, y), X, y


@pytest.fixture(scope="package")
def survival():
    """Times to an event, a category and missing values, with a fitted selector."""
    X, y = make_survival(200, 3, random_state=0, return_X_y=True)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)])
    frame["stage"] = np.where(X[:, 0] > 0.5, "late", "early")
    frame.loc[::8, "x3"] = np.nan
    return CCMSelector().fit(frame, y), frame, y
