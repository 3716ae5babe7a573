"""Read survival times, some of them censored, in the forms that users have.

Internally they are an array with two float columns: the event indicator (1 if the event was
observed, 0 if the time is censored), and the time of the event or of censoring. NaN means unknown.
"""

from numbers import Real
from typing import Any

import numpy as np
from scipy.stats import CensoredData, ecdf

from covmin.remarks import InputError
from covmin.text import count_of

from .dtypes import is_frame, missing_mask

_FORMS = (
    "pass a structured array with a boolean field (the event indicator) and a float field (the "
    "time), as in scikit-survival, or a table of these two columns"
)


def survival_times(y: Any, task: str = "survival") -> np.ndarray:
    """Return events and times (n_samples, 2) of a survival response.

    The event is the boolean column, or else, with task "survival", the first one of only 0 and 1.
    """
    fields = getattr(getattr(y, "dtype", None), "names", None) or ()
    if fields or is_frame(y):
        columns = [y[name] for name in fields or y.columns]
    else:
        array = y if hasattr(y, "dtype") else np.asarray(y, dtype=object)
        columns = list(array.T) if array.ndim == 2 else [array]
    if len(columns) != 2:
        found = f"but y has {count_of(len(columns), 'column')}"
        raise InputError(f"task='survival' needs an event and a time, {found}: {_FORMS}.", "task")
    columns = [_numbers(column) for column in columns]
    is_event = [column.dtype.kind == "b" for column in columns]
    if sum(is_event) != 1:
        if task == "auto":
            found = ", ".join(f"{name!r} ({y.dtype[name]})" for name in fields)
            text = f"y is a structured array of {found}, which is not a valid response"
            raise InputError(f"{text}: for survival times {_FORMS}.", "y")
        is_event = [bool(np.isin(each[~np.isnan(each)], (0.0, 1.0)).all()) for each in columns]
    if not any(is_event):
        text = "Neither column of y is an event indicator: one must hold only True and False, or 1"
        cure = 'For a status of 1 and 2, for example, pass y["status"] == 2.'
        raise InputError(f"{text} and 0. {cure}", "y")
    event = is_event.index(True)
    return np.column_stack([columns[event], columns[1 - event]]).astype(np.float64)


def _numbers(column: Any) -> np.ndarray:
    """Return a column as booleans, or as floats with NaN where a value is missing."""
    values = np.asarray(column)
    known = ~missing_mask(values)
    there = values[known]
    are_times = values.dtype.kind in "mM"
    if are_times or not all(isinstance(value, (Real, np.bool_)) for value in there):
        what = values.dtype if are_times else repr(there[0])
        text = f"task='survival' requires numbers, but a column of y contains {what}. Convert times"
        raise InputError(f"{text} to days since the start, for example.", "y")
    if known.all() and all(isinstance(value, (bool, np.bool_)) for value in there):
        return values.astype(bool)
    return np.where(known, values, np.nan).astype(np.float64)


def as_structured(times: np.ndarray) -> np.ndarray:
    """Return the times as a structured array, as in scikit-survival."""
    array = np.empty(len(times), dtype=[("event", "?"), ("time", "f8")])
    array["event"], array["time"] = times.T
    return array


def martingale_residuals(event: np.ndarray, time: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return ``M = δ − Λ(t)``, the event indicator minus the expected number of events.

    It is the Nelson–Aalen estimate ``Λ(t) = Σ_{s ≤ t} d(s)/n(s)``, with the weights of the events
    and of the samples at risk. The mean of M given the features is zero if they do not affect the
    hazard, even if they affect how long a sample is observed.
    """
    place = np.unique(time, return_inverse=True)[1]
    events = np.bincount(place, p * event)
    at_risk = np.cumsum(np.bincount(place, p)[::-1])[::-1]
    return np.asarray(event - np.cumsum(events / at_risk)[place])


def survival_curve(event: np.ndarray, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the event times and the Kaplan–Meier curve ``S(t) = Π_{s ≤ t} (1 − d(s)/n(s))``."""
    seen = event == 1.0
    curve = ecdf(CensoredData(time[seen], right=time[~seen])).sf
    falls = np.isin(curve.quantiles, time[seen])
    return curve.quantiles[falls], curve.probabilities[falls]


def survival_columns(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the martingale residuals of survival times."""
    event, time = y.T
    is_time = np.isfinite(time) & (time >= 0.0)
    if not is_time.all():
        text = "times must be counted from the start of observation, finite and not negative"
        raise InputError(f"A time in y is {time[~is_time][0]:g}; {text}.", "y")
    seen = np.unique(time[event == 1.0])
    if seen.size < 2:
        text = f"The events in y occur at {count_of(seen.size, 'time')}, so they cannot be ordered."
        raise InputError(f"{text} Check which column is the event indicator.", "y")
    return martingale_residuals(event, time, p)[:, None]
