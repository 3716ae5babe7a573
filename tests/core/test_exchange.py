"""Sets of features compared by tuned regressions, and columns that come back."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from covmin.constants import FUNCTION_RIDGES
from covmin.core.exchange import _Search, exchange, look_back, nominate, refine
from covmin.core.set_errors import Judged, SetErrors, SetSample


def sample_of(X, y, of_column=None, scale=None, p=None):
    d = X.shape[1]
    p = np.full(len(X), 1.0 / len(X)) if p is None else p
    Y = (y - p @ y)[:, None]
    of_column = np.arange(d) if of_column is None else of_column
    return SetSample(X, of_column, np.ones(d) if scale is None else scale, Y, p)


def product_of_three(n=300, d=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, 2 * X[:, 0] + X[:, 1] * X[:, 2] * X[:, 3] + 0.3 * rng.standard_normal(n)


def test_the_error_is_that_of_leaving_each_row_out():
    """By brute force, with the kernel and the ridge that were chosen."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((25, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(25)
    judged = SetErrors(sample_of(X, y), range(2)).judge(frozenset([0]))
    D = (X[:, [0]] - X[:, 0]) ** 2
    scale = {0: 0.25, 1: 0.5, 2: 1.0, 3: 2.0}[judged.tuning[0]]
    K = (1.0 + D / scale**2) ** -0.5
    Y = (y - y.mean()) / y.std()
    left = []
    for i in range(25):
        rest = np.delete(np.arange(25), i)
        # Ridge regression with a free intercept, on all rows but one; the ridge is that of all.
        A = np.block(
            [
                [
                    K[np.ix_(rest, rest)] + 25 * FUNCTION_RIDGES[judged.tuning[1]] * np.eye(24),
                    np.ones((24, 1)),
                ],
                [np.ones((1, 24)), np.zeros((1, 1))],
            ]
        )
        c = np.linalg.solve(A, np.append(Y[rest], 0.0))
        left.append(Y[i] - K[i, rest] @ c[:-1] - c[-1])
    assert judged.tuning[0] < 4
    assert_allclose(judged.residuals[:, 0] * 5.0, left, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_best_of_all_sets_is_found(m):
    rng = np.random.default_rng(m)
    X = rng.standard_normal((150, 6))
    X[:, 5] = X[:, 0] + 0.3 * X[:, 5]
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.2 * rng.standard_normal(150)
    sample = sample_of(X, y)
    found = exchange(SetErrors(sample, range(6)), [], m)
    errors = SetErrors(sample, range(6))
    sets = {one: errors.judge(frozenset(one)) for one in itertools.combinations(range(6), m)}
    best = min(sets.values(), key=lambda one: one.error)
    chosen = errors.judge(frozenset(found.order[:m].tolist()))
    assert not best.beats(chosen)
    assert found.n_exchanges == m * (6 - m)


@pytest.mark.parametrize("seed", range(6))
def test_where_the_error_never_falls_the_order_of_the_path_holds(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((150, 8)), rng.standard_normal(150)
    found = exchange(SetErrors(sample_of(X, y), range(8)), [], 3)
    if found.enough == 0:
        assert found.order.tolist() == list(range(8))


def test_of_several_sets_only_the_best_is_tuned():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    errors = SetErrors(sample_of(X, np.sin(2.0 * X[:, 0]) + 0.1 * X[:, 1]), range(3))
    few = errors.judge(frozenset([2])).tuning
    best = errors.best_of({frozenset([j]): few for j in range(3)})
    assert best.features == {0}
    assert best.error == min(one.error for one in errors.known.values())
    assert errors.known[frozenset([1])].tuning[0] == few[0]  # with the kernel that it came with


def test_few_sets_are_compared_closely_before_they_are_tuned():
    """A function that is fast in two columns, such as prices by place, needs many landmarks."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 4))
    y = X[:, 0] + np.sin(2.0 * X[:, 1] + X[:, 2]) + 0.3 * rng.standard_normal(500)
    errors, every = SetErrors(sample_of(X, y), range(4)), frozenset(range(3))
    judged = errors.judge(every)
    [rough], _ = errors.rough(every, [every], [judged.tuning], 5e6)
    assert_allclose(rough, judged.error, rtol=0.15)


def test_features_that_act_only_together_enter_at_once():
    X, y = product_of_three(600)
    path = [0, 4, 5, 6, 7, 8, 1, 2, 3]
    alone = exchange(SetErrors(sample_of(X, y), path), [], 4)
    named = exchange(SetErrors(sample_of(X, y), path), [[1, 2, 3]], 4)
    assert set(named.order[:4]) == {0, 1, 2, 3}
    assert len(alone.order) == len(named.order) == 9


def test_a_feature_of_several_columns_counts_once():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    y = X[:, 0] + X[:, 1]
    of_column = np.array([0, 0, 1, 2, 3])
    sample = sample_of(X, y, of_column, np.array([0.7, 0.7, 1, 1, 1]))
    found = exchange(SetErrors(sample, range(4)), [], 1)
    assert found.order[0] == 0


def test_columns_of_every_set_explain_their_part():
    X, y = product_of_three()
    always = sample_of(X[:, :2], y, np.array([-1, 0]))
    assert SetErrors(always, [0]).judge(frozenset()).error < 0.6


def test_what_acts_with_the_features_found_comes_back():
    X, y = product_of_three(600)
    accepted = look_back(sample_of(X, y), [0])
    assert frozenset().union(*accepted) == {1, 2, 3}
    assert set(refine(sample_of(X, y), range(20), [], 4, (0, 0)).order[:4]) == {0, 1, 2, 3}


def test_noise_is_hardly_ever_nominated_or_accepted():
    nominated = accepted = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((120, 15))
        sample = sample_of(X, X[:, 0] + rng.standard_normal(120))
        nominated += bool(nominate(sample, [0], 0.05))
        accepted += bool(frozenset().union(*look_back(sample, [0])))
    assert nominated <= 6
    assert accepted <= 2


@pytest.mark.parametrize(("smaller", "larger"), [(0.11, [0, 1, 2]), (0.2, [2, 3, 4])])
def test_a_ranking_gives_up_a_little_of_the_asked_size_for_much_of_the_others(smaller, larger):
    """Five indicators tell as much as four others, but the first of them may tell more."""
    errors = {
        frozenset(): 1.0,
        **{frozenset([0]): 0.5, frozenset([0, 1]): 0.3, frozenset([0, 1, 2]): smaller},
        **{frozenset([2]): 0.7, frozenset([2, 3]): 0.45, frozenset([2, 3, 4]): 0.1},
    }
    judged = {
        one: Judged(one, np.zeros((4, 1)), np.full(4, error / 4), error, (0, 0))
        for one, error in errors.items()
    }
    every = SetErrors(sample_of(np.zeros((4, 5)), np.arange(4.0)), range(5))
    every.known = judged
    path = {k: judged[frozenset(range(k))] for k in range(4)}
    best = {**path, 3: judged[frozenset([2, 3, 4])]}
    assert _Search(every, [*range(5)], best, path).nested(3, 3, 3) == larger


def test_a_pair_that_what_was_found_hid_is_named():
    """An exclusive or explains most of y; waves of the distance from a centre come after it."""
    rng = np.random.default_rng(0)
    U = rng.random((800, 40))
    is_near = abs(np.hypot(U[:, 0] - 0.5, U[:, 1] - 0.5) - 0.35) <= 0.0704
    y = (is_near | ((U[:, 2] - 0.5) * (0.5 - U[:, 3]) >= 0.0337)).astype(float)
    sample, first = sample_of((U - 0.5) * 12**0.5, y), range(2, 32)
    assert not {0, 1} <= set(refine(sample, first, [[2, 3]], 4, (0, 0)).order[:4])
    assert {0, 1, 2, 3} == set(refine(sample, first, [[2, 3]], 4, (800, 4)).order[:4])


@pytest.mark.parametrize("n_columns", [1, 2])
def test_rows_that_are_close_together_share_what_no_landmark_shows(n_columns):
    """A value for each of 300 days, or of 400 places; not for independent columns."""
    rng = np.random.default_rng(0)
    X = rng.random((1500, 4))
    cells = (X[:, 0] * 300,) if n_columns == 1 else tuple(20 * X[:, :2].T)
    values = rng.standard_normal((300,) if n_columns == 1 else (20, 20))
    y = values[tuple(cell.astype(int) for cell in cells)] + 0.3 * rng.standard_normal(1500)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    errors = SetErrors(sample_of(X, y), range(4))
    together, others = frozenset(range(n_columns)), frozenset(range(2, 2 + n_columns))
    assert errors.judge(together).error < 0.65
    assert errors.judge(others).error > 0.98
    assert together == {*exchange(errors, [], n_columns).order[:n_columns]}


def test_a_category_of_more_levels_than_landmarks_explains_what_it_does():
    """Eight rows a level; of a mean of so many, an eighth of the noise is left."""
    rng = np.random.default_rng(0)
    levels = np.arange(1200) % 150
    rng.shuffle(levels)
    y = 2.0 * rng.standard_normal(150)[levels] + rng.standard_normal(1200)
    of_column, scale = np.zeros(150, dtype=int), np.full(150, 150**-0.5)
    X = np.eye(150)[levels] / np.eye(150).std(axis=0)
    for response, least, most in ((y, 0.2, 0.3), (rng.permutation(y), 0.97, 1.01)):
        errors = SetErrors(sample_of(X, response, of_column, scale), [0])
        assert least < errors.judge(frozenset([0])).error < most


def test_of_features_that_enter_at_once_the_one_that_explains_most_comes_first():
    """Neither was judged alone, and the path has it last."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    errors = SetErrors(
        sample_of(X, X[:, 1] + 0.3 * X[:, 0] + 0.1 * rng.standard_normal(200)), [0, 1]
    )
    path = {k: errors.judge(frozenset(range(k))) for k in (0, 2)}
    assert _Search(errors, [0, 1], dict(path), path).nested(2, 2, 2) == [1, 0]
