"""Tables that are hard on a scale: far values, skewed columns, few rows, rare and many classes."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from covmin import CCMSelector, KnockoffSelector, conditional_covariance_trace, open_parquet
from covmin.constants import SAMPLE_ROWS
from covmin.data import Layout
from covmin.data.blocks.views import NormalScores
from covmin.data.response import encode_response
from covmin.data.standardize import prepare_columns

RNG = np.random.default_rng(0)
Z = RNG.standard_normal((150, 8))
NUMBERS = np.sin(Z[:, 0]) + Z[:, 1] + 0.3 * RNG.standard_normal(150)
CLASSES = (Z[:, 0] * Z[:, 1] > 0.0).astype(int)
FAR = Z.copy()
FAR[np.arange(8), np.arange(8)] = 1e12
BOTH = pytest.mark.parametrize("approximation", ["exact", "fourier"])


def cauchy(Z):
    from scipy.special import ndtr

    return np.tan(np.pi * (ndtr(Z) - 0.5))


def counts(Z):
    return np.where(Z > 0.1, np.round(np.exp(1.5 * Z)), 0.0)


class TestByRank:
    @BOTH
    @pytest.mark.parametrize("y", [NUMBERS, CLASSES], ids=["numbers", "classes"])
    @pytest.mark.parametrize(
        "X", [FAR, FAR**3, cauchy(Z), counts(Z)], ids=["1e12", "1e36", "cauchy", "counts"]
    )
    def test_true_features_come_first(self, X, y, approximation):
        selector = CCMSelector(2, standardize="rank", approximation=approximation).fit(X, y)
        assert_array_equal(selector.get_support(indices=True), [0, 1])

    def test_and_their_number_is_found(self):
        selector = CCMSelector(standardize="rank").fit(FAR**3, NUMBERS)
        assert_array_equal(selector.get_support(indices=True), [0, 1])

    @BOTH
    def test_units_that_rise_with_the_values_do_not_matter(self, approximation):
        options = {"standardize": "rank", "approximation": approximation}
        plain = CCMSelector(2, **options).fit(Z, NUMBERS)
        other = CCMSelector(2, **options).fit(np.exp(3.0 * Z), NUMBERS)
        assert_array_equal(plain.ranking_, other.ranking_)
        assert plain.objective_ == other.objective_

    def test_columns_of_two_values_are_what_they_are_by_deviation(self):
        X = (Z > 0.7).astype(float)
        by_rank, by_deviation = prepare_columns(X, "rank"), prepare_columns(X)
        every = np.arange(len(X))
        ranked = by_rank.X.take(every)
        assert_allclose(ranked, by_deviation.X.take(every), atol=1e-12)
        assert_allclose(by_rank.apply(X).take(every), ranked, atol=1e-12)

    def test_indicators_of_levels_stay(self):
        levels = np.eye(3)[np.arange(150) % 3]
        each = np.arange(3)
        plan = Layout(np.zeros(3, dtype=int), np.array([True]), each[:1], np.zeros(1, dtype=bool))
        by_rank, by_deviation = (prepare_columns(levels, s, layout=plan).X for s in ("rank", True))
        every = np.arange(150)
        assert_array_equal(by_rank.take(every), by_deviation.take(every))

    def test_frames_with_categories(self):
        frame = pd.DataFrame(FAR, columns=list("abcdefgh"))
        frame["level"] = pd.Categorical(np.where(Z[:, 2] > 0.0, "high", "low"))
        y = NUMBERS + 2.0 * (Z[:, 2] > 0.0)
        selector = CCMSelector(3, standardize="rank").fit(frame, y)
        assert set(frame.columns[selector.get_support()]) == {"a", "b", "level"}

    def test_rounding_errors_have_no_rank(self):
        X = np.c_[1.0 + 1e-16 * Z[:, 2], np.full(150, 0.3), np.zeros(150), Z[:, 0]]
        X[::2, 1] = 0.1 + 0.2
        scores = NormalScores.of(X, np.full(150, 1.0 / 150), np.zeros(4, dtype=bool))
        assert_array_equal(scores.apply(X)[:, :3], X[:, :3])
        assert scores.knots[3] is not None

    def test_the_criterion(self):
        by_rank = [
            conditional_covariance_trace(X, NUMBERS, standardize="rank") for X in (Z, np.exp(Z))
        ]
        assert by_rank[0] == by_rank[1] < conditional_covariance_trace(FAR, NUMBERS)

    def test_knockoffs_are_copies_of_the_scores(self):
        selector = KnockoffSelector(CCMSelector(1, standardize="rank"), fdr=0.5)
        W = [selector.fit(X, NUMBERS).W_ for X in (Z, np.exp(3.0 * Z))]
        assert_array_equal(*W)

    @pytest.mark.parametrize("n", [1000, 3000, 25_000])
    def test_monotone_maps_change_nothing_at_any_number_of_rows(self, n):
        X = np.random.default_rng(n).standard_normal((n, 4))
        mapped = np.column_stack([np.exp(3.0 * X[:, :2]), X[:, 2:] ** 3])
        y = X[:, 0] * X[:, 1] + X[:, 2]
        a, b = (CCMSelector(2, standardize="rank").fit(Z, y) for Z in (X, mapped))
        assert_array_equal(a.ranking_, b.ranking_)
        assert_array_equal(a.weights_, b.weights_)

    def test_many_values_are_kept_at_some(self):
        X = np.sort(RNG.standard_normal((3 * SAMPLE_ROWS, 1)), axis=0)
        p = np.full(len(X), 1.0 / len(X))
        scores = NormalScores.of(X, p, np.array([False]))
        assert scores.knots[0][0].size <= SAMPLE_ROWS
        # A rank is off by half the distance of two knots at most.
        assert_allclose(scores.apply(X)[50:-50], X[50:-50], atol=0.15)
        assert (np.diff(scores.apply(X)[:, 0]) >= 0.0).all()
        beyond = scores.apply(np.array([[-1e300], [1e300]]))
        assert_array_equal(beyond, scores.apply(X[[0, -1]]))


class TestByRankInBlocks:
    """Rows that are never copied have the scores that a copy has."""

    @pytest.fixture
    def copied(self):
        return CCMSelector(2, standardize="rank", approximation="fourier").fit(FAR, NUMBERS)

    def same(self, copied, X, y):
        read = CCMSelector(2, standardize="rank", approximation="fourier").fit(X, y)
        assert_array_equal(read.ranking_, copied.ranking_)
        # Blocks of other sizes are summed in single precision.
        assert_allclose(read.objective_, copied.objective_, rtol=1e-5)

    def test_mapped(self, copied, tmp_path):
        np.save(tmp_path / "X.npy", FAR)
        self.same(copied, np.load(tmp_path / "X.npy", mmap_mode="r"), NUMBERS)

    def test_parquet(self, copied, tmp_path):
        pytest.importorskip("pyarrow")
        frame = pd.DataFrame(FAR, columns=list("abcdefgh")).assign(y=NUMBERS)
        frame.to_parquet(tmp_path / "table.parquet")
        self.same(copied, *open_parquet(tmp_path / "table.parquet", "y"))

    def test_dask(self, copied):
        da = pytest.importorskip("dask.array")
        self.same(copied, da.from_array(FAR, chunks=(40, 8)), NUMBERS)

    def test_what_is_no_number_is_refused(self, tmp_path):
        X = FAR.copy()
        X[3, 4] = np.inf
        np.save(tmp_path / "X.npy", X)
        with pytest.raises(ValueError, match="infinity in 1 column"):
            CCMSelector(2, standardize="rank", approximation="fourier").fit(
                np.load(tmp_path / "X.npy", mmap_mode="r"), NUMBERS
            )


class TestOutliers:
    """By deviation a far value would hide the others, so it is clipped."""

    @BOTH
    def test_columns_are_named(self, approximation):
        frame = pd.DataFrame(Z, columns=list("abcdefgh"))
        plain = CCMSelector(2, approximation=approximation).fit(frame, NUMBERS)
        frame.loc[3, "c"], frame.loc[5, "f"] = 1e12, -1e25
        selector = CCMSelector(2, approximation=approximation).fit(frame, NUMBERS)
        assert "clipped in 2 columns: 'c', 'f'" in str(selector.plan_)
        assert "clipped" not in str(plain.plan_)
        unnamed = CCMSelector(2, approximation=approximation).fit(frame.to_numpy(), NUMBERS)
        assert "clipped in 2 columns: 2, 5" in str(unnamed.plan_)
        assert_array_equal(selector.support_, plain.support_)

    def test_errors_in_a_few_cells_of_every_column(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((300, 60))
        y = X[:, 0] + X[:, 1] + 0.3 * rng.standard_normal(300)
        X[rng.random(X.shape) < 0.01] *= 1000.0
        assert_array_equal(CCMSelector(2).fit(X, y).get_support(indices=True), [0, 1])

    def test_of_a_response_with_heavy_tails_only_the_order_counts(self):
        y = np.random.default_rng(0).standard_cauchy(300)
        assert_array_equal(encode_response(y).Y, encode_response(y**3).Y)

    @pytest.mark.parametrize(
        "X",
        [
            np.exp(Z),
            counts(Z),
            Z > 1.5,
            np.where(Z > 2.0, 50.0, 0.0),
            Z**3,
            Z[:12],
            np.where(Z > 1.4, np.round(np.exp(3.0 * (Z - 1.4))), 0.0),
            np.where(Z > 1.6, Z - 1.6, 0.0),
        ],
        ids=[
            "lognormal",
            "counts",
            "rare",
            "rarer",
            "cubes",
            "few rows",
            "zeros and counts",
            "zeros and amounts",
        ],
    )
    def test_skewed_and_rare_ones_are_no_such(self, X):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*too few|.*constant")
            CCMSelector(2).fit(X.astype(float), NUMBERS[: len(X)])

    def test_nor_are_they_looked_for_in_units_that_mean_something(self):
        CCMSelector(2, standardize=False, kernel="linear").fit(FAR / 1e12, NUMBERS)

    def test_of_the_response(self):
        y = NUMBERS.copy()
        y[7] = 1e12
        expected = CCMSelector(2).fit(Z, NUMBERS)
        assert_array_equal(CCMSelector(2).fit(Z, y).support_, expected.support_)


class TestFewRows:
    @pytest.mark.parametrize("n", [2, 3, 4])
    @pytest.mark.parametrize("y", [NUMBERS, np.arange(150) % 2], ids=["numbers", "classes"])
    def test_chance_is_named(self, n, y):
        many = RNG.standard_normal((n, 40))
        with pytest.warns(UserWarning, match=f"With {n} samples, ranks are hardly better"):
            CCMSelector(2).fit(many, y[:n])

    @pytest.mark.parametrize("n", [8, 12])
    def test_a_strong_feature_is_found_among_few(self, n):
        selector = CCMSelector().fit(Z[:n, :3], 2.0 * Z[:n, 0])
        assert selector.ranking_[0] == 1

    def test_folds_of_a_user(self):
        model = make_pipeline(CCMSelector(1, standardize="rank"), KNeighborsClassifier(1))
        y = (Z[:12, 0] > np.median(Z[:12, 0])).astype(int)
        assert cross_val_score(model, Z[:12, :2], y, cv=4).mean() > 0.7


class TestClasses:
    @pytest.mark.parametrize("n_members", [2, 3])
    def test_many_of_few_members(self, n_members):
        label = np.repeat(np.arange(60), n_members)
        X = RNG.standard_normal((label.size, 8))
        X[:, :3] = RNG.standard_normal((60, 3))[label] + 0.2 * X[:, :3]
        selector = CCMSelector(3, task="classification").fit(X, label)
        assert_array_equal(selector.get_support(indices=True), [0, 1, 2])

    def test_their_number_is_chosen(self):
        label = np.repeat(np.arange(60), 2)
        rng = np.random.default_rng(1)
        X = rng.standard_normal((120, 6))
        X[:, :2] = rng.standard_normal((60, 2))[label] + 0.1 * X[:, :2]
        selector = CCMSelector(task="classification").fit(X, label)
        assert_array_equal(selector.get_support(indices=True), [0, 1])

    def test_of_one_member(self):
        y = np.where(Z[:, 0] > 0.0, "a", "b").astype(object)
        y[:2] = "c", "d"
        assert_array_equal(CCMSelector().fit(Z, y).get_support(indices=True), [0])

    @BOTH
    def test_five_of_many(self, approximation):
        X = RNG.standard_normal((600, 6))
        y = np.zeros(600, dtype=int)
        y[np.argsort(X[:, 0] + X[:, 1])[-5:]] = 1
        selector = CCMSelector(2, approximation=approximation).fit(X, y)
        assert_array_equal(selector.get_support(indices=True), [0, 1])

    def test_five_of_many_choose_their_number(self):
        """Four of them are left to train on: once in a while a set with noise does as well."""
        kept = []
        for seed in range(4):
            X = np.random.default_rng(seed).standard_normal((200, 3))
            y = np.zeros(200, dtype=int)
            y[np.argsort(X[:, 0])[-5:]] = 1
            kept.append(CCMSelector().fit(X, y).get_support(indices=True).tolist())
        assert all(0 in each for each in kept)
        assert kept.count([0]) >= 3


@pytest.mark.parametrize("y", [NUMBERS, CLASSES], ids=["numbers", "classes"])
def test_sorted_rows_choose_what_others_choose(y):
    whole = CCMSelector().fit(Z[:80], y[:80])
    order = np.argsort(y[:80], kind="stable")
    found = CCMSelector().fit(Z[:80][order], y[:80][order])
    assert found.n_features_ == whole.n_features_
    assert_allclose(found.cv_results_.mean_error, whole.cv_results_.mean_error, rtol=1e-6)
