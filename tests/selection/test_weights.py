"""Weights of samples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from covmin import (
    CCMSelector,
    Formulation,
    Fourier,
    conditional_covariance_trace,
)

from .common import FORMULATIONS, same_fit


class TestSampleWeights:
    @pytest.mark.parametrize("options", FORMULATIONS)
    @pytest.mark.parametrize("standardize", [True, False, "rank"])
    def test_integers_equal_repeated_rows(self, xor, options, standardize):
        X, y = xor
        # A few steps on a system this ill-conditioned magnify rounding.
        if getattr(options.get("formulation"), "inverse", "exact") == "free":
            options = options | {"epsilon": 0.5}
        counts = np.random.default_rng(0).integers(0, 4, 60)
        selector = CCMSelector(3, standardize=standardize, **options)
        weighted = clone(selector).fit(X, y, sample_weight=counts)
        repeated = clone(selector).fit(X.repeat(counts, axis=0), y.repeat(counts))
        same_fit(weighted, repeated)

    def test_so_with_a_real_response_and_its_kernel(self, additive):
        X, y = additive
        counts = np.random.default_rng(0).integers(0, 4, 60)
        for kernel in ("linear", "gaussian"):
            weighted = CCMSelector(3, formulation=Formulation(response_kernel=kernel)).fit(
                X, y, sample_weight=counts
            )
            repeated = CCMSelector(3, formulation=Formulation(response_kernel=kernel)).fit(
                X.repeat(counts, axis=0), y.repeat(counts)
            )
            same_fit(weighted, repeated)

    @pytest.mark.parametrize("standardize", [True, "rank"])
    def test_so_with_everything_chosen_by_cross_validation(self, xor, standardize):
        X, y = xor
        counts = np.random.default_rng(0).integers(1, 4, 60)
        selector = CCMSelector(epsilon=[0.001, 0.01], standardize=standardize)
        weighted = clone(selector).fit(X, y, sample_weight=counts)
        repeated = clone(selector).fit(X.repeat(counts, axis=0), y.repeat(counts))
        same_fit(weighted, repeated)
        assert_allclose(weighted.cv_results_.mean_error, repeated.cv_results_.mean_error, rtol=1e-6)

    def test_zero_is_removal_and_scale_does_not_matter(self, xor):
        X, y = xor
        weight = np.r_[np.zeros(20), np.ones(40)]
        removed = CCMSelector(3).fit(X[20:], y[20:])
        same_fit(CCMSelector(3).fit(X, y, sample_weight=weight), removed, rtol=0)
        same_fit(CCMSelector(3).fit(X, y, sample_weight=0.1 * weight), removed)

    def test_order_of_rows_does_not_matter(self, xor):
        X, y = xor
        rows = np.random.default_rng(0).permutation(60)
        # Components in single precision are summed over the rows as they come.
        by_components = {"approximation": Fourier(64)}
        for options, rtol in (({}, 1e-8), (by_components, 1e-5)):
            one, other = CCMSelector(**options), CCMSelector(**options)
            same_fit(one.fit(X[rows], y[rows]), other.fit(X, y), rtol)

    @pytest.mark.parametrize(
        ("weight", "message"),
        [
            (np.ones(3), "one entry for each"),
            (-np.ones(60), "≥ 0"),
            (np.full(60, np.nan), "finite"),
            (np.eye(60)[0], "at least 2"),
        ],
    )
    def test_bad_weights(self, xor, weight, message):
        with pytest.raises(ValueError, match=message):
            CCMSelector(1).fit(*xor, sample_weight=weight)

    @pytest.mark.parametrize("size", [1e308, 1e-308])
    def test_of_any_size(self, xor, size):
        X, y = xor
        weights = dict.fromkeys(np.unique(y), size)
        plain = CCMSelector(3).fit(X, y)
        same_fit(CCMSelector(3, class_weight=weights).fit(X, y), plain)
        same_fit(CCMSelector(3).fit(X, y, sample_weight=np.full(60, size)), plain)
        heavy = CCMSelector(3, class_weight=weights)
        same_fit(heavy.fit(X, y, sample_weight=np.full(60, 1e10)), plain)

    def test_too_far_apart(self, xor):
        X, y = xor
        weights = dict(zip(np.unique(y), [1e308, 1e-308, 1.0, 1.0], strict=False))
        with pytest.raises(ValueError, match="too far apart"):
            CCMSelector(3, class_weight=weights).fit(X, y)

    @pytest.mark.parametrize("sizes", [(1e308, 1.0), (1.0, 1e-300)])
    def test_samples_beside_far_larger_weights_do_not_count(self, xor, sizes):
        """A kernel matrix was not finite."""
        X, y = xor
        few = CCMSelector(3).fit(X, y, sample_weight=np.arange(60) < 40)
        same_fit(CCMSelector(3).fit(X, y, sample_weight=np.repeat(sizes, [40, 20])), few)

    def test_the_criterion_takes_them(self, additive):
        X, y = additive
        counts = np.random.default_rng(0).integers(0, 4, 60)
        weighted = conditional_covariance_trace(X, y, sample_weight=counts)
        repeated = conditional_covariance_trace(X.repeat(counts, axis=0), y.repeat(counts))
        assert weighted == pytest.approx(repeated, rel=1e-9)

    def test_copies_are_left_out_together(self):
        """Else the error of a rich kernel on copied noise would be near zero."""
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
        selector = CCMSelector(epsilon=1e-4).fit(np.tile(X, (4, 1)), np.tile(y, 4))
        assert selector.cv_results_.mean_error.min() > 0.5

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    @pytest.mark.parametrize("least", [1e-6, 1e-20])
    def test_a_sample_of_next_to_no_weight_has_no_say(self, additive, dtype, least):
        X, y = additive
        weight = np.r_[least, np.ones(59)]
        weighted = CCMSelector(2).fit(X.astype(dtype), y, sample_weight=weight)
        without = CCMSelector(2).fit(X[1:].astype(dtype), y[1:])
        assert_allclose(weighted.objective_, without.objective_, rtol=1e-3)
        np.testing.assert_array_equal(weighted.support_, without.support_)
