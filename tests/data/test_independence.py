"""Rows in time order, in clusters and nearly copied are noticed; independent rows are not."""

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import StratifiedKFold, TimeSeriesSplit

from covmin import (
    CCMSelector,
    KnockoffSelector,
    StabilitySelector,
    VerdictSelector,
    conditional_dependence_test,
    unexplained_variance,
)
from covmin.data import TableOptions, read
from covmin.data.independence import dependence_of_rows
from covmin.remarks import InputError, remark_of, silenced
from covmin.report import headline, summary

N = 200


def in_time(rng):
    steps = rng.standard_normal((N + 50, 11))
    found = lfilter([1.0], [1.0, -0.9], steps, axis=0)[50:]
    return found[:, 1:], found[:, 0]


def random_walks(rng):
    found = np.cumsum(rng.standard_normal((10 * N, 11)), axis=0)
    return found[:, 1:], found[:, 0]


def clusters(rng):
    row = np.repeat(np.arange(20), 10)
    X = rng.standard_normal((20, 10))[row] + 0.5 * rng.standard_normal((N, 10))
    return X, rng.standard_normal(20)[row] + 0.5 * rng.standard_normal(N)


def clusters_of_one_class(rng):
    X, _ = clusters(rng)
    return X, np.repeat(rng.permutation(np.arange(20) % 2), 10)


def clusters_with_their_names(rng):
    """As files list them: the column of patients is among the features."""
    X, y = clusters(rng)
    names = rng.permutation(20)[np.repeat(np.arange(20), 10)]
    return pd.DataFrame(X).rename(columns=str).assign(patient=[f"P{k}" for k in names]), y


def near_copies(rng):
    X = np.tile(rng.standard_normal((50, 10)), (4, 1)) + 1e-3 * rng.standard_normal((N, 10))
    order = rng.permutation(N)
    return X[order], np.tile(rng.standard_normal(50), 4)[order]


def in_time_with_a_clock(rng):
    X, y = in_time(rng)
    return np.column_stack([np.arange(N) // 12, np.arange(N) % 12, X]), y


def independent(rng):
    X = rng.standard_normal((N, 10))
    return X, X[:, 0] + np.sin(3.0 * X[:, 1]) + 0.3 * rng.standard_normal(N)


def one_column(rng):
    X, y = independent(rng)
    return X[:, :1], y


def by_feature(rng):
    X, y = independent(rng)
    order = np.argsort(X[:, 1])
    return X[order], y[order]


def by_a_feature_that_is_gone(rng):
    X, y = by_feature(rng)
    return np.delete(X, 1, axis=1), y


def by_two_features(rng):
    """And a third one follows the second."""
    X, y = independent(rng)
    X[:, 2] = X[:, 1] + 0.5 * X[:, 2]
    X[:, 0] = rng.integers(0, 8, N)
    order = np.lexsort([X[:, 1], X[:, 0]])
    return X[order], y[order] + X[order, 0] % 3


def grid(rng):
    """Every pair of values of two columns, in order, as a design lists them."""
    X = rng.standard_normal((N, 5))
    X[:, 0], X[:, 1] = np.divmod(np.arange(N), 15)
    return X, X[:, 0] / 15 + np.sin(X[:, 1] / 3.0) + 0.3 * rng.standard_normal(N)


def by_response(rng):
    X, y = independent(rng)
    order = np.argsort(y)
    return X[order], y[order]


def by_class(rng):
    X, y = independent(rng)
    y = np.digitize(y, [-1.0, 0.0, 1.0])
    order = np.argsort(y, kind="stable")
    return X[order], y[order]


def by_category(rng):
    X, y = independent(rng)
    X[:, 2] = np.sort(rng.integers(0, 6, N))
    X[:, 3] += X[:, 2]
    return X, y + 3.0 * (X[:, 2] % 2)


def by_place(rng):
    """Forty places follow each other; they matter to y, but no feature depends on them."""
    X, y = independent(rng)
    place = np.sort(rng.integers(0, 40, N))
    frame = pd.DataFrame(X).rename(columns=str).assign(place=[f"at {k}" for k in place])
    return frame, y + 2.0 * rng.standard_normal(40)[place]


def by_one_of_many_classes(rng):
    X, _ = independent(rng)
    y = np.sort(rng.integers(0, 20, N))
    return X + rng.standard_normal((20, 10))[y], np.array([f"class {k}" for k in y])


def far_values(rng):
    return rng.standard_t(1.2, (N, 10)), rng.standard_t(1.2, N)


def clouds(rng):
    cloud = rng.integers(0, 8, N)
    return 5.0 * rng.standard_normal((8, 10))[cloud] + rng.standard_normal((N, 10)), cloud % 3


def alarms(design, n_runs):
    tables = (
        read(*design(np.random.default_rng([5, run])), TableOptions()) for run in range(n_runs)
    )
    return np.mean([dependence_of_rows(table) is not None for table in tables])


@pytest.mark.parametrize(
    "design",
    [
        *(in_time, in_time_with_a_clock, random_walks, near_copies),
        *(clusters, clusters_of_one_class, clusters_with_their_names),
    ],
)
def test_dependent_rows_are_noticed(design):
    assert alarms(design, 20) >= 0.95


@pytest.mark.parametrize(
    "design",
    [
        *(independent, one_column, by_feature, by_a_feature_that_is_gone, by_response),
        *(by_two_features, grid, by_class, by_category, far_values, clouds),
        *(by_place, by_one_of_many_classes),
    ],
)
def test_independent_rows_are_not_whatever_their_order(design):
    assert alarms(design, 100) <= 0.03  # of 100 runs, at a level of 1 %


@pytest.mark.parametrize("load", [load_wine, load_digits])
def test_weak_dependence_is_not_worth_a_word(load):
    """Of wine, sorted by class, a column has a correlation of 0.3 with its next row."""
    assert dependence_of_rows(read(*load(return_X_y=True), TableOptions())) is None


@pytest.mark.parametrize("design", [in_time, clusters])
def test_the_same_rows_in_random_order_are_not_noticed(design):
    X, y = design(np.random.default_rng(0))
    order = np.random.default_rng(1).permutation(N)
    assert dependence_of_rows(read(X[order], y[order], TableOptions())) is None


@pytest.mark.parametrize("tool", [CCMSelector(2).fit, unexplained_variance])
def test_tools_that_state_an_error_warn_once(tool):
    with pytest.warns(UserWarning, match="rows are not independent.*groups=.*cv=") as told:
        tool(*in_time(np.random.default_rng(0)))
    assert [remark_of(each.message).code for each in told].count("dependent-rows") == 1


INFERENCE = {
    "verdicts": lambda *data, **more: VerdictSelector().fit(*data, **more).relevant_pvalues_,
    "knockoffs": lambda *data, **more: KnockoffSelector(fdr=0.5).fit(*data, **more).W_,
    "stability": lambda *d, **more: StabilitySelector(n_pairs=2).fit(*d, **more).frequencies_,
    "test": lambda X, y, **more: conditional_dependence_test(X, y, n_resamples=9, **more).p_value,
    "given": lambda X, y, **more: (
        conditional_dependence_test(X[:, :1], y, given=X[:, 1:3], **more).p_value
    ),
}


@pytest.mark.parametrize("name", INFERENCE)
def test_tools_with_error_rates_refuse_and_name_the_cure(name):
    with pytest.raises(InputError, match=r"not independent.*groups=") as said:
        INFERENCE[name](*in_time(np.random.default_rng(0)))
    assert said.value.parameter == "groups"


@pytest.mark.filterwarnings("ignore:Column .* follows")
@pytest.mark.parametrize("name", INFERENCE)
@pytest.mark.parametrize("groups", [np.arange(N) // 10, range(N)], ids=["blocks", "rows"])
def test_groups_cure_it_and_a_group_of_each_row_overrides_it(name, groups):
    data = in_time(np.random.default_rng(0))
    # Columns in time follow products of others by chance.
    with silenced("not-gaussian"):
        assert np.isfinite(INFERENCE[name](*data, groups=groups)).any()


@pytest.mark.parametrize("how", ["cv", "groups", "neither"])
def test_interactions_of_dependent_rows_have_no_p_values(how):
    """They were reported of autocorrelated noise in 0.62 of the tables."""
    X, y = in_time(np.random.default_rng(9))
    blocks = {"groups": np.arange(N) // 20} if how == "groups" else {}
    selector = CCMSelector(cv=TimeSeriesSplit() if how == "cv" else None)
    with silenced("dependent-rows"):
        found = selector.fit(X, y, **blocks)
    assert len(found.interactions_.share) or len(found.spread_.share)
    assert np.isnan([*found.interactions_.p_value, *found.spread_.p_value]).all()
    assert {p["p_value"] for k in ("interactions", "spread") for p in summary(found)[k]} == {None}
    assert "associated" not in headline(found)
    assert np.isfinite(selector.fit(X, y, groups=range(N)).interactions_.p_value).any()


@pytest.mark.filterwarnings("error")
def test_groups_and_splitters_cure_the_error():
    X, y = in_time(np.random.default_rng(0))
    blind = unexplained_variance(X, y, groups=range(N))
    assert blind < 0.3
    assert unexplained_variance(X, y, groups=np.arange(N) // 20) > 0.7
    assert unexplained_variance(X, y, cv=TimeSeriesSplit()) > 0.7
    CCMSelector(2).fit(X, y, groups=np.arange(N) // 20)
    CCMSelector(2, cv=TimeSeriesSplit()).fit(X, y)


@pytest.mark.parametrize("name", ["verdicts", "test", "given"])
def test_features_of_patients_do_not_explain_their_coin_tosses(name):
    """One row of each patient is one observation: p-values are uniform, or larger."""
    patient, found = np.repeat(np.arange(60), 8), []
    for run in range(20):
        rng = np.random.default_rng([9, run])
        X = rng.standard_normal((60, 4))[patient] + 0.05 * rng.standard_normal((480, 4))
        y = rng.integers(0, 2, 60)[patient]
        found.append(INFERENCE[name](X, y, groups=patient))
    assert np.mean(np.array(found) <= 0.1) <= 0.2


def test_halves_of_stability_hold_whole_groups():
    patient = np.repeat(np.arange(30), 4)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 5))[patient], rng.integers(0, 2, 30)[patient]
    X += 0.05 * rng.standard_normal(X.shape)
    seen = []

    class Recorder(CCMSelector):
        def fit(self, X, y=None, sample_weight=None, groups=None):
            seen.append(groups)
            return super().fit(X, y, sample_weight, groups)

    StabilitySelector(Recorder(1), n_pairs=3).fit(X, y, groups=patient)
    for one, other in zip(seen[::2], seen[1::2], strict=True):
        assert set(one).isdisjoint(other)
        assert set(one) | set(other) == set(range(30))


def test_too_few_groups_are_refused():
    X, y = in_time(np.random.default_rng(0))
    with pytest.raises(InputError, match="groups has 4 values"):
        VerdictSelector().fit(X, y, groups=np.arange(N) // 50)


def test_parts_of_a_small_table_sorted_by_class_raise_no_alarm():
    """The wines are listed by cultivar: in two training sets of five, magnesium seems alike."""
    X, y = load_wine(return_X_y=True)
    for train, _ in StratifiedKFold(5).split(X, y):
        assert dependence_of_rows(read(X[train], y[train], TableOptions())) is None
