"""Code that repeats a fit."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from covmin import CCMSelector, Formulation, LongRun
from covmin.kernels import Polynomial
from covmin.report.build import reproduction_code


def test_code_repeats_the_fit(wine, wine_report):
    X, y = load_wine(return_X_y=True, as_frame=True)
    scope = {"X": X, "y": y}
    exec(wine_report["code"], scope)
    assert (scope["selector"].ranking_ == wine[0].ranking_).all()


def test_code_holds_long_parameters_in_full():
    parameters = {
        "feature_groups": np.repeat(np.arange(60), 2),
        "given": [f"feature {number}" for number in range(100)],
        "epsilon": np.float64(0.01),
        "class_weight": {np.int64(0): 1.0, np.int64(1): np.float64(2.0)},
    }
    code = reproduction_code(CCMSelector(5, **parameters))
    line = next(x for x in code.splitlines() if x.startswith("selector = "))
    scope = {"CCMSelector": CCMSelector}
    exec(line, scope)
    repeated = scope["selector"].get_params()
    assert repeated["n_features_to_select"] == 5
    for name, value in parameters.items():
        assert np.array_equal(repeated[name], value)


def test_code_imports_the_objects_it_makes():
    X, y = load_wine(return_X_y=True)
    selector = CCMSelector(
        2,
        kernel=Polynomial(degree=np.int64(2)),
        formulation=Formulation(strategy="single", lambda1=None),
        long_run=LongRun(checkpoint="fit.jsonl"),
        verbose=0,
    )
    code = reproduction_code(selector)
    assert code.splitlines()[:3] == [
        "from covmin import CCMSelector",
        "from covmin import Formulation",
        "from covmin.kernels import Polynomial",
    ]
    assert "kernel=Polynomial(degree=2)" in code
    assert "LongRun" not in code
    scope = {"X": X, "y": y}
    exec(code, scope)
    selector.set_params(long_run=None).fit(X, y)
    assert (scope["selector"].ranking_ == selector.ranking_).all()


def test_estimators_and_functions_are_imported():
    model = make_pipeline(StandardScaler(), LogisticRegression(C=3))
    selector = CCMSelector(estimator=model, scoring=own_score)
    code = reproduction_code(selector)
    scope: dict[str, object] = {"X": np.eye(12)[:, :3], "y": np.arange(12) % 2}
    lines = [
        line for line in code.splitlines() if ".fit(" not in line and ".transform(" not in line
    ]
    exec("\n".join(lines), scope)
    assert repr(scope["selector"].estimator) == repr(model)
    assert scope["selector"].scoring is own_score


def own_score(estimator, X, y):
    return 0.0
