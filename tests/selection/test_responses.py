"""Classes, ordered classes, several outputs, and kernels on a real response."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from covmin import (
    CCMSelector,
    Formulation,
    KnockoffSelector,
    conditional_covariance_trace,
    conditional_dependence_test,
)
from covmin.data.response import encode_response
from covmin.kernels import Mixed

from .common import same_fit


class TestCounts:
    """Whole numbers: classes, with their order beside them if a column follows it."""

    def test_features_of_counts_are_found(self):
        found = []
        for seed in range(4):
            rng = np.random.default_rng(seed)
            X = rng.standard_normal((100, 200))
            y = rng.poisson(np.exp(0.6 * X[:, 0] + 0.6 * X[:, 1]))
            selector = CCMSelector(2).fit(X, y)
            assert selector.task_ == "classification"
            assert "their order with half of the variance" in str(selector.plan_)
            found.append(selector.support_[:2].mean())
        assert np.mean(found) >= 0.85

    def test_the_order_of_names_does_not_count(self):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 6, 300)
        X = rng.standard_normal((6, 10))[y] + rng.standard_normal((300, 10))
        by_number, by_name = CCMSelector(3).fit(X, y), CCMSelector(3).fit(X, y.astype(str))
        assert "their order" not in str(by_number.plan_)
        assert_array_equal(by_number.ranking_, by_name.ranking_)

    def test_an_order_that_the_classes_hardly_follow_does_not_count(self):
        """By chance or by history, some column goes with the numbers of any persons."""
        rng = np.random.default_rng(0)
        y = rng.permutation(np.repeat(np.arange(20), 12))
        means = rng.standard_normal((20, 5))
        means[:, 0] += np.linspace(-1.5, 1.5, 20)
        X = means[y] + 0.5 * rng.standard_normal((240, 5))
        assert "their order" not in str(CCMSelector(3).fit(X, y).plan_)

    def test_a_task_that_is_given_decides(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((200, 5))
        y = np.clip(np.round(2.0 * X[:, 0] + 3.0), 0, 6).astype(int)
        assert "their order" in str(CCMSelector(1).fit(X, y).plan_)
        assert "their order" not in str(CCMSelector(1, task="classification").fit(X, y).plan_)


class TestResponses:
    def test_balanced_classes_equal_repeated_samples(self, xor):
        X, _ = xor
        y = np.r_[np.zeros(40), np.ones(20)].astype(int)
        balanced = CCMSelector(2, class_weight="balanced").fit(X, y)
        repeated = CCMSelector(2).fit(np.r_[X, X[40:]], np.r_[y, y[40:]])
        same_fit(balanced, repeated)
        same_fit(balanced, CCMSelector(2, class_weight={0: 1.0, 1: 2.0}).fit(X, y))
        assert balanced.objective_ != pytest.approx(CCMSelector(2).fit(X, y).objective_, rel=1e-3)

    @pytest.mark.parametrize(
        ("weight", "message"),
        [({"z": 1.0}, "label 'z'"), ({0: -1.0}, "positive"), ({0: 1e308, 1: 1.0}, "too far apart")],
    )
    def test_bad_class_weights(self, xor, weight, message):
        with pytest.raises(ValueError, match=message):
            CCMSelector(1, class_weight=weight).fit(*xor)

    def test_class_weights_need_classes(self, additive):
        with pytest.raises(ValueError, match="class_weight requires"):
            CCMSelector(1, class_weight="balanced").fit(*additive)

    def test_several_labels_at_once(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((120, 8))
        Y = np.c_[X[:, 0] > 0, X[:, 1] * X[:, 2] > 0].astype(int)
        selector = CCMSelector(3).fit(X, Y)
        assert_array_equal(selector.get_support(indices=True), [0, 1, 2])
        assert selector.task_ == "classification"
        assert 0.003 <= selector.epsilon_ <= 0.01
        assert [list(classes) for classes in selector.classes_] == [[0, 1], [0, 1]]

    def test_several_outputs_of_classes(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((120, 8))
        Y = np.c_[np.digitize(X[:, 0], [-0.5, 0.5]), X[:, 1] > 0]
        selector = CCMSelector(2, task="classification").fit(X, Y)
        assert_array_equal(selector.get_support(indices=True), [0, 1])
        assert [len(classes) for classes in selector.classes_] == [3, 2]

    @pytest.mark.parametrize("response_kernel", ["linear", "gaussian"])
    def test_the_unit_of_an_output_does_not_matter(self, response_kernel):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((60, 5))
        weight = rng.integers(1, 4, 60)
        Y = np.c_[X[:, 0] + 0.1 * rng.standard_normal(60), X[:, 1] ** 2]
        selector = CCMSelector(2, formulation=Formulation(response_kernel=response_kernel))
        alike = clone(selector).fit(X, Y, weight)
        other_units = np.c_[1e4 * Y[:, 0] - 7.0, Y[:, 1], np.full(60, 3.0)]
        same_fit(clone(selector).fit(X, other_units, weight), alike, rtol=1e-6)
        assert_array_equal(alike.get_support(indices=True), [0, 1])

    def test_several_outputs_are_told_as_a_mean_of_shares(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((60, 3))
        weight = rng.uniform(0.5, 2.0, 60)
        Y = np.c_[1e4 * X[:, 0], X[:, 1] ** 2]
        variances = np.cov(Y.T, aweights=weight, bias=True).diagonal()
        trace = partial(conditional_covariance_trace, X, sample_weight=weight)
        shares = [trace(y) / variance for y, variance in zip(Y.T, variances, strict=True)]
        assert_allclose(trace(Y), np.mean(shares), rtol=1e-9)

    def test_ordered_classes(self):
        """Steps: a mistake by two classes costs twice a mistake by one."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((90, 4))
        grade = np.digitize(X[:, 0] + X[:, 1], [-1, 0, 1])
        selector = CCMSelector(2, task="ordinal").fit(X, grade)
        assert_array_equal(selector.get_support(indices=True), [0, 1])
        steps = (grade[:, None] > np.arange(3)).astype(float)
        encoded = encode_response(grade, "ordinal")
        assert_allclose(
            np.sqrt(encoded.squared_unit) * encoded.Y, steps - steps.mean(axis=0), atol=1e-12
        )
        assert selector.task_ == "classification"
        assert_array_equal(selector.classes_, range(4))

    def test_an_ordered_categorical_keeps_its_order(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((90, 4))
        grade = np.digitize(X[:, 0] + X[:, 1], [-1, 0, 1])
        words = np.array(["poor", "fair", "good", "best"])
        y = pd.Series(pd.Categorical(words[grade], categories=words, ordered=True))
        by_name = CCMSelector(2).fit(X, y)
        same_fit(by_name, CCMSelector(2, task="ordinal").fit(X, grade), rtol=0)
        assert_array_equal(by_name.classes_, words)
        enum = pl.Series(words[grade], dtype=pl.Enum(list(words)))
        same_fit(by_name, CCMSelector(2).fit(X, enum), rtol=0)
        with pytest.raises(ValueError, match="ordered classes"):
            CCMSelector(2, task="ordinal").fit(X, words[grade])

    @pytest.mark.parametrize("task", ["auto", "ordinal"])
    def test_the_order_counts_wherever_a_response_is_taken(self, task):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((90, 5))
        grade = np.digitize(X[:, 0], [-1, 0, 1])
        words = np.array(["poor", "fair", "good", "best"])
        y = pd.Series(pd.Categorical(words[grade], categories=words, ordered=True))
        inner = CCMSelector(1, kernel=Mixed(mixing=0.5), epsilon=0.01)

        def answers(y, task):
            selector = KnockoffSelector(clone(inner).set_params(task=task), fdr=0.5)
            return [
                conditional_covariance_trace(X, y, task=task),
                conditional_dependence_test(X, y, task=task, n_resamples=5).statistic,
                *selector.fit(X, y).W_,
            ]

        assert answers(y, task) == answers(grade, "ordinal")

    def test_a_kernel_on_the_response_finds_what_changes_its_spread(self):
        """The mean depends on feature 1, the spread on feature 0."""
        found = {"linear": 0, "gaussian": 0}
        for seed in range(8):
            rng = np.random.default_rng(seed)
            X = rng.standard_normal((200, 8))
            y = X[:, 1] + np.exp(0.8 * X[:, 0]) * rng.standard_normal(200)
            for kernel in found:
                selector = CCMSelector(2, formulation=Formulation(response_kernel=kernel)).fit(X, y)
                found[kernel] += int(selector.support_[:2].all())
        assert found["gaussian"] == 8
        assert found["linear"] < 8

    def test_not_for_classes(self, xor):
        with pytest.raises(ValueError, match="numeric response"):
            CCMSelector(1, formulation=Formulation(response_kernel="gaussian")).fit(*xor)
