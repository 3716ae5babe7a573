"""Code that repeats a fit."""

from __future__ import annotations

from sklearn.datasets import load_wine

from covmin import CCMSelector, Formulation, LongRun
from covmin.kernels import Polynomial
from covmin.report.build import reproduction_code


def test_code_repeats_the_fit(wine, wine_report):
    X, y = load_wine(return_X_y=True, as_frame=True)
    scope = {"X": X, "y": y}
    exec(wine_report["code"], scope)
    assert (scope["selector"].ranking_ == wine[0].ranking_).all()


def test_code_imports_the_objects_it_makes():
    X, y = load_wine(return_X_y=True)
    selector = CCMSelector(
        2,
        kernel=Polynomial(degree=2),
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
