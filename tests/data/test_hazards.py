"""Hazards, residuals and curves of times to an event."""

import naive
import numpy as np
import pytest

from covmin.data.survival import martingale_residuals, survival_curve


def cumulative_hazard(event, time, weight):
    return event - martingale_residuals(event, time, weight)


@pytest.fixture(scope="module", params=[1000, 5], ids=["distinct", "tied"])
def times(request):
    rng = np.random.default_rng(request.param)
    event, time = rng.random(40) < 0.6, rng.integers(0, request.param, 40).astype(float)
    return event.astype(float), time, rng.integers(1, 4, 40).astype(float)


def test_residuals_are_those_of_the_formula(times):
    found = martingale_residuals(*times)
    np.testing.assert_allclose(found, naive.martingale(*times), atol=1e-12)
    assert times[2] @ found == pytest.approx(0.0, abs=1e-10)


def test_a_weight_is_a_number_of_copies(times):
    event, time, weight = times
    copies = np.repeat(np.arange(time.size), weight.astype(int))
    found = cumulative_hazard(event[copies], time[copies], np.ones(copies.size))
    np.testing.assert_allclose(found, cumulative_hazard(*times)[copies])


def test_until_a_time_is_as_good_as_censored_there(times):
    event, time, weight = times
    end = np.median(time)
    early = cumulative_hazard(event * (time <= end), np.minimum(time, end), weight)
    np.testing.assert_allclose(early[time < end], cumulative_hazard(*times)[time < end])


def test_curves_and_hazards_are_those_of_scikit_survival(times):
    nonparametric = pytest.importorskip("sksurv.nonparametric")
    event, time, _ = times
    found, shares = survival_curve(event, time)
    every, curve = nonparametric.kaplan_meier_estimator(event == 1, time)
    np.testing.assert_allclose(shares, curve[np.isin(every, found)])
    every, hazard = nonparametric.nelson_aalen_estimator(event == 1, time)
    expected = hazard[np.searchsorted(every, time)]
    np.testing.assert_allclose(cumulative_hazard(event, time, np.ones(time.size)), expected)
