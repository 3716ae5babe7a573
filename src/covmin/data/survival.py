"""Times to an event, some of them censored, as users hold them.

Inside the library they are an array of two columns of floats, 1 where the event was seen and else
0, and the time of the event or of the end of watching. NaN is a time that is not known.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .responses import is_missing

_FORMS = (
    "pass a structured array with a field of bool (whether the event was seen) and one of floats "
    "(the time), as scikit-survival has it, or a table of these two columns"
)


def survival_times(y: Any, task: str) -> np.ndarray | None:
    """Events and times of a response, (n_samples, 2); None where it is no such response.

    With the task "auto" a structured array of one field of bool and one of numbers is. With
    "survival" tables of two columns are as well: the event is the column of bool, or else the
    first that holds nothing but 0 and 1.
    """
    if hasattr(y, "__dask_graph__"):
        y = y.compute()
    fields = getattr(getattr(y, "dtype", None), "names", None)
    if task != "survival" and (fields is None or task != "auto"):
        return None
    columns = _columns(y, fields)
    is_event = [column.dtype.kind == "b" for column in columns]
    if task == "auto" and fields is not None and sum(is_event) != 1:
        raise ValueError(
            f"y is a structured array of {', '.join(f'{n!r} ({y.dtype[n]})' for n in fields)}, "
            f"which is no response: for times to an event {_FORMS}."
        )
    if sum(is_event) != 1:
        is_event = [bool(np.isin(each[~np.isnan(each)], (0.0, 1.0)).all()) for each in columns]
    if not any(is_event):
        raise ValueError(
            "Neither column of y says whether the event was seen: one must hold nothing but True "
            'and False, or 1 and 0. Of a status of 1 and 2, for example, pass y["status"] == 2.'
        )
    event = is_event.index(True)
    return np.column_stack([columns[event], columns[1 - event]]).astype(np.float64)


def read_times(y: Any, task: str | None) -> tuple[Any, str]:
    """Times to an event as numbers, with the task "survival"; any other response as it is.

    None is the task of an estimator that has none.
    """
    times = survival_times(y, task or "auto")
    return (y, task or "auto") if times is None else (times, "survival")


def as_structured(times: np.ndarray) -> np.ndarray:
    """The same as scikit-survival has it.

    >>> as_structured(np.array([[1.0, 2.5]]))
    array([(True, 2.5)], dtype=[('event', '?'), ('time', '<f8')])
    """
    array = np.empty(len(times), dtype=[("event", "?"), ("time", "f8")])
    array["event"], array["time"] = times.T
    return array


def _columns(y: Any, fields: tuple[str, ...] | None) -> list[np.ndarray]:
    """The two columns of a response, as bool or, with NaN for gaps, as floats."""
    if fields is not None:
        columns = [y[name] for name in fields]
    elif hasattr(y, "columns") and hasattr(y, "dtypes"):
        columns = [y[name] for name in y.columns]
    else:
        array = y if hasattr(y, "dtype") else np.asarray(y, dtype=object)
        columns = list(array.T) if array.ndim == 2 else [array]
    if len(columns) != 2:
        raise ValueError(
            f"task='survival' needs an event and a time, and y has {len(columns)} column(s): "
            f"{_FORMS}."
        )
    return [_numbers(column) for column in columns]


def _numbers(column: Any) -> np.ndarray:
    values = np.asarray(column)
    if values.dtype.kind in "biuf":
        return values if values.dtype.kind == "b" else values.astype(np.float64)
    if values.dtype.kind in "mM":
        raise ValueError(
            f"y holds dates or durations ({values.dtype}); turn times into numbers, such as days "
            "since the beginning of watching."
        )
    known = np.array([not is_missing(value) for value in values.flat], dtype=bool)
    there = values[known].tolist()
    if all(isinstance(value, (bool, int, float)) for value in there):
        if known.all() and all(isinstance(value, bool) for value in there):
            return values.astype(bool)
        numbers = np.full(values.size, np.nan)
        numbers[known] = there
        return numbers
    raise ValueError(
        f"task='survival' needs numbers, but a column of y holds {there[0]!r}. Convert it: times "
        "to numbers of days or the like, the event to True and False."
    )
