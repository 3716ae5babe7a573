"""How many features of tables as people bring them are kept."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from covmin import CCMSelector
from covmin.remarks import CovminWarning

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "tables"
pytestmark = [
    pytest.mark.skipif(not FOLDER.is_dir(), reason="needs ../shared"),
    pytest.mark.filterwarnings("ignore::covmin.remarks.CovminWarning"),
]


def fitted(name, target, leave_out=()):
    table = pd.read_csv(FOLDER / name).dropna(subset=target)
    return CCMSelector().fit(table.drop(columns=[target, *leave_out]), table[target])


def test_titanic_keeps_the_third_feature():
    """Two were kept, which classify clearly worse."""
    found = fitted("titanic.csv", "survived", ["alive"])
    assert found.n_features_ >= 3
    accuracy = found.cv_results_.balanced_accuracy[0]
    assert accuracy[found.n_features_ - 1] > accuracy[1] + 0.01


def test_life_expectancy_needs_few_features():
    """All 21 were kept, where 8 are within a point."""
    found = fitted("life_expectancy.csv", "Life expectancy ")
    assert found.n_features_ <= 12
    error = found.cv_results_.mean_error[0]
    chosen = found.cv_results_.n_features.tolist().index(found.n_features_)
    assert error[chosen] < error.min() + 0.01


@pytest.mark.filterwarnings("always::covmin.remarks.CovminWarning")
def test_columns_of_films_that_contain_the_class_are_named():
    """`code` is the year and the class, such as 2013FAIL; only the command line said so."""
    with pytest.warns(CovminWarning) as told:
        fitted("bechdel.csv", "binary")
    [leak] = [each.message.remark for each in told if each.message.remark.code == "leak"]
    assert "code" in leak.columns


@pytest.mark.slow
def test_the_curve_of_flights_does_not_explode():
    """From 0.14 with five features it went to 0.84 with six; the constant `year` was kept."""
    found = fitted("flights_20000.csv.gz", "arr_delay")
    error = found.cv_results_.mean_error[0]
    assert (np.diff(error) < 0.1).all()  # shares of the variance
    assert not found.support_[found.constant_].any()
