"""Tell whether the rows of a table are independent of each other.

Dependence matters if rows that belong together are alike in a feature *and* in the response: then
the same accident counts several times. Rows that follow each other may belong together, in time or
because they come from one patient or place, and so may rows that are nearly copies of each other.
Groups of rows that are neither adjacent nor nearly copies cannot be recognised: they look like rows
of a population that consists of such groups.
"""

from typing import Any

import numpy as np
from scipy.fft import dct, idct
from scipy.spatial.distance import cdist
from scipy.stats import norm, rankdata

from covmin.constants import TESTED_ROWS
from covmin.core.screening.ranks import orthonormal
from covmin.remarks import InputError, Remark, warn

from .blocks.array import as_blocks
from .standardize import PreparedColumns

# Chance of an alarm for rows in order, if they are independent.
_LEVEL = 0.01
_ROUNDING = 1e-12
_FEWEST_ROWS, _FEWEST_GROUPS = 30, 10
# Rows whose neighbours are sought, and columns that are looked at.
_N_ROWS, _N_COLUMNS = 1000, 100
# Rows for each cosine of the row number, and largest number of jumps of a column that is sorted.
_SLOW, _JUMPS = 20, 10
# Smallest correlation of consecutive rows that matters: it adds 5 % to the variance of a mean
# product if it is that of the features and of the response. And of a feature, if y was sorted.
_ALIKE = (0.15, 0.35)
# Smallest share of a column that must be left beyond these.
_LEAST_LEFT = 0.05
# A near copy is closer than the next row by this factor; the share of rows with near copies that
# independent rows do not reach, even on a line; and the most copies of a row.
_CLOSER, _COPIED, _MOST_COPIES = 20.0, 0.25, 20


def check_independence(
    table: Any,
    columns: PreparedColumns | None = None,
    *,
    refuses: bool = False,
    is_cured: bool = False,
) -> bool:
    """Tell whether rows are independent; if not, say so, unless there are groups of rows.

    Equal rows count once if the tool merges them, which needs the prepared ``columns``. A tool that
    ``refuses`` raises an error, because its error rates would not hold. If it ``is_cured`` by a
    splitter, nothing is said.
    """
    if table.groups is not None:
        return bool(np.unique(table.groups).size == table.n_samples)
    merged = None if columns is None else np.sort(columns.independent(0).first)
    if (found := dependence_of_rows(table, merged)) is None:
        return True
    if refuses:
        text = f"{found.text} The error rates of this method would not hold."
        raise InputError(text, "groups", found.columns, _CURES[1])
    if not is_cured:
        text = f"{found.text} The errors reported for this fit are therefore too small."
        warn(found.code, text, found.columns, advice=_CURES[0])
    return False


def one_of_each_group(groups: np.ndarray | None, rows: np.ndarray) -> np.ndarray:
    """Return the places of the first of the rows in each group, in order: independent samples."""
    if groups is None:
        return np.arange(rows.size)
    places = np.sort(np.unique(groups[rows], return_index=True)[1])
    if places.size < _FEWEST_GROUPS:
        text = f"groups has {places.size} values, and each is one row: {_FEWEST_GROUPS} are needed."
        raise InputError(f"{text} Pass smaller groups that are independent.", "groups")
    return places


_CURES = (
    "If rows belong to patients, places or days, pass these as groups= to fit; if they are in time "
    "order, pass cv=TimeSeriesSplit() of scikit-learn, and changes in place of what drifts. "
    "groups=range(n_rows) says that rows are independent.",
    "If rows belong to patients, places or days, pass these as groups=; if they are in time order, "
    "pass blocks of consecutive rows that are longer than the dependence lasts, such as "
    "groups=np.arange(n_rows) // 20. One row of each group is then one observation. "
    "groups=range(n_rows) says that rows are independent.",
)


def dependence_of_rows(table: Any, rows: np.ndarray | None = None) -> Remark | None:
    """Return what shows that rows, by default all, are not independent; None if nothing does.

    At most the first 5000 rows and 100 columns are looked at.
    """
    rows = (np.arange(table.n_samples) if rows is None else rows)[:TESTED_ROWS]
    if rows.size < _FEWEST_ROWS:
        return None
    every = np.arange(table.X.shape[1])
    chosen = every[:: -(-every.size // _N_COLUMNS)]
    X = _standardized(np.asarray(as_blocks(table.X).take(rows, chosen), dtype=np.float64))
    Y = _standardized(np.asarray(table.response.Y[rows], dtype=np.float64))
    if (found := column_alike_in_order(X, Y, table.layout.source[chosen])) is not None:
        [column] = table.column_labels[chosen[[found]]].tolist()
        why = f"those that follow each other are alike, in column {column!r} and in the response"
        return Remark("dependent-rows", f"The rows are not independent: {why}.", (column,))
    if (share := share_of_near_copies(X, Y)) < _COPIED:
        return None
    why = f"{share:.0%} of them are nearly copies of others, with nearly the same response"
    return Remark("dependent-rows", f"The rows are not independent: {why}.")


def _standardized(X: np.ndarray) -> np.ndarray:
    """Return columns of mean 0 and variance 1, without far values; missing values are 0."""
    there = ~np.isnan(X)
    X = np.where(there, X, 0.0)
    largest = np.abs(X).max(axis=0, initial=0.0)
    X = X / np.where(largest > 0.0, largest, 1.0)
    X = np.where(there, X - X.sum(axis=0) / np.maximum(there.sum(axis=0), 1), 0.0)
    spread = np.sqrt((X**2).mean(axis=0))
    return np.clip(X / np.where(spread > _ROUNDING, spread, np.inf), -5.0, 5.0)


def column_alike_in_order(X: np.ndarray, Y: np.ndarray, source: np.ndarray) -> int | None:
    """Return a column that is alike in consecutive rows if Y is too, otherwise None.

    Independent rows that were sorted by a feature or by the response resemble the next one too. So
    what follows the row number slowly is removed, and jumps of features (``source`` of a column)
    with few of them. Columns by which rows are sorted say nothing, and waves over them are removed
    from the others; nor do levels listed one after the other, such as patients, but what is alike
    within them counts. If a column or the response is in order, little that is left says nothing;
    if that is the response, the features decide. Of a random walk little is left too, but nothing
    is in order.
    """
    n = len(X)
    both = np.hstack([X, Y])
    least_left = _LEAST_LEFT if any(map(is_in_order, both.T)) else _ROUNDING
    n_slow = 1 + n // _SLOW
    changes = both[1:] != both[:-1]
    few = changes.sum(axis=0) <= _JUMPS
    feature = np.append(source, -1 - np.arange(Y.shape[1]))
    jumps = np.array([(changes & few & (feature == j)).any(axis=1) for j in feature])
    is_level = few & (jumps.sum(axis=1) > _JUMPS)
    by = sorting_columns(np.where(is_level, 0.0, both))
    ranks = (rankdata(both[:, by], axis=0) - 0.5) / n
    waves = np.cos(np.pi * np.arange(1, min(2 * n_slow, _SLOW)) * ranks[:, :, None])
    places = np.flatnonzero(jumps[~is_level].any(axis=0))
    removed = np.hstack([np.arange(n)[:, None] > places, waves.reshape(n, -1)])[:, : n // 2]
    left = dct(np.hstack([removed, both]), axis=0, norm="ortho")
    left[:n_slow] = 0.0
    left = idct(left, axis=0, norm="ortho")
    free, left = orthonormal(left[:, : removed.shape[1]], _ROUNDING), left[:, removed.shape[1] :]
    left -= free @ (free.T @ left)
    squares, n_left = (left**2).sum(axis=0), n - n_slow - free.shape[1]
    r = (left[1:] * left[:-1]).sum(axis=0) / np.maximum(squares, least_left * n)
    # What was removed is alike in consecutive rows, so what is left is a little unlike.
    r += (n_slow + (free[1:] * free[:-1]).sum()) / n_left
    r[is_level] = r[by[by < X.shape[1]]] = -1.0
    of_X, of_Y = r[: X.shape[1]], r[X.shape[1] :]
    is_sorted = (squares[X.shape[1] :] < least_left * n).all()
    # Where y cannot confirm it, the correlation must be one that matters by a standard error.
    sure = _ALIKE[1] + 1.0 / np.sqrt(n_left)
    least_X, least_Y = (
        max(norm.isf(_LEVEL / (2 * max(of.size, 1))) / np.sqrt(n_left), least)
        for of, least in ((of_X, sure if is_sorted else _ALIKE[0]), (of_Y, _ALIKE[0]))
    )
    if of_X.max(initial=-1.0) < least_X or not (is_sorted or of_Y.max(initial=-1.0) >= least_Y):
        return None
    return int(np.argmax(of_X))


def sorting_columns(X: np.ndarray) -> np.ndarray:
    """Return the columns by which rows are sorted, first by some, then by others within ties.

    >>> sorting_columns(np.array([[0, 1, 0, 1, 0, 1] * 5, [1, 3, 5, 2, 4, 6] * 5]).T)
    array([], dtype=int64)
    >>> sorting_columns(np.array([[0, 3, 7] * 9, np.repeat(range(9), 3)]).T)
    array([0, 1])
    """
    steps = np.diff(X, axis=0)
    found, tied = np.zeros(X.shape[1], dtype=bool), np.ones(len(steps), dtype=bool)
    while tied.sum() > _JUMPS:  # so many are not in order by chance
        within = steps[tied]
        in_order = (within >= 0.0).all(axis=0) | (within <= 0.0).all(axis=0)
        if not (more := in_order & within.any(axis=0) & ~found).any():
            break
        found |= more
        tied &= (steps[:, more] == 0.0).all(axis=1)
    return np.flatnonzero(found)


def is_in_order(x: np.ndarray) -> bool:
    """Tell whether a column turns at most a few times, and far less often than in random order."""
    found, by_chance = (
        int(np.count_nonzero(np.diff(np.sign(steps[steps != 0.0]))))
        for steps in np.diff([x, np.random.default_rng(0).permutation(x)])
    )
    return found <= _JUMPS < by_chance and found * _JUMPS <= by_chance


def share_of_near_copies(X: np.ndarray, Y: np.ndarray) -> float:
    """Return the share of rows that are nearly copies of others, with a similar response.

    Such a row has k others much closer than the next one. The distances of independent rows from a
    density in D dimensions have ratios ``P(r_{k+1} > c r_k) = c^{-kD}``: of one in twenty rows at
    most for c = 20. Only columns with mostly different values have a density.
    """
    values = np.array([np.unique(column).size for column in X.T])
    X = X[:, values > 0.5 * len(X)]
    if X.shape[1] == 0:
        return 0.0
    if len(X) > _N_ROWS:  # those next to each other in a direction, because near copies are
        along = np.argsort(X @ np.random.default_rng(0).standard_normal(X.shape[1]))
        few = along[(along.size - _N_ROWS) // 2 :][:_N_ROWS]
        X, Y = X[few], Y[few]
    X, first = np.unique(X, axis=0, return_index=True)
    Y, most = Y[first], min(_MOST_COPIES, len(X) - 2)
    if most < 1:
        return 0.0
    distances = cdist(X, X)
    nearest = np.argpartition(distances, most + 1, axis=1)[:, : most + 2]
    r = np.sort(np.take_along_axis(distances, nearest, axis=1), axis=1)[:, 1:]
    np.fill_diagonal(distances, np.inf)
    has_copies = (r[:, 1:] > _CLOSER * r[:, :-1]).any(axis=1)
    closest = distances.argmin(axis=1)
    apart = ((Y[has_copies] - Y[closest[has_copies]]) ** 2).mean() if has_copies.any() else np.inf
    # The responses of two independent rows differ by twice the variance.
    return float(has_copies.mean()) if apart < max(Y.var(axis=0).mean(), 1e-12) else 0.0
