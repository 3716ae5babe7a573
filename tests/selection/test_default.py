"""What the default makes of noise: its ridge, its kernel; and the additive kernel by name."""

from pathlib import Path

import numpy as np
import pytest
from draws import gene_like
from numpy.testing import assert_allclose, assert_array_equal

from covmin import CCMSelector, Formulation
from covmin.core.path import run_path
from covmin.datasets import make_shell, make_xor
from covmin.kernels import Mixed

PUMADYN = Path(__file__).resolve().parents[3] / "shared" / "data" / "regression" / "pumadyn32nm.npz"


@pytest.mark.parametrize("n_samples", [30, 300])
def test_the_path_solves_for_the_asked_number_where_regressions_cannot_decide(
    n_samples, monkeypatch
):
    """So few samples do not support the comparison of sets: an xor of three would be lost."""
    asked = []

    def solved(*args, **options):
        asked.append(args[4])
        return run_path(*args, **options)

    monkeypatch.setattr("covmin.selection.fit.run_path", solved)
    X, y = make_xor(n_samples, random_state=0, return_X_y=True)
    assert CCMSelector(3).fit(X, y).support_[:3].all()
    assert asked == [3 if n_samples == 30 else None]


@pytest.mark.slow
def test_noisy_single_effects_are_found_among_many_features():
    """A ridge as small as interactions would need ranks them far lower."""

    def mean_rank(seed, **options):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((200, 100))
        log_odds = X[:, 0] + 0.8 * X[:, 1] + 0.6 * np.tanh(2 * X[:, 2])
        y = rng.random(200) < 1 / (1 + np.exp(-log_odds))
        return CCMSelector(3, **options).fit(X, y).ranking_[:3].mean()

    default = np.mean([mean_rank(seed) for seed in range(4)])
    assert default < 0.9 * np.mean([mean_rank(seed, epsilon=0.001) for seed in range(4)])


def test_an_interaction_of_three_is_found_though_nothing_is_predicted():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 10))
    selector = CCMSelector(3).fit(X, np.sign(X[:, 0] * X[:, 1] * X[:, 2]))
    assert selector.epsilon_ == 0.001
    assert_array_equal(np.sort(selector.ranking_[:3]), [1, 2, 3])


@pytest.mark.slow
def test_noise_hides_no_interaction_of_three_in_a_thousand_samples():
    """The first steps of a stage need them all: on a quarter of them every other draw is lost."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((1000, 20))
        y = np.sign(X[:, :3]).prod(axis=1) + 0.5 * rng.standard_normal(1000)
        selector = CCMSelector(3).fit(X, y)
        assert_array_equal(np.sort(selector.ranking_[:3]), [1, 2, 3])


def test_single_effects_that_stand_out_are_compared_though_the_path_drops_them():
    """A ring of two columns or an exclusive or of two others (Passemiers and others, 2024)."""
    found = []
    for seed in range(3):
        X = np.random.default_rng(seed).random((800, 256))
        ring = np.abs(np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5) - 0.35) <= 0.0704
        y = ring | ((X[:, 2] - 0.5) * (0.5 - X[:, 3]) >= 0.0337)
        found.append(CCMSelector(4).fit(X, y).support_[:4].mean())
    assert np.mean(found) >= 0.8


def test_many_samples_show_a_weak_effect_beside_a_strong_one():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (1500, 6))
    y = 1.5 * X[:, 0] + 0.25 * X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(1500)
    found = CCMSelector(3, interactions=False).fit(X, y)
    assert found.epsilon_ < 0.01
    assert_array_equal(np.sort(found.ranking_[:3]), [1, 2, 3])


def test_wrong_labels_mislead_the_default_less():
    found = {"auto": 0, 0.001: 0}
    for seed in range(6):
        X, y = gene_like(flipped=0.15, seed=seed, d=200)
        X[:, 6:] += X[:, [0, 1]] @ np.random.default_rng(seed).standard_normal((2, 194)) * 0.5
        for epsilon in found:
            ranking = CCMSelector(6, epsilon=epsilon).fit(X, y).ranking_
            found[epsilon] += (ranking[:6] <= 12).sum()
    assert found["auto"] > found[0.001]


def test_additive_kernel_by_name():
    X, y = gene_like(d=20)
    additive = CCMSelector(4, kernel="additive", epsilon=0.1).fit(X, y)
    assert additive.kernel_ == "additive"
    mixed = CCMSelector(4, kernel=Mixed(mixing=1.0), epsilon=0.1).fit(X, y)
    np.testing.assert_array_equal(additive.ranking_, mixed.ranking_)
    assert set(np.argsort(additive.ranking_)[:4]) <= set(range(6))


def test_the_additive_kernel_is_blind_to_interactions():
    ranks = {"additive": [], "auto": []}
    for seed in range(8):
        X, y = make_xor(80, random_state=seed, return_X_y=True)
        for kernel in ranks:
            ranking = CCMSelector(3, kernel=kernel).fit(X, y).ranking_
            ranks[kernel].append(np.median(ranking[:3]))
    assert np.mean(ranks["auto"]) == 2.0
    assert np.mean(ranks["additive"]) > 3.0


def test_the_additive_kernel_by_its_features_is_the_additive_kernel():
    X, y = gene_like(d=5)
    options = {"kernel": "additive", "formulation": Formulation(tol=1e-6), "epsilon": 0.01}
    exact = CCMSelector(2, approximation="exact", **options).fit(X, y)
    waves = CCMSelector(2, approximation="fourier", **options).fit(X, y)
    assert waves.kernel_ == "additive"
    assert_array_equal(waves.ranking_, exact.ranking_)
    assert_allclose(waves.objective_, exact.objective_, rtol=1e-6)


class TestInteractionsAlone:
    """Where all features together predict nothing, an interaction may still be there."""

    def test_it_is_found_among_a_hundred(self):
        xor = make_xor(100, n_noise=97, random_state=100)
        selector = CCMSelector(3).fit(xor.data, xor.target)
        assert_array_equal(selector.get_support(indices=True), [0, 1, 2])

    def test_a_product_of_three_is_found_by_the_path(self):
        """No pair of its features says anything."""
        ranks = []
        for draw in range(4):
            X = np.random.default_rng([draw, 200, 10]).standard_normal((200, 10))
            y = X[:, :3].prod(axis=1) > 0.0
            ranks.append(CCMSelector(3).fit(X, y).ranking_[:3].mean())
        assert np.mean(ranks) < 2.5  # 2 is the least; 3.4 with a ridge of 0.01

    def test_single_effects_have_their_share(self):
        X, y = gene_like(d=100)
        selector = CCMSelector(6).fit(X, y)
        assert selector.kernel_ == "mixed"
        assert selector.plan_.kernel.mixing == pytest.approx(100 / (2 * 160))

    def test_a_repeated_sample_counts_as_one_of_double_weight(self):
        xor = make_xor(60, n_noise=40, random_state=1)
        X, y = xor.data, xor.target
        repeated = np.r_[np.arange(60), np.arange(20)]
        by_rows = CCMSelector(3).fit(X[repeated], y[repeated])
        by_weight = CCMSelector(3).fit(X, y, sample_weight=np.bincount(repeated))
        np.testing.assert_array_equal(by_rows.ranking_, by_weight.ranking_)

    def test_the_number_of_features_may_be_open(self):
        xor = make_xor(120, n_noise=30, random_state=0)
        selector = CCMSelector().fit(xor.data, xor.target)
        assert set(selector.get_support(indices=True)) >= set(xor.informative)


@pytest.mark.parametrize("seed", [0, 5])
def test_more_features_asked_for_lose_none_of_few(seed):
    """A product with a fast wave, whose features have no effect of their own."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((400, 30))
    y = X[:, 0] * np.sin(2.5 * X[:, 1]) + 0.3 * rng.standard_normal(400)
    two, ten = (set(CCMSelector(m).fit(X, y).get_support(indices=True)) for m in (2, 10))
    assert two == {0, 1} <= ten


@pytest.mark.skipif(not PUMADYN.exists(), reason="needs the regression sets beside the project")
@pytest.mark.parametrize("seed", [0, 4])
def test_more_features_of_pumadyn_lose_none_of_two(seed):
    with np.load(PUMADYN) as file:
        X, y = file["X"], file["y"]
    rows = np.random.default_rng(seed).permutation(len(y))[:400]
    for m in (2, 10):
        assert {4, 15} <= set(CCMSelector(m).fit(X[rows], y[rows]).get_support(indices=True))


def test_the_last_word_says_how_many_features_of_the_path_it_replaced():
    """Also for a number of features that is no budget of the path."""
    X, y = make_shell(150, random_state=0, return_X_y=True)
    plan = CCMSelector(4).fit(X, y).plan_
    assert "last word       the set of the path" in str(plan)
