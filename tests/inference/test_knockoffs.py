"""KnockoffSelector: the swap property, the filter, and what it finds."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LassoCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from covmin import CCMSelector, KnockoffSelector, LongRun
from covmin.core.units import Units
from covmin.data import TableOptions, read
from covmin.datasets import make_survival
from covmin.inference.copula import GaussianKnockoffs
from covmin.inference.error_control import knockoff_q_values
from covmin.inference.knockoffs import swap_statistics


@pytest.mark.filterwarnings("ignore:.*constant feature:UserWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@pytest.mark.filterwarnings("ignore:fdr=:UserWarning")
@parametrize_with_checks([KnockoffSelector()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def coefficients(model):
    return np.abs(model.coef_)


def autoregressive(rng, n, d, rho):
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = autoregressive(rng, 200, 16, 0.3)
    effects = 2 * np.sin(2 * X[:, :6]) + X[:, :6]
    return X, effects.sum(axis=1) + 0.5 * rng.standard_normal(200)


# --- the statistic --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "importance"),
    [(CCMSelector(1, epsilon=0.01), None), (LassoCV(), coefficients)],
)
def test_a_swap_flips_its_own_sign_only(data, estimator, importance):
    X, y = data
    rng = np.random.default_rng(2)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    copies = GaussianKnockoffs(np.corrcoef(Z.T), np.arange(16)).draw(Z, rng)
    W = swap_statistics(clone(estimator), Z, copies, y, importance=importance)
    swapped = rng.random(16) < 0.5
    A, B = np.where(swapped, copies, Z), np.where(swapped, Z, copies)
    flipped = swap_statistics(clone(estimator), A, B, y, importance=importance)
    assert np.abs(W).max() > 0
    assert_array_equal(flipped, np.where(swapped, -W, W))


def test_a_swap_of_a_group_flips_the_sign_of_the_group(data):
    X, y = data
    rng = np.random.default_rng(2)
    unit = np.r_[np.repeat(np.arange(7), 2), -1, -1]
    units = Units(unit, np.where(unit < 0, 1.0, np.sqrt(0.5)))
    copies = np.where(unit < 0, X, rng.permutation(X))
    W = swap_statistics(CCMSelector(1, epsilon=0.01), X, copies, y, units=units)
    swapped = (rng.random(7) < 0.5)[unit] & (unit >= 0)
    A, B = np.where(swapped, copies, X), np.where(swapped, X, copies)
    flipped = swap_statistics(CCMSelector(1, epsilon=0.01), A, B, y, units=units)
    assert_array_equal(flipped, np.where(swapped[:14:2], -W, W))
    assert W.shape == (7,)


def test_equal_columns_count_for_nothing(data):
    X, y = data
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    copies = np.random.default_rng(3).permutation(Z)
    copies[:, 2] = Z[:, 2]
    W = swap_statistics(CCMSelector(1), Z, copies, y)
    assert_array_equal(W == 0, np.arange(16) == 2)
    copies[:, 3] = 1.0  # by chance, as of a rare level
    assert swap_statistics(CCMSelector(1), Z, copies, y)[3] == 0


# --- the filter -----------------------------------------------------------------------------------


def naive_filter(W, fdr):
    for t in np.sort(np.abs(W[W != 0])):
        if (1 + (-t >= W).sum()) / max(1, (t <= W).sum()) <= fdr:
            return t <= W
    return np.zeros(W.size, dtype=bool)


def test_q_values_are_the_filter_at_every_level():
    rng = np.random.default_rng(4)
    for _ in range(40):
        W = np.round(rng.normal(rng.choice([0.0, 2.0], 30), 1.0), 1)
        q = knockoff_q_values(W)
        for fdr in (0.05, 0.1, 0.2, 0.5):
            assert_array_equal(q <= fdr, naive_filter(W, fdr))


def test_many_samples_are_ranked_by_components():
    """Each of two noise columns ranks before its copy in every other draw."""
    false = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((2001, 7))
        y = X[:, :5].sum(axis=1) + rng.standard_normal(2001)
        support = KnockoffSelector(fdr=0.3).fit(X, y).support_
        assert support[:5].all()
        false.append(support[5:].sum() / support.sum())
    assert np.mean(false) <= 0.3


def test_finds_nonlinear_effects(data):
    X, y = data
    selector = KnockoffSelector(fdr=0.2).fit(X, y)
    assert selector.support_[:6].sum() >= 5
    assert selector.support_[6:].sum() <= 2
    assert_array_equal(np.sort(selector.ranking_), np.arange(1, 17))
    assert_array_equal(selector.support_, selector.threshold_ <= selector.W_)
    assert (np.diff(selector.W_[np.argsort(selector.ranking_)]) <= 0).all()


def test_same_answer_with_one_seed_wherever_the_columns_stand(data):
    X, y = data
    selector = KnockoffSelector(fdr=0.2).fit(X, y)
    order = np.random.default_rng(5).permutation(16)
    permuted = clone(selector).fit(X[:, order], y)
    assert_array_equal(permuted.W_, selector.W_[order])
    other = clone(selector).set_params(random_state=1).fit(X, y)
    assert not np.array_equal(other.W_, selector.W_)


@pytest.mark.slow
def test_noise_is_mostly_left_alone():
    """With no effects at all, the share of runs with any discovery is the false discovery rate."""
    any_kept = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((60, 10)), rng.standard_normal(60)
        selector = KnockoffSelector(
            LassoCV(), fdr=0.2, importance=coefficients, random_state=seed
        ).fit(X, y)
        any_kept.append(selector.support_.any())
    assert np.mean(any_kept) <= 0.2 + 2 * np.sqrt(0.2 * 0.8 / 25)


def test_noisy_copies_of_true_features_are_not_discoveries():
    """Jointly Gaussian: a correlation shrunk too far lets more than half of the kept be false."""
    false = []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((300, 20))
        B = A + 0.3 * rng.standard_normal((300, 20))
        y = A[:, :12].sum(axis=1) + rng.standard_normal(300)
        kept = KnockoffSelector(fdr=0.2, random_state=seed).fit(np.hstack([A, B]), y).support_
        false.append(kept[12:].sum() / max(kept.sum(), 1))
    assert np.mean(false) <= 0.2 + 2 * np.sqrt(0.2 * 0.8 / 16)


def test_constant_columns_are_never_kept(data):
    X, y = data
    X = np.column_stack([X, np.ones(200)])
    with pytest.warns(UserWarning, match="constant"):
        selector = KnockoffSelector(fdr=0.2).fit(X, y)
    assert selector.W_[-1] == 0
    assert not selector.support_[-1]


def test_a_table_in_place_of_X(data):
    X, y = data[0][:60], data[1][:60]
    weight = np.random.default_rng(0).integers(1, 3, 60)
    for sample_weight in (None, weight):
        table = read(X, y, TableOptions(), sample_weight)
        by_table = KnockoffSelector(fdr=0.3).fit(table)
        plain = KnockoffSelector(fdr=0.3).fit(X, y, sample_weight=sample_weight)
        assert_array_equal(by_table.W_, plain.W_)
    with pytest.raises(ValueError, match="read with class_weight"):
        KnockoffSelector(fdr=0.3).fit(read(X, y > 0, TableOptions(class_weight="balanced")))


def test_bad_input(data):
    X, y = data
    with pytest.raises(ValueError, match="no ranking_"):
        KnockoffSelector(LassoCV()).fit(X, y)
    with pytest.raises(ValueError, match="one number for each of the 32 columns"):
        KnockoffSelector(LassoCV(), importance=lambda model: model.coef_[:3]).fit(X, y)
    with pytest.raises(ValueError, match="fdr"):
        KnockoffSelector(fdr=1.0).fit(X, y)


@pytest.mark.filterwarnings("ignore:fdr=:UserWarning", "ignore:.*too few:UserWarning")
def test_two_samples_have_no_correlation(data):
    X, y = data
    with pytest.raises(ValueError, match="minimum of 3 is required by KnockoffSelector"):
        KnockoffSelector().fit(X[:2], y[:2])


def test_too_few_features_to_keep_the_promise(data):
    X, y = data
    with pytest.warns(UserWarning, match="at least 10 features, but X has 3"):
        assert not KnockoffSelector().fit(X[:, :3], y).support_.any()


def test_a_checkpoint_of_one_fit_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    inner = CCMSelector(1, long_run=LongRun(tmp_path / "fit"))
    with pytest.raises(ValueError, match="KnockoffSelector makes many"):
        KnockoffSelector(inner, fdr=0.5).fit(X, X[:, 0])


@pytest.mark.parametrize("seed", [0, 7])
def test_copies_of_samples_that_were_drawn_with_the_same_seed(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((400, 20))
    y = X[:, :12].sum(axis=1) + rng.standard_normal(400)
    selector = KnockoffSelector(fdr=0.1, random_state=seed).fit(X, y)
    assert selector.support_[:12].all()
    assert selector.support_[12:].mean() < 0.5


# --- tables ---------------------------------------------------------------------------------------


def messy(n=160):
    """Numbers, text, gaps, dates and row numbers; y depends on six of them."""
    rng = np.random.default_rng(8)
    numbers = rng.standard_normal((n, 9))
    frame = pd.DataFrame(numbers, columns=[f"x{j}" for j in range(9)])
    level = rng.integers(0, 3, n)
    frame["city"] = np.array(["Oslo", "Rome", "Bonn"])[level]
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D")
    frame["row"] = np.arange(n)
    y = 2 * numbers[:, :5].sum(axis=1) + 4 * (level == 1) + rng.standard_normal(n)
    frame.loc[rng.random(n) < 0.2, "x1"] = np.nan
    return frame, y


@pytest.mark.filterwarnings("ignore:Excluded")
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_as_they_come(library):
    frame, y = messy()
    frame = frame if library == "pandas" else pl.from_pandas(frame)
    selector = KnockoffSelector(fdr=0.3).set_output(transform=library).fit(frame, y)
    kept = list(selector.get_feature_names_out())
    assert {"x0", "x1", "x2", "x3", "x4", "city"} <= set(kept)
    assert "row" not in kept
    out = selector.transform(frame)
    assert list(out.columns) == kept
    assert type(out) is type(frame)


@pytest.mark.filterwarnings("ignore:Excluded")
def test_groups_and_given_columns_of_the_estimator():
    frame, y = messy()
    inner = CCMSelector(feature_groups={"pair": ["x0", "x1"], "noise": ["x7", "x8"]}, given="x2")
    selector = KnockoffSelector(inner, fdr=0.3).fit(frame, y)
    assert selector.W_[0] == selector.W_[1] == selector.W_[:2].max() > 0
    assert selector.support_[[0, 1, 2, 3, 4, 9]].all()
    assert np.isnan(selector.W_[2])
    assert selector.ranking_[2] == selector.q_values_[2] == 0
    assert_array_equal(np.unique(selector.ranking_), np.arange(10))
    assert selector.n_features_ == np.unique(selector.ranking_[selector.support_]).size - 1
    assert list(selector.feature_groups_[:2]) == ["pair", "x2"]
    assert inner.feature_groups["pair"] == ["x0", "x1"]


@pytest.mark.filterwarnings("ignore:Excluded")
def test_other_estimators_see_numbers():
    frame, y = messy()
    selector = KnockoffSelector(LassoCV(), importance=coefficients, fdr=0.3).fit(frame, y)
    assert selector.support_[[0, 1, 2, 3, 4, 9]].all()
    assert selector.W_.shape == (12,)


def test_weights_are_repeats(data):
    X, y = data[0][:80], data[1][:80]
    weight = np.random.default_rng(1).integers(0, 3, 80)
    weighted = KnockoffSelector(fdr=0.3).fit(X, y, sample_weight=weight)
    order = np.random.default_rng(2).permutation(np.repeat(np.arange(80), weight))
    assert_array_equal(KnockoffSelector(fdr=0.3).fit(X[order], y[order]).W_, weighted.W_)
    with pytest.raises(TypeError, match="KNeighborsRegressor accepts none"):
        KnockoffSelector(KNeighborsRegressor(), importance=len).fit(X, y, sample_weight=weight)


@pytest.mark.slow
def test_repeated_rows_are_no_discoveries():
    """Copies of a row would give a feature its response away."""
    rng = np.random.default_rng(3)
    X, y = np.tile(rng.standard_normal((40, 15)), (4, 1)), np.tile(rng.standard_normal(40), 4)
    kept = [KnockoffSelector(fdr=0.3, random_state=s).fit(X, y).support_.any() for s in range(10)]
    assert np.mean(kept) < 0.8


@pytest.mark.parametrize(("other", "told"), [(0, "0"), (2, "0 and 2")])
@pytest.mark.filterwarnings("ignore:Nothing was kept")
def test_columns_that_follow_curves_or_products_of_others_are_told_and_not_kept(other, told):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((200, 16))
    X[:, 1] = X[:, 0] * X[:, other] + 0.3 * X[:, 1]
    y = X[:, :10].sum(axis=1) + 0.3 * rng.standard_normal(200)
    bent = np.unique([0, 1, other])
    with pytest.warns(UserWarning, match=f"Column 1 follows a curve or a product of {told}, which"):
        selector = KnockoffSelector(fdr=0.3).fit(X, y)
    assert selector.n_features_ > 0
    assert not selector.support_[bent].any()
    together = CCMSelector(feature_groups={"together": bent.tolist()})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert KnockoffSelector(together, fdr=0.3).fit(X, y).support_[bent].all()


@pytest.mark.filterwarnings("ignore:Column .* follows", "ignore:Nothing was kept")
@pytest.mark.parametrize(
    "curve",
    [lambda A: np.maximum(A, np.roll(A, 1, axis=1)), lambda A: np.sin(3.0 * A)],
    ids=["largest", "wave"],
)
def test_curves_of_true_features_are_no_discoveries(curve):
    """Outside the assumption: more than a third of the discoveries would be false at 0.2."""
    false = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((300, 20))
        B = curve(A) + 0.3 * rng.standard_normal(A.shape)
        y = B[:, :12].sum(axis=1) + rng.standard_normal(300)
        kept = KnockoffSelector(fdr=0.2, random_state=seed).fit(np.hstack([B, A]), y).support_
        false.append(kept[12:].sum() / max(kept.sum(), 1))
    assert np.mean(false) <= 0.2


def test_what_is_left_at_auto_is_chosen_for_the_comparison(data):
    X, y = data
    plain = KnockoffSelector(fdr=0.2).fit(X, y)
    assert_array_equal(KnockoffSelector(CCMSelector(), fdr=0.2).fit(X, y).W_, plain.W_)


def test_few_features_that_no_filter_could_keep_are_told():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 20))
    y = 2 * X[:, :3].sum(axis=1) + 0.1 * rng.standard_normal(200)
    told = r"the first \d precede every copy.*at least 10.*use VerdictSelector"
    with pytest.warns(UserWarning, match=told):
        assert KnockoffSelector(fdr=0.1).fit(X, y).n_features_ == 0
    with pytest.warns(UserWarning, match="at least 40 features, but X has 20"):
        KnockoffSelector(fdr=0.025).fit(X, y)


def test_times_to_an_event_reach_the_estimator():
    X, y = make_survival(200, 3, random_state=0, return_X_y=True)
    found = KnockoffSelector(fdr=0.4).fit(X, y)
    assert found.W_[:3].min() > 0.0
    estimator = found._estimator().set_params(task="survival")
    table = KnockoffSelector(estimator, fdr=0.4).fit(X, pd.DataFrame(y))
    assert_array_equal(table.W_, found.W_)


def test_how_the_response_was_read_is_said_once():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 3)), rng.poisson(20, 300)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        KnockoffSelector(fdr=0.5).fit(X, y)
    assert [str(each.message)[:7] for each in caught].count("y has 2") == 1
