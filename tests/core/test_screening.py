"""Pairs of columns whose product explains the response."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import pearsonr
from single import Notes, problem_on

from covmin.core.constraints import SoftBudget
from covmin.core.exchange import refine
from covmin.core.kernels import Mixed
from covmin.core.objectives import InverseFreeObjective
from covmin.core.path import run_path
from covmin.core.rows import Sample
from covmin.core.screening import SEARCH, Found, Protected, Ranked, Screening, Search
from covmin.core.set_errors import SetSample
from covmin.core.units import ALWAYS_ON
from covmin.datasets import make_shell, make_xor


def find(X, Y, of_column=None, p=None, **options):
    """The pairs of equally weighted samples, every column by itself."""
    n, d = X.shape
    Y = Y if Y.ndim == 2 else indicators(Y)
    p = np.full(n, 1 / n) if p is None else p
    of_column = np.arange(d) if of_column is None else of_column
    return pairs_of(X, Y, p, of_column, **options)


def pairs_of(X, Y, p, of_column, search=SEARCH, **options):
    return Screening.of(X, Y, p, of_column, search).interactions(**options)


def indicators(y):
    Y = (y[:, None] == np.unique(y)).astype(float)
    return Y - Y.mean(axis=0)


def as_sets(pairs):
    return [set(pair) for pair in pairs.columns.tolist()]


def product_of(X, a, b, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    return (X[:, a] * X[:, b] + noise * rng.standard_normal(len(X)))[:, None]


@pytest.fixture
def plain():
    """A hundred samples of fifty columns; the response is the product of 3 and 40."""
    X = np.random.default_rng(1).standard_normal((100, 50))
    return X, product_of(X, 3, 40)


class TestWhatIsFound:
    @pytest.mark.parametrize("seed", range(3))
    def test_xor_among_a_thousand_features(self, seed):
        X, y = make_xor(100, 1000, random_state=seed, return_X_y=True)
        found = find(X, y)
        assert set(found.columns.ravel()) == {0, 1, 2}
        assert_array_equal(found.members_within(), [0, 1, 2])
        assert (found.p_value <= 0.05).all()

    def test_share_and_chance_by_hand(self, plain):
        X, Y = plain
        found = find(X, Y)
        assert as_sets(found) == [{3, 40}]
        ranks = (X.argsort(axis=0).argsort(axis=0) + 0.5)[:, [3, 40]] / 100
        waves = [np.cos(k * np.pi * ranks) for k in (2, 3, 4)]
        columns = np.column_stack([np.ones(100), ranks, *waves])
        product = (ranks - 0.5).prod(axis=1)
        added = product - columns @ np.linalg.lstsq(columns, product)[0]
        r, chance = pearsonr(added, Y[:, 0].argsort().argsort())
        assert_allclose(found.share, r**2, rtol=1e-5)
        # For each of 50·49/2 pairs; most of the level is for the product of the lines.
        smooth = 1 / (1 + 1 / 4 + 1 / 9 + 1 / 16)
        assert_allclose(found.p_value, 1225 * chance / smooth**2, rtol=1e-3)

    def test_a_ring_whose_columns_have_single_effects_too(self):
        """Its product explains more than each of its columns, but less than the two together."""
        found = []
        for seed in range(10):
            X = np.random.default_rng(seed).random((1000, 30))
            ring = np.abs(np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5) - 0.35) <= 0.0704
            y = ring | ((X[:, 2] - 0.5) * (0.5 - X[:, 3]) >= 0.0337)
            found.append({0, 1} in as_sets(find(X, y)))
        assert np.mean(found) >= 0.5

    def test_one_pair_for_many_look_alikes(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((400, 3))
        y = np.where(2 * X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.standard_normal(400) > 0, 1, -1)
        noise = np.sqrt(1 - 0.7**2) * rng.standard_normal((400, 300))
        X = np.hstack([X, noise + 0.7 * X[:, np.arange(300) % 3]])
        assert as_sets(find(X, y)) == [{0, 1}]

    def test_several_pairs_the_strongest_first(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((200, 30))
        Y = (
            2 * X[:, [4]] * X[:, [9]]
            + X[:, [20]] * X[:, [21]]
            + 0.3 * rng.standard_normal((200, 1))
        )
        found = find(X, Y)
        assert as_sets(found) == [{4, 9}, {20, 21}]
        assert (np.diff(found.share) < 0).all()

    def test_single_effects_are_no_interactions(self):
        X, y = make_shell(200, 50, random_state=0, return_X_y=True)
        assert find(X, y).share.size == 0
        rng = np.random.default_rng(0)
        Z = rng.standard_normal((200, 20))
        twins = np.hstack([Z, Z[:, :1] + 0.05 * rng.standard_normal((200, 1))])
        # The product of a column and its twin is a square: a parabola in either says the same.
        assert find(twins, Z[:, [0]] ** 2).share.size == 0

    @pytest.mark.parametrize("effect", [np.square, lambda x: np.sin(6 * x)])
    def test_effects_of_one_feature_beside_a_near_copy(self, effect):
        """A copy makes products of waves: faster waves, of either column."""
        rng = np.random.default_rng(0)
        for _ in range(10):
            X = rng.standard_normal((400, 10))
            X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
            Y = effect(X[:, [0]]) + 0.5 * rng.standard_normal((400, 1))
            assert {0, 1} not in as_sets(find(X, Y))

    def test_a_fast_effect_beside_a_bent_copy(self):
        """Waves of x and of |x| make a faster wave of x."""
        for seed in range(8):
            X = np.random.default_rng(seed).standard_normal((500, 20))
            X[:, 2] = np.abs(X[:, 1]) + 0.1 * X[:, 2]
            Y = np.sin(6.0 * X[:, [1]]) + 0.5 * X[:, [19]]
            assert find(X[:, :19], Y).share.size == 0

    def test_parts_of_a_feature_with_an_effect(self):
        """x₀ ≈ x₁ + x₂: the product of the two says what the square of the sum says."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((400, 10))
        X[:, 0] = X[:, 1] + X[:, 2] + 0.3 * rng.standard_normal(400)
        Y = X[:, [0]] ** 2 + rng.standard_normal((400, 1))
        assert find(X, Y).share.size == 0
        assert {1, 2} in as_sets(find(X, X[:, [1]] * X[:, [2]] + 0.1 * Y))

    def test_single_effects_leave_more_power(self):
        """The share is one of what single effects leave of the response."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((200, 12))
        product = X[:, [3]] * X[:, [4]] + 0.3 * rng.standard_normal((200, 1))
        assert as_sets(find(X, product + 2 * X[:, [0]] - 2 * X[:, [1]])) == [{3, 4}]

    def test_outliers_and_units_do_not_matter(self, plain):
        X, Y = plain
        found = find(X, Y)
        stretched = np.exp(3 * X)
        stretched[:, 3] = X[:, 3] ** 3 * 1e8
        again = find(stretched, np.sinh(4 * Y))
        assert_array_equal(again.columns, found.columns)
        assert_allclose(again.share, found.share, rtol=1e-5)

    def test_binary_columns(self):
        rng = np.random.default_rng(0)
        X = rng.integers(0, 2, (120, 40)).astype(float)
        assert as_sets(find(X, X[:, 5].astype(int) ^ X[:, 6].astype(int))) == [{5, 6}]


class TestWhatIsNot:
    @pytest.mark.parametrize(
        ("n", "d", "rare"), [(60, 400, 4), (150, 150, 8), (300, 100, 12), (150, 150, 75)]
    )
    def test_level_also_for_rare_classes(self, n, d, rare):
        rng = np.random.default_rng(n + rare)
        y = np.arange(n) < rare
        hits = [find(rng.standard_normal((n, d)), y).share.size > 0 for _ in range(100)]
        assert np.mean(hits) <= 0.1  # 0.05, and two standard errors

    @pytest.mark.parametrize("draw", ["standard_cauchy", "standard_exponential"])
    def test_level_for_heavy_tails(self, draw):
        rng = np.random.default_rng(0)
        hits = [
            find(getattr(rng, draw)((100, 100)), getattr(rng, draw)((100, 1))).share.size > 0
            for _ in range(100)
        ]
        assert np.mean(hits) <= 0.1

    @pytest.mark.parametrize(("n", "d"), [(15, 10), (30, 3000), (50, 1)])
    def test_too_few_samples_or_columns(self, n, d):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, d))
        found = find(X, product_of(X, 0, d - 1, noise=0.0))
        assert found.columns.shape == (0, 2)
        assert found.members_within().size == 0

    def test_constant_response_in_the_sample(self, plain):
        assert find(plain[0], np.zeros((100, 1))).share.size == 0

    def test_constant_and_equal_columns(self, plain):
        X, Y = plain
        X = np.hstack([X, np.ones((100, 1)), X[:, :2]])
        assert as_sets(find(X, Y)) == [{3, 40}]

    @pytest.mark.parametrize("rare", [10, 30])
    def test_level_for_rare_values_in_rare_classes(self, rare):
        rng = np.random.default_rng(rare)
        hits = []
        for _ in range(60):
            X = rng.poisson(0.1, (200, 150)).astype(float)
            hits.append(find(X, np.arange(200) < rare).share.size > 0)
        assert np.mean(hits) <= 0.1

    def test_level_with_unequal_weights(self):
        rng = np.random.default_rng(0)
        hits = []
        for _ in range(60):
            p = rng.lognormal(size=200)
            X, Y = rng.standard_normal((200, 100)), rng.standard_normal((200, 1))
            hits.append(find(X, Y, p=p / p.sum()).share.size > 0)
        assert np.mean(hits) <= 0.1

    @pytest.mark.parametrize("least", [0.0, 1.0])
    def test_two_effects_behind_a_threshold_are_no_pair(self, least):
        """Their product explains a little, beyond their functions, but less than either of them."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((1000, 20))
        y = X[:, 0] + X[:, 1] + 0.3 * rng.standard_normal(1000) > least
        assert find(X, y).share.size == 0

    def test_proxies_of_one_effect_are_no_pair(self):
        rng = np.random.default_rng(0)
        hits = []
        for _ in range(10):
            z = rng.standard_normal((100, 1))
            X = 0.84 * z + 0.55 * rng.standard_normal((100, 200))
            hits.append(find(X, z**2 + 0.5 * rng.standard_normal((100, 1))).share.size > 0)
        assert np.mean(hits) <= 0.1


class TestUnits:
    def test_a_pair_of_units_is_named_once(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((200, 30))
        level = rng.integers(0, 4, 200)
        indicators_ = (level[:, None] == np.arange(4)).astype(float)
        Y = (np.array([-1.5, -0.5, 0.5, 1.5])[level] * X[:, 7])[:, None]
        found = find(np.hstack([X, indicators_]), Y, of_column=np.append(np.arange(30), [30] * 4))
        assert found.units.tolist() == [[7, 30]]

    def test_columns_of_a_group_are_no_pair(self, plain):
        together = np.arange(50)
        together[40] = 3
        assert find(*plain, of_column=together).share.size == 0

    def test_partner_that_is_always_on_is_not_named(self, plain):
        given = np.where(np.arange(50) == 40, ALWAYS_ON, np.arange(50))
        found = find(*plain, of_column=given)
        assert as_sets(found) == [{3, 40}]
        assert_array_equal(found.members_within(), [3])


class TestSamples:
    def test_weights_are_copies_and_copies_no_evidence(self, plain):
        X, Y = plain[0][:, [3, 40]], plain[1]
        counts = np.random.default_rng(0).integers(1, 3, 100)
        weighted = find(X, Y, p=counts / counts.sum())
        repeated = find(X.repeat(counts, axis=0), Y.repeat(counts, axis=0))
        assert weighted.n_samples == pytest.approx(counts.sum() ** 2 / (counts**2).sum())
        assert_array_equal(weighted.columns, repeated.columns)
        assert_allclose(weighted.share, repeated.share, rtol=1e-5)
        assert weighted.p_value > repeated.p_value

    def test_blocks_of_columns(self):
        """Partners are found wherever they stand among more columns than a block has."""
        rng = np.random.default_rng(1)
        X = rng.standard_normal((150, 1200))
        Y = product_of(X, 3, 40)
        found = find(X, Y)
        assert as_sets(found) == [{3, 40}]
        for first, second in ((3, 700), (600, 5), (600, 1100)):
            order = np.arange(1200)
            order[[3, first]] = order[[first, 3]]
            order[[40, second]] = order[[second, 40]]
            moved = find(X[:, order], Y)
            assert as_sets(moved) == [{first, second}]
            assert_allclose(moved.share, found.share, rtol=1e-5)
            assert_allclose(moved.p_value, found.p_value, rtol=1e-3)

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_torch_gives_the_same(self, plain, dtype):
        torch = pytest.importorskip("torch")
        X, Y = (array.astype(dtype) for array in plain)
        tensors = (torch.as_tensor(array) for array in (X, Y, np.full(100, 0.01, dtype=dtype)))
        found = pairs_of(*tensors, np.arange(50))
        assert_array_equal(found.columns, find(X, Y).columns)
        assert_allclose(found.share, find(X, Y).share, rtol=1e-4)


class TestWaves:
    """Interactions that are fast in one of the features, or in both."""

    @pytest.mark.parametrize(
        "task",
        [
            lambda x, z: np.sin(3 * x) * z,
            lambda x, z: np.cos(3 * x) * z,
            lambda x, z: np.sin(3 * x) * np.cos(2 * z),
            lambda x, z: x**2 * z - z,
        ],
    )
    def test_no_product_but_one_of_waves(self, task):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((300, 40))
        Y = (task(X[:, 5], X[:, 30]) + 0.3 * rng.standard_normal(300))[:, None]
        assert find(X, Y, n_functions=1).share.size == 0
        assert {5, 30} in as_sets(find(X, Y))

    def test_waves_are_orthonormal_and_bounded(self):
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.standard_cauchy(200), rng.integers(0, 3, 200), rng.random(200)])
        p = rng.dirichlet(np.full(200, 20.0))
        waves = Ranked.of(X, p).functions(slice(None))
        for j, n_values in enumerate((200, 3, 200)):
            moments = waves[:, j] * p @ waves[:, j].T
            n_waves = min(n_values - 1, 4)
            assert_allclose(moments, np.diag(np.arange(4) < n_waves), atol=1e-6)
        assert np.abs(waves[:, [0, 2]]).max() < 2.5

    @pytest.mark.parametrize("n", [50, 333])
    def test_evenly_spaced_ranks_share_their_waves(self, n):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, 70))
        even = Ranked.of(X, np.full(n, 1 / n))
        assert even.is_even.all()
        one_by_one = replace(even, is_even=np.zeros(70, dtype=bool))
        some = np.array([60, 2, 33])
        assert_allclose(even.functions(some), one_by_one.functions(some), atol=1e-5)
        assert_allclose(
            even.functions(slice(None), 2), one_by_one.functions(slice(None), 2), atol=1e-5
        )

    def test_a_few_equal_values_leave_ranks_evenly_spaced(self):
        """As single precision makes of many numbers."""
        X = np.random.default_rng(0).standard_normal((3000, 2)).round(3)
        even = Ranked.of(X, np.full(3000, 1 / 3000))
        assert len(np.unique(X[:, 0])) < 2500
        assert even.is_even.all()
        one_by_one = replace(even, is_even=np.zeros(2, dtype=bool))
        assert_allclose(even.functions(slice(None)), one_by_one.functions(slice(None)), atol=0.01)

    def test_ranks_of_equal_values_or_unequal_weights_are_not_evenly_spaced(self):
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.standard_normal(100), rng.integers(0, 50, 100)])
        assert Ranked.of(X, np.full(100, 0.01)).is_even.tolist() == [True, False]
        assert not Ranked.of(X, rng.dirichlet(np.ones(100))).is_even.any()

    def test_single_waves_are_no_interactions(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((300, 30))
        assert find(X, np.sin(3 * X[:, [4]]) + np.cos(3 * X[:, [7]])).share.size == 0


class TestDeeper:
    """Products of three and more columns, without a trace in fewer."""

    @staticmethod
    def signs(n, d, columns, seed=0):
        """Classes by the sign of a product, one in ten wrong."""
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d))
        wrong = rng.random(n) < 0.1
        return X, (X[:, columns].prod(axis=1) > 0) ^ wrong

    @pytest.mark.parametrize(
        ("n", "d", "columns"), [(200, 40, [2, 17, 39]), (400, 20, [0, 3, 8, 19])]
    )
    def test_as_deep_as_it_is_looked_for(self, n, d, columns):
        X, y = self.signs(n, d, columns)
        order = len(columns)
        found = find(X, y, order=order)
        assert found.columns.tolist() == [columns]
        assert found.p_value[0] < 1e-4
        assert_array_equal(found.members_within(), columns)
        assert find(X, y, order=order - 1).share.size == 0

    def test_share_and_chance_by_hand(self):
        """What is left of the product, among all triples, at half of the level."""
        rng = np.random.default_rng(3)
        X = rng.standard_normal((300, 12))
        Y = X[:, [1]] * X[:, [4]] * X[:, [7]] + 0.5 * rng.standard_normal((300, 1))
        found = find(X, Y, order=3)
        assert found.columns.tolist() == [[1, 4, 7]]
        ranks = Ranked.of(X[:, [1, 4, 7]], np.full(300, 1 / 300)).functions(slice(None), 8)
        lower = [np.ones(300), *ranks[:6].reshape(-1, 300)]
        for a, b in ((0, 1), (0, 2), (1, 2)):
            lower += [ranks[i, a] * ranks[j, b] for i in range(2) for j in range(2)]
        product = ranks[0].prod(axis=0)
        product = product - np.transpose(lower) @ np.linalg.lstsq(np.transpose(lower), product)[0]
        r, chance = pearsonr(product, Y[:, 0].argsort().argsort())
        assert_allclose(found.share, r**2, rtol=1e-4)
        assert_allclose(found.p_value, 2 * 220 * chance, rtol=1e-2)

    def test_pairs_and_triples_in_one_search(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((400, 25))
        Y = X[:, [3]] * X[:, [5]] + X[:, [8]] * X[:, [10]] * X[:, [20]]
        found = find(X, Y + 0.3 * rng.standard_normal((400, 1)), order=3)
        assert found.columns.tolist() == [[3, 5, -1], [8, 10, 20]]
        assert_array_equal(found.members_within(), [3, 5, 8, 10, 20])
        assert_array_equal(found.members_within(4), [3, 5])

    def test_more_than_two_columns_are_searched_on_the_first_rows(self, monkeypatch):
        """As if the others were not there, beside the pairs of all rows."""
        monkeypatch.setattr("covmin.core.screening.screening.TESTED_ROWS", 400)
        rng = np.random.default_rng(0)
        X = rng.standard_normal((1000, 12))
        Y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] * X[:, 4] + 0.3 * rng.standard_normal(1000)
        Y = (Y - Y.mean())[:, None]
        every, few = find(X, Y, order=3), find(X[:400], Y[:400] - Y[:400].mean(), order=3)
        pairs = find(X, Y, order=2)
        assert as_sets(every)[: len(pairs.units)] == [{*pair, -1} for pair in as_sets(pairs)]
        triples, alone = (one.share[(one.columns >= 0).all(axis=1)] for one in (every, few))
        assert {2, 3, 4} in as_sets(every)
        assert_allclose(triples, alone, rtol=0.02)

    def test_a_pair_is_no_triple(self):
        """Nor with a near copy of one of its columns."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((400, 15))
        X[:, 7] = X[:, 2] + 0.2 * X[:, 7]
        Y = X[:, [2]] ** 2 * X[:, [3]] + 0.3 * rng.standard_normal((400, 1))
        assert (find(X, Y, order=3).columns[:, 2] == -1).all()

    def test_columns_of_a_group_are_no_triple(self):
        X, y = self.signs(200, 20, [2, 5, 9])
        together = np.where(np.arange(20) == 9, 2, np.arange(20))
        assert find(X, y, of_column=together, order=3).share.size == 0

    def test_level(self):
        rng = np.random.default_rng(0)
        hits = [
            find(rng.standard_normal((80, 25)), rng.standard_normal((80, 1)), order=3).share.size
            for _ in range(60)
        ]
        assert np.mean(np.array(hits) > 0) <= 0.1

    def test_torch_gives_the_same(self):
        torch = pytest.importorskip("torch")
        X, y = self.signs(200, 20, [2, 5, 9])
        tensors = (torch.as_tensor(a) for a in (X, indicators(y), np.full(200, 1 / 200)))
        found = pairs_of(*tensors, np.arange(20), order=3)
        assert_array_equal(found.columns, find(X, y, order=3).columns)
        assert_allclose(found.share, find(X, y, order=3).share, rtol=1e-4)


class TestSpread:
    @staticmethod
    def spread(X, Y, of_column=None, search=SEARCH, p=None):
        p = np.full(len(X), 1 / len(X)) if p is None else p
        of_column = np.arange(X.shape[1]) if of_column is None else of_column
        return Screening.of(X, Y, p, of_column, search).spread()

    @pytest.fixture
    def changing(self):
        """The spread grows with feature 3, the mean with feature 7."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((300, 50))
        return X, X[:, [7]] + np.exp(X[:, [3]]) * rng.standard_normal((300, 1))

    def test_a_feature_that_changes_the_spread(self, changing):
        found = self.spread(*changing)
        assert found.units.tolist() == [[3]]
        assert found.p_value[0] < 1e-6
        assert found.share[0] > 0.1

    def test_units_do_not_matter(self, changing):
        X, Y = changing
        again = self.spread(np.sinh(X), np.exp(Y))
        assert_array_equal(again.units, [[3]])
        assert_allclose(again.share, self.spread(X, Y).share, rtol=1e-5)

    def test_an_effect_on_the_mean_is_none_on_the_spread(self):
        X = np.random.default_rng(0).standard_normal((300, 20))
        assert self.spread(X, np.exp(X[:, [0]])).units.size == 0

    def test_a_factor_of_a_product(self):
        X = np.random.default_rng(0).standard_normal((300, 40))
        found = self.spread(X, X[:, [5]] * np.sign(X[:, [9]]) * np.sign(X[:, [12]]))
        assert found.units.tolist() == [[5]]

    def test_classes_have_none(self):
        X = np.random.default_rng(0).standard_normal((300, 20))
        y = X[:, 0] > 0
        assert self.spread(X, indicators(y)).units.size == 0

    def test_columns_always_on_and_groups(self, changing):
        X, Y = changing
        of_column = np.arange(50)
        of_column[3] = ALWAYS_ON
        assert self.spread(X, Y, of_column).units.size == 0
        of_column[3] = 2  # together with column 2
        assert self.spread(X, Y, of_column).units.tolist() == [[2]]

    def test_too_few_samples(self, changing):
        X, Y = changing
        assert self.spread(X[:19], Y[:19]).units.size == 0

    def test_level(self):
        rng = np.random.default_rng(0)
        hits = [
            self.spread(rng.standard_normal((60, 100)), rng.standard_normal((60, 1))).units.size > 0
            for _ in range(100)
        ]
        assert np.mean(hits) <= 0.1

    def test_level_where_most_values_are_zero(self):
        """Two rare values that fall together are no dependence."""
        rng = np.random.default_rng(0)

        def mostly_zero(*shape):
            return np.where(rng.random(shape) < 0.9, 0.0, rng.exponential(1.0, shape))

        hits = [
            self.spread(mostly_zero(100, 60), mostly_zero(100, 1)).units.size for _ in range(60)
        ]
        assert np.mean(np.array(hits) > 0) <= 0.1

    def test_held_while_there_are_many_features_only(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((100, 300))
        Y = X[:, [1]] + X[:, [2]] + 0.1 * rng.standard_normal((100, 1))
        spread = Found(np.array([[200]]), np.array([[200]]), np.array([0.3]), np.array([0.001]))
        problem = TestHold().problem(X, Y)
        path = run_path(problem, (40, 20, 10, 5, 2, 1), Protected(Found(), spread, above=10.0))
        kept = [200 in stage.features for stage in path.stages]
        assert kept[:3] == [True, True, True]
        assert set(path.order[:2]) == {1, 2}


class TestSearch:
    """When a pair counts is a matter of numbers that are given."""

    def test_no_more_pairs_than_wanted(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((200, 30))
        Y = 2 * X[:, [4]] * X[:, [9]] + X[:, [20]] * X[:, [21]]
        for most in (0, 1, 2):
            assert len(find(X, Y, search=Search(most=most)).share) == most


class TestMembers:
    UNITS = np.array([[7, 2], [2, 5], [ALWAYS_ON, 9], [1, 0]])
    PAIRS = Found(UNITS, UNITS, np.full(4, 0.5), np.full(4, 0.01), 100.0)

    def test_every_unit_once_and_none_that_is_always_on(self):
        assert_array_equal(self.PAIRS.members_within(), [0, 1, 2, 5, 7, 9])

    @pytest.mark.parametrize(
        ("budget", "members"),
        [(0, []), (1, []), (2, [2, 7]), (3, [2, 5, 7]), (4, [2, 5, 7, 9]), (5, [2, 5, 7, 9])],
    )
    def test_whole_pairs_as_long_as_there_is_room(self, budget, members):
        assert_array_equal(self.PAIRS.members_within(budget), members)

    def test_none(self):
        none = Found(n_samples=12.0)
        assert none.members_within().size == 0
        assert none.n_samples == 12.0
        assert none.columns.shape == none.units.shape == (0, 2)


class TestHold:
    """What a path makes of the pairs."""

    BUDGETS = (40, 20, 10, 5, 2, 1)

    def problem(self, X, Y, **options):
        n = X.shape[0]
        share = max(0.5 * X.shape[1] / (X.shape[1] + n), 0.2)
        options = {"kernel": Mixed(share), "epsilon": 0.01, **options}
        return problem_on(Sample(X, Y - Y.mean(axis=0), np.full(n, 1 / n)), **options)

    def protected(self, problem, above=10.0):
        sample = problem.sample
        found = pairs_of(sample.X, sample.Y, sample.p, problem.units.of_column)
        return Protected(found, above=above)

    def path(self, problem, budgets=BUDGETS, watch=None):
        return run_path(problem, budgets, self.protected(problem), watch or Notes())

    @pytest.fixture
    def hidden(self):
        """An interaction too weak to be found among so many features without a hint."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((100, 300))
        return X, X[:, [3]] * X[:, [40]] + 0.5 * rng.standard_normal((100, 1))

    def test_finds_what_the_criterion_alone_does_not(self, hidden):
        problem = self.problem(*hidden)
        assert set(self.path(problem).order[:2]) == {3, 40}
        assert set(run_path(problem, self.BUDGETS).order[:2]) != {3, 40}

    @pytest.mark.parametrize("above", [30, 10])
    def test_members_are_held_while_there_are_more_features_than_that(self, hidden, above):
        problem = self.problem(*hidden)
        path = run_path(problem, self.BUDGETS, self.protected(problem, above))
        n_held = 0
        for stage in path.stages:
            held = np.isin(stage.among, [3, 40])
            if stage.among.size > above and stage.budget > 2:
                assert (stage.weights[held] == 1.0).all()
                assert {3, 40} <= set(stage.features)
                n_held += 1
            assert len(stage.features) == stage.budget
            assert stage.weights.sum() <= stage.budget + 1e-9
        assert n_held == {30: 2, 10: 3}[above]
        assert_array_equal(np.sort(path.order), np.arange(300))
        assert_array_equal(path.protected.interactions.members_within(), [3, 40])

    # Two single effects that explain far more than the product does.
    @staticmethod
    def overruled(hidden):
        X, Y = hidden
        return X, Y + 4 * X[:, [100]] - 4 * X[:, [200]]

    NOMINATED = Found(
        np.array([[3, 40]]), np.array([[3, 40]]), np.array([0.2]), np.array([0.01]), 100.0
    )

    @pytest.mark.parametrize("above", [10.0, np.inf])
    def test_the_last_word_decides_in_the_end(self, hidden, above):
        """The path keeps the members while there is room for them, and the tuned errors judge."""
        X, Y = self.overruled(hidden)
        path = run_path(self.problem(X, Y), self.BUDGETS, Protected(self.NOMINATED, above=above))
        # One budget is added, for the two members and one feature more.
        assert [stage.budget for stage in path.stages] == [40, 20, 10, 5, 3, 2, 1]
        assert {3, 40} <= set(path.order[:3])
        assert {100, 200} <= set(path.order[:4])
        p = np.full(100, 0.01)
        sample = SetSample(X, np.arange(300), np.ones(300), Y - Y.mean(axis=0), p)
        order = refine(sample, path.order[:30].tolist(), [[3, 40]], 2, (0, 0)).order
        assert set(order[:2]) == {100, 200}
        assert set(order[:4]) == {3, 40, 100, 200}

    def test_no_pair_no_difference(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((60, 40))
        Y = X[:, [0]] + X[:, [1]] + 0.1 * rng.standard_normal((60, 1))
        problem = self.problem(X, Y)
        looked, plain = self.path(problem, [20, 10, 2, 1]), run_path(problem, [20, 10, 2, 1])
        assert looked.protected.interactions.share.size == 0
        assert_array_equal(looked.order, plain.order)
        assert_array_equal(looked.stages[-1].weights, plain.stages[-1].weights)

    def test_more_nominated_than_wanted(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((150, 60))
        Y = X[:, [0]] * X[:, [1]] + X[:, [2]] * X[:, [3]] + 0.1 * rng.standard_normal((150, 1))
        path = self.path(self.problem(X, Y), [36, 21, 12, 7, 4, 3, 2, 1])
        assert len(path.protected.interactions.members_within()) == 4
        sizes = [stage.features.size for stage in path.stages]
        assert sizes == [36, 21, 12, 7, 5, 4, 3, 2, 1]
        assert set(path.order[:3]) <= {0, 1, 2, 3}

    def test_many_pairs_are_not_lost_on_the_way(self):
        """At sizes in between, noise fits better than what is true."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((400, 150))
        Y = sum(X[:, [2 * k]] * X[:, [2 * k + 1]] for k in range(4))
        problem = self.problem(X, Y + 0.2 * rng.standard_normal((400, 1)))
        path = run_path(
            problem, [90, 54, 32, 19, 11, 8, 6, 3, 1], self.protected(problem, above=40.0)
        )
        assert set(path.order[:8]) == set(range(8))

    def test_every_step_is_told_of(self, hidden):
        for data in (hidden, self.overruled(hidden)):
            notes = Notes()
            path = self.path(self.problem(*data), watch=notes)
            assert [stage for _, stage in notes.done] == path.stages
            for number, stage in enumerate(path.stages):
                of_stage = [each.iteration for each in notes.seen if each.stage == number]
                assert len(of_stage) == stage.solution.n_iter
                assert (np.diff([each.value for each in of_stage]) <= 0).all()
                if of_stage:
                    assert of_stage[-1].n_active == (stage.weights > 0).sum()

    @pytest.mark.parametrize("n_steps", [1, 7, 13, 25, 40, 55])
    def test_a_path_that_is_stopped_is_a_path(self, hidden, n_steps):
        path = self.path(self.problem(*hidden), watch=Notes(most=n_steps))
        assert_array_equal(np.sort(path.order), np.arange(300))

    def test_goes_on_from_finished_stages(self, hidden):
        problem, notes = self.problem(*hidden), Notes()
        whole = self.path(problem, watch=notes)
        assert [number for number, _ in notes.done] == list(range(len(whole.stages)))
        for n_done in range(len(notes.done)):
            finished = [stage for _, stage in notes.done[:n_done]]
            again = self.path(problem, watch=Notes(finished=finished))
            assert_array_equal(again.order, whole.order)

    @pytest.mark.parametrize(
        "options",
        [
            {"constraints": partial(SoftBudget.candidates, prices=[5.0, 1.0, 0.2, 0.05])},
            {"objective": partial(InverseFreeObjective, penalty=30.0), "epsilon": 0.1},
        ],
        ids=["soft", "inverse-free"],
    )
    def test_other_formulations(self, hidden, options):
        path = self.path(self.problem(*hidden, **options))
        assert {3, 40} <= set(path.order[:10])
