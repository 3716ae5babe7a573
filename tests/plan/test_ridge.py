"""The default ridge: by the numbers of samples and features, and by the noise."""

import numpy as np
import pytest

from covmin import CCMSelector
from covmin.core.kernels import Mixed
from covmin.core.problem import Problem, Sample
from covmin.plan.kernel import mixing_share
from covmin.plan.look import Look
from covmin.plan.ridge import ridge_for_classes


def gene_like(n=60, d=300, flipped=0.0, seed=0):
    """Two classes that the first six of d features tell, some labels wrong."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d))
    X[:, :6] += 1.6 * y[:, None]
    wrong = rng.permutation(n)[: round(flipped * n)]
    y[wrong] = 1 - y[wrong]
    return X, y


def ridge_of(X, y, p=None):
    """The ridge for two classes by the mixed kernel."""
    n, d = X.shape
    p = np.full(n, 1.0 / n) if p is None else p
    Y = (y - p @ y)[:, None]
    Y = Y / np.sqrt(p @ Y**2)
    kernel = Mixed(mixing_share("classification", n, d))
    problem = Problem.exact(Sample(X, Y, p), kernel=kernel, epsilon=1.0)
    return ridge_for_classes(n, d, Look(problem, "classification").error_of_all)[0]


def test_noisier_labels_get_a_larger_ridge():
    X, _ = gene_like()
    # Features that all tell the class: next to no noise.
    telling = X[:, :6].repeat(50, axis=1) + 0.5 * X
    ridges = [ridge_of(telling, gene_like(flipped=share)[1]) for share in (0.0, 0.1, 0.2)]
    assert ridges[0] < 0.01
    assert ridges[0] < ridges[1] < ridges[2] <= 0.1


def test_the_ridge_stays_where_nothing_can_be_said():
    X, y = gene_like()
    labels = np.random.default_rng(3).permutation(y)
    assert ridge_of(X, labels) == pytest.approx(0.5 / 300)


@pytest.mark.parametrize(
    ("n", "d", "ridge"),
    [
        (300, 5, 0.01),
        (300, 100, 0.005),
        (300, 250, 0.002),
        (30, 5, 0.005),  # few samples
        (1000, 5, 0.005),  # many
    ],
)
def test_the_ridge_falls_with_the_features_and_for_few_and_many_samples(n, d, ridge):
    X, y = gene_like(n, d=max(d, 6))
    assert ridge_of(X[:, :d], y) == pytest.approx(ridge)


def test_the_ridge_takes_a_repeated_sample_as_one_of_double_weight():
    X, y = gene_like(flipped=0.05, d=100)
    X[:, 6:] *= 0.2
    repeated = np.r_[np.arange(60), np.arange(20)]
    by_weight = CCMSelector(3).fit(X, y, sample_weight=np.bincount(repeated)).epsilon_
    by_rows = CCMSelector(3).fit(X[repeated], y[repeated]).epsilon_
    assert by_weight > 0.001
    assert by_rows == pytest.approx(by_weight, rel=1e-9)


def test_only_the_default_ridge_of_a_path_follows_the_noise():
    X, y = gene_like(flipped=0.15, d=100)
    X[:, 6:] *= 0.5
    options = {"standardize": False}
    assert CCMSelector(5, **options).fit(X, y).epsilon_ > 0.01
    assert CCMSelector(5, epsilon=0.002, **options).fit(X, y).epsilon_ == 0.002
    assert CCMSelector(5, formulation="paper", **options).fit(X, y).epsilon_ == 0.001
    assert CCMSelector(5, **options).fit(X, y + 0.5 * X[:, 0]).epsilon_ == 0.01  # regression
