"""StabilitySelector: halves, frequencies, thresholds, and what is refused."""

import os
import signal
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from covmin import CCMSelector, LongRun, StabilitySelector, open_parquet
from covmin.data import TableOptions, read
from covmin.datasets import make_additive, make_survival, make_xor
from covmin.inference.error_control import false_selections
from covmin.inference.stability import _complementary_halves


# A feature that is constant on one half, or no feature above the threshold, is worth a warning.
@pytest.mark.filterwarnings("ignore:.*constant feature:UserWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks(
    [
        StabilitySelector(n_pairs=2),
        StabilitySelector(SelectKBest(k=1), n_pairs=3, threshold=0.1),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def xor():
    return make_xor(100, random_state=3, return_X_y=True)


@pytest.fixture(scope="module")
def fitted(xor):
    return StabilitySelector(CCMSelector(3), n_pairs=5, threshold=0.8).fit(*xor)


# --- halves ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [20, 21])
def test_halves_are_disjoint_and_stratified(n):
    strata = np.r_[np.zeros(n - 6, int), np.ones(4, int), np.full(2, 2)]
    halves = list(_complementary_halves(strata, 30, seed=0))
    left_out = set()
    for first, second in zip(halves[::2], halves[1::2], strict=True):
        assert first.size == second.size == n // 2
        assert np.intersect1d(first, second).size == 0
        left_out |= set(range(n)) - set(first) - set(second)
        for half in (first, second):
            counts = np.bincount(strata[half], minlength=3)
            assert_array_equal(counts[1:], [2, 1])
    assert bool(left_out) == bool(n % 2)
    assert len(left_out) >= 5 * (n % 2)


def test_halves_differ_between_pairs_and_repeat_with_the_seed():
    strata = np.zeros(30, int)
    halves = np.array(list(_complementary_halves(strata, 10, seed=1)))
    assert len({tuple(half) for half in halves}) == 20
    assert_array_equal(halves, np.array(list(_complementary_halves(strata, 10, seed=1))))


# --- what is kept ---------------------------------------------------------------------------------


def test_frequencies_are_counted(xor, fitted):
    X, y = xor
    halves = list(_complementary_halves(y, 5, seed=0))
    chosen = [CCMSelector(3).fit(X[rows], y[rows]) for rows in halves]
    assert_allclose(fitted.frequencies_, np.mean([s.support_ for s in chosen], axis=0))
    assert_allclose(fitted.mean_ranks_, np.mean([s.ranking_ for s in chosen], axis=0))
    assert fitted.n_selected_ == 3.0
    assert_array_equal(fitted.get_support(indices=True), [0, 1, 2])


def test_ranking_has_no_ties_and_follows_the_frequencies(fitted):
    assert_array_equal(np.sort(fitted.ranking_), np.arange(1, 11))
    order = np.argsort(fitted.ranking_)
    assert (np.diff(fitted.frequencies_[order]) <= 0).all()
    same = np.diff(fitted.frequencies_[order]) == 0
    assert same.any()
    assert (np.diff(fitted.mean_ranks_[order])[same] >= 0).all()


def test_same_frequencies_with_one_seed_and_any_number_of_jobs():
    X, y = make_xor(36, random_state=0, return_X_y=True)  # few enough for choices to differ
    selector = StabilitySelector(CCMSelector(3), n_pairs=2)
    first = clone(selector).fit(X, y)
    parallel = clone(selector).set_params(n_jobs=2).fit(X, y)
    other = clone(selector).set_params(random_state=1).fit(X, y)
    assert_array_equal(clone(selector).fit(X, y).frequencies_, first.frequencies_)
    assert_array_equal(parallel.frequencies_, first.frequencies_)
    assert not np.array_equal(other.frequencies_, first.frequencies_)


def global_state():
    return np.random.get_state()[1].copy()  # noqa: NPY002


def test_the_global_generator_is_left_alone(xor):
    state = global_state()
    StabilitySelector(CCMSelector(3), n_pairs=1).fit(*xor)
    assert_array_equal(global_state(), state)


def test_threshold_from_a_bound(xor):
    strict = StabilitySelector(SelectKBest(k=3), n_pairs=10, max_false=1e-9)
    with pytest.raises(ValueError, match="fewer features"):
        strict.fit(*xor)
    assert not hasattr(strict, "n_features_in_")
    selector = StabilitySelector(SelectKBest(k=3), n_pairs=10, max_false=0.5).fit(*xor)
    assert selector.error_bound_.r_concave <= 0.5 < selector.error_bound_.worst_case
    lower = false_selections(selector.threshold_ - 0.05, 3, 10, 10).r_concave
    assert lower > 0.5
    assert_array_equal(selector.support_, selector.frequencies_ >= selector.threshold_ - 1e-9)


def test_a_selector_without_ranks():
    data = make_additive(60, random_state=0)
    selector = StabilitySelector(SelectKBest(k=2), n_pairs=3).fit(
        data.data, (data.target > 0).astype(int)
    )
    assert selector.mean_ranks_ is None
    assert_array_equal(np.sort(selector.ranking_), np.arange(1, 11))


def test_frames_keep_their_names(xor):
    X, y = xor
    names = [f"f{j}" for j in range(10)]
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        selector = StabilitySelector(CCMSelector(3), n_pairs=1, threshold=0.6)
        out = selector.set_output(transform="pandas").fit(frame, y).transform(frame)
        assert list(out.columns) == list(selector.get_feature_names_out()) == names[:3]


def test_groups_and_given_columns_of_the_selector(xor):
    X, y = xor
    inner = CCMSelector(2, feature_groups={"a": [0, 1], "b": [8, 9]}, given=2)
    selector = StabilitySelector(inner, n_pairs=3, threshold=0.8).fit(X, y)
    assert_array_equal(selector.get_support(indices=True)[:3], [0, 1, 2])
    assert selector.n_selected_ == 2.0  # without the given column; a group is one
    assert_array_equal(np.unique(selector.ranking_), np.arange(8))
    assert selector.ranking_[2] == 0
    assert selector.n_features_ == np.unique(selector.ranking_[selector.support_]).size - 1
    bound = false_selections(0.8, 2.0, 7, 3).worst_case
    assert_allclose(selector.error_bound_.worst_case, bound)


def test_weights_are_split_with_the_samples():
    X, y = make_xor(48, random_state=0, return_X_y=True)
    weight = np.random.default_rng(0).integers(0, 3, 48)
    selector = StabilitySelector(CCMSelector(3), n_pairs=3)
    weighted = clone(selector).fit(X, y, sample_weight=weight)
    plain = clone(selector).fit(X, y)
    assert not np.array_equal(weighted.frequencies_, plain.frequencies_)
    equal = clone(selector).fit(X, y, sample_weight=np.ones(48))
    assert_allclose(equal.frequencies_, plain.frequencies_)
    # A row twice is a row of weight two: both halves would hold it otherwise.
    repeated = clone(selector).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(repeated.frequencies_, weighted.frequencies_)
    with pytest.raises(TypeError, match="SelectKBest accepts none"):
        StabilitySelector(SelectKBest(k=1)).fit(X, y, sample_weight=weight)


def test_progress_is_shown(xor, capsys):
    StabilitySelector(CCMSelector(3), n_pairs=1, verbose=1).fit(*xor)
    assert "stability" in capsys.readouterr().err


class TaskSeen(CCMSelector):
    """Notes how each half was read."""

    tasks: ClassVar[list[str]] = []

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.tasks.append(self.task_)
        return self


@pytest.mark.filterwarnings("ignore:y has 21 distinct:UserWarning")
def test_the_halves_are_read_the_way_all_samples_are():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((90, 5))
    y = 2 * rng.poisson(np.exp(1.5 + 0.8 * X[:, 0]))
    TaskSeen.tasks.clear()
    selector = StabilitySelector(TaskSeen(1), n_pairs=3).fit(X, y)
    assert TaskSeen.tasks == ["regression"] * 6
    assert selector.estimator.task == "auto"


def test_ordered_classes_stay_ordered():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    numbers = np.digitize(X[:, 0], [-0.5, 0.5])
    y = pd.Series(pd.Categorical.from_codes(numbers, ["low", "mid", "high"], ordered=True))
    auto = StabilitySelector(CCMSelector(1), n_pairs=2).fit(X, y)
    ordinal = StabilitySelector(CCMSelector(1, task="ordinal"), n_pairs=2).fit(X, y)
    assert_array_equal(auto.mean_ranks_, ordinal.mean_ranks_)


def test_counts_for_a_selector_that_has_no_task():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 5))
    for y in (rng.poisson(np.exp(1 + X[:, 0])), 2 * rng.poisson(np.exp(1.5 + 0.8 * X[:, 0]))):
        assert np.bincount(y)[y].min() == 1
        selector = StabilitySelector(SelectKBest(f_regression, k=1), n_pairs=3).fit(X, y)
        assert selector.frequencies_[0] == 1.0


def test_a_table_in_place_of_X(xor):
    X, y = xor[0][:60], xor[1][:60]
    weight = np.random.default_rng(0).integers(1, 3, 60)
    for sample_weight in (None, weight):
        table = read(X, y, TableOptions(), sample_weight)
        by_table = StabilitySelector(CCMSelector(3), n_pairs=2).fit(table)
        plain = StabilitySelector(CCMSelector(3), n_pairs=2).fit(X, y, sample_weight=sample_weight)
        assert_array_equal(by_table.frequencies_, plain.frequencies_)
    with pytest.raises(ValueError, match="read with class_weight"):
        StabilitySelector(CCMSelector(3), n_pairs=2).fit(
            read(X, y > 0, TableOptions(class_weight="balanced"))
        )


def test_bad_input(xor):
    X, y = xor
    rare = np.r_[5, np.tile([0, 1], 50)[1:]]
    with pytest.raises(ValueError, match="Class 5 has only one sample"):
        StabilitySelector().fit(X, rare)
    with pytest.raises(ValueError, match="estimator"):
        StabilitySelector(SVC()).fit(X, y)
    with pytest.raises(ValueError, match="'n_jobs' parameter"):
        StabilitySelector(n_jobs=0).fit(X, y)


def test_a_checkpoint_is_refused(xor, tmp_path):
    selector = StabilitySelector(CCMSelector(3, long_run=LongRun(tmp_path / "fit.jsonl")))
    with pytest.raises(ValueError, match="checkpoint=None"):
        selector.fit(*xor)


def press_ctrl_c(progress):
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_ends_all_fits(xor):
    # A process started in the background ignores it from the start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        inner = CCMSelector(3, long_run=LongRun(interrupt="keep", callback=press_ctrl_c))
        with pytest.raises(KeyboardInterrupt):
            StabilitySelector(inner, n_pairs=2).fit(*xor)
    finally:
        signal.signal(signal.SIGINT, before)
    assert inner.long_run.interrupt == "keep"


def test_rows_in_blocks_are_refused(xor, tmp_path):
    X, y = xor
    pd.DataFrame(X, columns=list("abcdefghij")).assign(y=y).to_parquet(tmp_path / "x.parquet")
    parquet, _ = open_parquet(tmp_path / "x.parquet", "y")
    array = pytest.importorskip("dask.array", reason="pip install 'covmin[dask]'").from_array(
        X, chunks=(50, 10)
    )
    for blocks in (parquet, array, array.to_dask_dataframe()):
        with pytest.raises(TypeError, match="must be in memory"):
            StabilitySelector().fit(blocks, y)


def test_times_to_an_event_reach_the_selector():
    X, y = make_survival(200, 3, random_state=0, return_X_y=True)
    found = StabilitySelector(CCMSelector(3), n_pairs=2).fit(X, y)
    assert found.frequencies_[:3].min() >= 0.75
    table = StabilitySelector(CCMSelector(3, task="survival"), n_pairs=2).fit(X, pd.DataFrame(y))
    assert_array_equal(table.frequencies_, found.frequencies_)
