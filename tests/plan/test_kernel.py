"""Which kernel a fit uses, and its share of single effects."""

import pytest

from covmin.core.kernels import Additive, Gaussian, Laplacian, Mixed, Polynomial, RationalQuadratic
from covmin.plan.formulation import Formulation
from covmin.plan.rules import kernel_of, with_share


def test_auto_is_the_papers_for_a_single_solve():
    assert kernel_of("auto", Formulation()) == Mixed()
    assert kernel_of("auto", Formulation(strategy="single")) == Gaussian()


def test_names_and_objects():
    assert kernel_of("polynomial", Formulation()) == Polynomial()
    given = Laplacian(2.0)
    assert kernel_of(given, Formulation()) is given
    for wrong in ("gauss", 3, Gaussian, None):
        with pytest.raises(ValueError, match="kernel must be"):
            kernel_of(wrong, Formulation())
    with pytest.raises(ValueError, match="bandwidth must be"):
        kernel_of(Gaussian(-1.0), Formulation())


def test_the_share_follows_features_and_samples():
    assert with_share(Mixed(), 10, 990)[0].mixing == pytest.approx(0.495)
    assert with_share(Mixed(), 990, 10)[0].mixing == 0.3


def test_a_kernel_with_its_share():
    for kernel, expected in (
        (Mixed(0.4, bandwidth=2.0), Mixed(0.4, bandwidth=2.0)),
        (Mixed(0.0, bandwidth=2.0), RationalQuadratic(bandwidth=2.0)),
        (Mixed(1.0, bandwidth=2.0), Additive(2.0)),
        (Laplacian(2.0), Laplacian(2.0)),
    ):
        assert with_share(kernel, 100, 10)[0] == expected
