"""The default ridge: the noise over the signal, for each sample."""

import numpy as np
import pytest
from draws import gene_like
from single import problem_on

from covmin import CCMSelector
from covmin.constants import NOISE
from covmin.core.kernels import Mixed
from covmin.core.rows import Sample
from covmin.plan.look import FirstLook
from covmin.plan.rules import ridge_for_noise


def unpredicted(X, y, p=None):
    """What all features leave unpredicted, by the mixed kernel."""
    p = np.full(len(y), 1.0 / len(y)) if p is None else p
    Y = (y - p @ y)[:, None]
    return FirstLook(
        problem_on(Sample(X, Y, p), kernel=Mixed(0.3), epsilon=1.0), "classification"
    ).unpredicted


def board(n, d, seed=0):
    """The two colours of a board of four by four squares, among d features."""
    X = np.random.default_rng(seed).uniform(-2.0, 2.0, (n, d))
    return X, (np.floor(X[:, :2]).sum(axis=1) % 2).astype(int)


@pytest.mark.parametrize(
    ("n", "share", "ridge"),
    [
        (200, 0.5, 0.005),  # as much noise as signal: 1/n
        (300, 0.5, 1 / 300),
        (400, 0.75, 0.0075),
        (300, 0.1, 0.003),  # the least
        (30, 0.8, 0.01),  # the largest
    ],
)
def test_it_is_the_noise_over_the_signal_for_each_sample(n, share, ridge):
    assert ridge_for_noise(n, share)[0] == pytest.approx(ridge)


def test_it_is_small_where_the_prediction_can_be_chance():
    # Two standard errors of a correlation among 400 samples: a hundredth of the variance.
    known, unknown = ridge_for_noise(400, 0.98), ridge_for_noise(400, 0.995)
    assert known[0] == 0.01
    assert unknown[0] == 0.001
    assert "predict nothing" in unknown[1]
    assert ridge_for_noise(50, 0.95)[0] == 0.002  # of fewer samples, a tenth over their number


def test_chance_is_that_of_the_samples_seen():
    """A thousand samples predict two thousandths by chance; with ten thousand it would be much."""
    assert ridge_for_noise(10_000, 0.998, n_seen=1000)[0] == 0.001
    assert ridge_for_noise(10_000, 0.998)[0] == 0.01


def test_a_thousand_of_many_rows_tell_the_noise():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 5))
    y = X[:, 0] + rng.standard_normal(3000)
    few, many = unpredicted(X[: NOISE[0]], y[: NOISE[0]]), unpredicted(X, y)
    assert many == pytest.approx(few, rel=0.01)
    assert many == pytest.approx(0.5, abs=0.06)


def test_the_share_of_noise_is_told_from_above():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    signal = X[:, 0] + X[:, 1] ** 2 / np.sqrt(2.0)
    for share in (0.2, 0.5, 0.8):
        noise = np.sqrt(share / (1.0 - share)) * signal.std() * rng.standard_normal(300)
        assert share - 0.05 < unpredicted(X, signal + noise) < share + 0.2


def test_it_is_told_in_shares_of_the_variance():
    X, y = gene_like(d=20)
    share = unpredicted(X, y.astype(float))
    assert 0.0 < share < 1.0
    assert unpredicted(X, 100.0 * y) == pytest.approx(share, rel=1e-9)


def test_the_mean_is_never_beaten_by_chance_alone():
    X, y = gene_like()
    assert unpredicted(X, np.random.default_rng(3).permutation(y).astype(float)) <= 1.0
    assert unpredicted(X, np.zeros(60)) == 1.0


def test_noisier_labels_get_a_larger_ridge():
    X, _ = gene_like()
    telling = X[:, :6].repeat(50, axis=1) + 0.5 * X  # all features tell the class
    shares = [unpredicted(telling, gene_like(flipped=f)[1].astype(float)) for f in (0.0, 0.1, 0.2)]
    assert shares[0] < shares[1] < shares[2]


def test_an_interaction_among_many_features_gets_a_small_ridge():
    X, y = board(400, 30)
    selector = CCMSelector(2).fit(X, y)
    assert selector.epsilon_ == 0.001
    assert "all features together predict nothing" in str(selector.plan_)


def test_weak_single_effects_among_many_features_get_a_large_ridge():
    """All features together predict nothing, but some by themselves stand out."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 200))
    y = 0.3 * X[:, :3].sum(axis=1) + rng.standard_normal(400)
    selector = CCMSelector(3).fit(X, y)
    assert ridge_for_noise(400, 1.0, lambda: True)[0] == 0.01
    assert selector.epsilon_ > 0.003
    assert selector.epsilon_ > 2 * CCMSelector(3).fit(X, rng.permutation(y)).epsilon_


def test_classes_and_numbers_follow_the_same_rule():
    X, y = gene_like(n=200, d=20, flipped=0.2)
    classes = CCMSelector(3).fit(X, y).epsilon_
    numbers = CCMSelector(3, task="regression").fit(X, y).epsilon_
    assert classes == pytest.approx(numbers, rel=1e-9)
    assert classes > 0.003


def test_a_weak_effect_beside_a_strong_one_is_found():
    """With a ridge of 0.01 the rest of the strong effect outweighs the weak ones."""
    ranks = []
    for seed in range(4):
        rng = np.random.default_rng([seed, 300, 10])
        X = rng.uniform(-2.0, 2.0, (300, 10))
        y = 1.5 * X[:, 0] + 0.25 * X[:, 1] * X[:, 2] + 0.2 * np.sin(3.0 * X[:, 3])
        y += 0.5 * rng.standard_normal(300)
        ranks.append(CCMSelector(4).fit(X, y).ranking_[:4].mean())
    assert np.mean(ranks) < 3.5  # 2.5 is the least; 4.7 with a ridge of 0.01


def test_the_ridge_takes_a_repeated_sample_as_one_of_double_weight():
    X, y = gene_like(flipped=0.05, d=100)
    X[:, 6:] *= 0.2
    repeated = np.r_[np.arange(60), np.arange(20)]
    by_weight = CCMSelector(3).fit(X, y, sample_weight=np.bincount(repeated)).epsilon_
    by_rows = CCMSelector(3).fit(X[repeated], y[repeated]).epsilon_
    assert by_weight > 0.001
    assert by_rows == pytest.approx(by_weight, rel=1e-9)


def test_a_sample_of_next_to_no_weight_does_not_count():
    X, y = gene_like(n=200, d=20, flipped=0.1)
    weight = np.r_[np.full(20, 1e-9), np.ones(180)]
    with_them = CCMSelector(3).fit(X, y, sample_weight=weight).epsilon_
    without = CCMSelector(3).fit(X[20:], y[20:]).epsilon_
    assert 0.003 < without < 0.01
    assert with_them == pytest.approx(without, rel=1e-3)


def test_components_tell_the_noise_as_the_matrix_does():
    X, y = gene_like(n=300, d=10, flipped=0.2)
    exact = CCMSelector(3, approximation="exact").fit(X, y).epsilon_
    components = CCMSelector(3, approximation="fourier").fit(X, y).epsilon_
    assert components == pytest.approx(exact, rel=0.1)


def test_only_the_default_ridge_of_a_path_follows_the_noise():
    X, y = gene_like(flipped=0.15, d=100)
    assert CCMSelector(5).fit(X, y).epsilon_ == 0.01
    assert CCMSelector(5, epsilon=0.002).fit(X, y).epsilon_ == 0.002
    assert CCMSelector(5, formulation="paper").fit(X, y).epsilon_ == 0.001
    assert CCMSelector(5, formulation="paper").fit(X, y + 0.5 * X[:, 0]).epsilon_ == 0.1
