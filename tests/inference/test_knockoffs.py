"""KnockoffSelector: the swap property, the filter, and what it finds."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LassoCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from covmin import CCMSelector, KnockoffSelector, LongRun
from covmin.datasets import make_survival
from covmin.inference.gaussian_knockoffs import GaussianKnockoffs
from covmin.inference.knockoffs import (
    _e_value_q_values,
    _e_values,
    knockoff_q_values,
    swap_statistics,
)


@pytest.mark.filterwarnings("ignore:.*constant feature:UserWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@pytest.mark.filterwarnings("ignore:fdr=:UserWarning")
@parametrize_with_checks([KnockoffSelector(), KnockoffSelector(n_draws=2, offset=0, fdr=0.5)])
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
    copies = GaussianKnockoffs(Z).draw(rng)
    W = swap_statistics(clone(estimator), Z, copies, y, importance=importance)
    swapped = rng.random(16) < 0.5
    A, B = np.where(swapped, copies, Z), np.where(swapped, Z, copies)
    flipped = swap_statistics(clone(estimator), A, B, y, importance=importance)
    assert np.abs(W).max() > 0
    assert_array_equal(flipped, np.where(swapped, -W, W))


def test_equal_columns_count_for_nothing(data):
    X, y = data
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    copies = np.random.default_rng(3).permutation(Z)
    copies[:, 2] = Z[:, 2]
    W = swap_statistics(CCMSelector(1), Z, copies, y)
    assert_array_equal(W == 0, np.arange(16) == 2)


# --- the filter -----------------------------------------------------------------------------------


def naive_filter(W, fdr, offset):
    for t in np.sort(np.abs(W[W != 0])):
        if (offset + (-t >= W).sum()) / max(1, (t <= W).sum()) <= fdr:
            return t <= W
    return np.zeros(W.size, dtype=bool)


@pytest.mark.parametrize("offset", [0, 1])
def test_q_values_are_the_filter_at_every_level(offset):
    rng = np.random.default_rng(4)
    for _ in range(40):
        W = np.round(rng.normal(rng.choice([0.0, 2.0], 30), 1.0), 1)
        q = knockoff_q_values(W, offset)
        for fdr in (0.05, 0.1, 0.2, 0.5):
            assert_array_equal(q <= fdr, naive_filter(W, fdr, offset))


def test_e_values_bound_what_they_should():
    W = np.r_[np.arange(1.0, 31.0), -0.5]
    e = _e_values(W, fdr=0.2, offset=1)
    assert_allclose(e[e > 0], 31.0)
    kept = _e_value_q_values(e) <= 0.2
    assert_array_equal(kept, e > 0)
    assert not (_e_value_q_values(np.zeros(4)) <= 1.0).any()
    assert_allclose(_e_value_q_values(np.array([8.0, 1.0, 4.0, 0.5])), [0.5, 4 / 3, 0.5, 2.0])


# --- the selector ---------------------------------------------------------------------------------


def test_many_samples_are_ranked_by_components():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2001, 7))
    y = X[:, :5].sum(axis=1) + rng.standard_normal(2001)
    selector = KnockoffSelector(fdr=0.3).fit(X, y)
    assert selector.support_[:5].all()
    assert selector.support_[5:].sum() <= 1


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


def test_several_draws_are_the_mean_of_single_ones(data):
    X, y = data
    options = {"fdr": 0.4, "importance": coefficients}
    several = KnockoffSelector(LassoCV(), n_draws=3, **options).fit(X, y)
    parallel = clone(several).set_params(n_jobs=2).fit(X, y)
    assert_array_equal(parallel.W_, several.W_)
    first = KnockoffSelector(LassoCV(), **options).fit(X, y)
    assert several.e_values_.shape == first.W_.shape
    assert first.e_values_ is None
    assert np.isnan(several.threshold_)
    assert_array_equal(several.support_, _e_value_q_values(several.e_values_) <= 0.4)
    order = np.argsort(several.ranking_)
    assert (np.diff(several.e_values_[order]) <= 0).all()


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


def test_constant_columns_are_never_kept(data):
    X, y = data
    X = np.column_stack([X, np.ones(200)])
    with pytest.warns(UserWarning, match="constant"):
        selector = KnockoffSelector(fdr=0.2).fit(X, y)
    assert selector.W_[-1] == 0
    assert not selector.support_[-1]


def test_names_and_frames(data):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(16)])
    selector = KnockoffSelector(fdr=0.2).set_output(transform="pandas").fit(frame, y)
    out = selector.transform(frame)
    assert list(out.columns) == list(selector.get_feature_names_out())
    assert out.shape[1] == selector.n_features_ > 0


def test_bad_input(data):
    X, y = data
    with pytest.raises(ValueError, match="no ranking_"):
        KnockoffSelector(LassoCV()).fit(X, y)
    with pytest.raises(ValueError, match="one number for each of the 32 columns"):
        KnockoffSelector(LassoCV(), importance=lambda model: model.coef_[:3]).fit(X, y)
    with pytest.raises(ValueError, match="fdr"):
        KnockoffSelector(fdr=1.0).fit(X, y)
    with pytest.raises(ValueError, match="'n_jobs' parameter"):
        KnockoffSelector(n_jobs=0).fit(X, y)


def test_too_few_features_to_keep_the_promise(data):
    X, y = data
    with pytest.warns(UserWarning, match="fewer than 10 features, and X has 3"):
        assert not KnockoffSelector().fit(X[:, :3], y).support_.any()
    with pytest.raises(ValueError, match="are not numeric: 'b'"):
        KnockoffSelector().fit(pd.DataFrame({"a": X[:, 0], "b": "text"}), y)


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


def test_few_features_that_no_filter_could_keep_are_told():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 20))
    y = 2 * X[:, :3].sum(axis=1) + 0.1 * rng.standard_normal(200)
    with pytest.warns(UserWarning, match=r"\d feature\(s\) stand before every copy.*at least 10"):
        assert KnockoffSelector(fdr=0.1).fit(X, y).n_features_ == 0


def test_times_to_an_event_reach_the_estimator():
    X, y = make_survival(200, 3, random_state=0, return_X_y=True)
    found = KnockoffSelector(fdr=0.4).fit(X, y)
    assert found.W_[:3].min() > 0.0
    estimator = found._estimator().set_params(task="survival")
    table = KnockoffSelector(estimator, fdr=0.4).fit(X, pd.DataFrame(y))
    assert_array_equal(table.W_, found.W_)
