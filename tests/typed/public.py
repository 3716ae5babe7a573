"""What type checkers know of the public names.

mypy reads this file in ``make lint``, and ``pyright`` reads it too. It is not run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import covmin
from covmin import CCMSelector, KnockoffSelector, StabilitySelector, VerdictSelector
from covmin.evaluation.curves import CurveResult
from covmin.inference.dependence import DependenceTest
from covmin.kernels import Polynomial
from covmin.plan import Plan
from covmin.report import Report


def a_selector(X: np.ndarray, y: np.ndarray) -> None:
    selector = CCMSelector(5, kernel="gaussian")
    CCMSelector(5, kernel="gausian")  # type: ignore[arg-type]
    CCMSelector(5, kernel=Polynomial(degree=3), task="ordinal", standardize="rank")
    assert_type(selector.fit(X, y, sample_weight=y), CCMSelector)
    assert_type(selector.set_params(kernel="mixed"), CCMSelector)
    assert_type(selector.set_output(transform="pandas"), CCMSelector)
    assert_type(selector.set_fit_request(sample_weight=True), CCMSelector)
    assert_type(selector.get_support(), NDArray[np.bool_])
    assert_type(selector.get_support(indices=True), NDArray[np.intp])
    assert_type(selector.get_feature_names_out(), NDArray[np.object_])
    # An array, a frame or a sparse matrix, by what X is and by `set_output`.
    assert_type(selector.transform(X), Any)
    assert_type(selector.fit_transform(X, y), Any)
    assert_type(selector.report(), Report)
    assert_type(selector.report("report.html"), Path)


def fitted_attributes(selector: CCMSelector) -> None:
    assert_type(selector.ranking_, np.ndarray)
    assert_type(selector.support_, np.ndarray)
    assert_type(selector.n_features_, int)
    assert_type(selector.plan_, Plan)
    assert_type(selector.epsilon_, float)


def other_selectors(X: np.ndarray, y: np.ndarray) -> None:
    assert_type(StabilitySelector(CCMSelector(3)).fit(X, y), StabilitySelector)
    assert_type(KnockoffSelector(fdr=0.2).fit(X, y), KnockoffSelector)
    assert_type(VerdictSelector(fdr=0.2).fit(X, y), VerdictSelector)
    assert_type(KnockoffSelector().get_support(indices=True), NDArray[np.intp])


def functions(X: np.ndarray, y: np.ndarray) -> None:
    test = covmin.conditional_dependence_test(X, y, given=X)
    assert_type(test, DependenceTest)
    assert_type(test.p_value, float)
    assert_type(covmin.unexplained_variance(X, y), float)
    assert_type(covmin.conditional_covariance_trace(X, y), float)
    assert_type(covmin.compare_selectors(X, y), CurveResult)
    assert_type(CCMSelector().report("report.html", X, y), Path)
