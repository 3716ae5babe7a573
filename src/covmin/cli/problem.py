"""From a table and the words of a user to samples and a response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import CommandError, ExitCode, nearest
from .tables import contents, looks_like_decimal_commas

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Question",
    "find_column",
    "make_question",
    "make_stored_question",
    "parse_epsilon",
    "parse_size",
]

_TARGETS = ("y", "Y", "target", "label", "class")
_SHOWN = 8
# More labels than this are no classes.
_MOST_LABELS = 1000
# Rows of a stored table that are looked at for warnings and pictures.
_SAMPLED_ROWS = 20_000


@dataclass(frozen=True)
class Question:
    """Samples and a response, with what was left out on the way.

    Attributes
    ----------
    X : pandas.DataFrame of shape (n_samples, n_features)
        Numbers, none missing.
    y : pandas.Series of shape (n_samples,)
    notes : list of str
        What was left out, in words.
    given : list of str
        Columns that are kept whatever they add.
    stored : tuple or None
        Samples and responses to fit on, where they are too many to hold and ``X`` and ``y``
        are a sample of them.
    """

    X: pd.DataFrame
    y: pd.Series
    notes: list[str]
    given: list[str] = field(default_factory=list)
    stored: tuple[Any, np.ndarray] | None = None

    @property
    def n_samples(self) -> int:
        """Number of samples to fit on."""
        return len(self.X) if self.stored is None else int(self.stored[0].shape[0])


def find_column(name: str, columns: Sequence[str], option: str) -> str:
    """The column that a name, or else an index, stands for.

    Parameters
    ----------
    name : str
        A column name; or an index from 0, or from -1 at the end.
    columns : sequence of str
    option : str
        The option it was given to, for the message.

    Returns
    -------
    str

    Examples
    --------
    >>> find_column("-1", ["a", "b"], "--target")
    'b'
    """
    if name in columns:
        return name
    try:
        return columns[int(name)]
    except ValueError:
        close = nearest(name, columns)
        hint = f"Did you mean {' or '.join(close)}? " if close else ""
        shown = ", ".join(columns[:_SHOWN]) + (" …" if len(columns) > _SHOWN else "")
        message = f"{option}: there is no column {name!r}."
        hint += f"The {len(columns)} columns are: {shown}"
    except IndexError:
        message = f"{option}: there is no column {name}."
        hint = f"Indices go from 0 to {len(columns) - 1}, or from -1 for the last."
    raise CommandError(message, ExitCode.COLUMN, hint)


def make_question(
    frame: pd.DataFrame,
    target: str | None,
    drop: Sequence[str] = (),
    missing: str = "error",
    categorical: Sequence[str] = (),
    given: Sequence[str] = (),
) -> Question:
    """Split a table into numbers and a response.

    Parameters
    ----------
    frame : pandas.DataFrame
    target : str or None
        Name or index of the response; None takes a column called y, target, label or class.
    drop : sequence of str
        Names or indices of columns to leave out.
    missing : {"error", "rows", "columns"}
        What to do about missing values in the samples.
    categorical : sequence of str
        Names or indices of columns that hold categories.
    given : sequence of str
        Names or indices of columns that are kept whatever they add.

    Returns
    -------
    Question
    """
    columns = list(frame.columns)
    if len(columns) == 1:
        raise CommandError(
            f"The table has one column only, {str(columns[0])!r}.",
            ExitCode.DATA,
            "Check what stands between its columns: commas, semicolons, tabs and | are understood.",
        )
    name = find_column(target, columns, "--target") if target else _usual_target(columns)
    dropped = {find_column(item, columns, "--drop") for item in drop}
    if name in dropped:
        raise CommandError(
            f"--drop names the target {name!r} itself.", ExitCode.USAGE, "Leave one of them out."
        )
    known = [find_column(item, columns, "--given") for item in given]
    if name in known:
        raise CommandError(
            f"--given names the target {name!r} itself.",
            ExitCode.USAGE,
            "Name what is known about the samples besides it.",
        )
    y = frame[name]
    if y.isna().any():
        frame, y = _without_blank_targets(frame, name, missing)
    X = frame.drop(columns=[name, *dropped])
    if X.shape[1] == 0:
        raise CommandError("No column is left to select from.", ExitCode.DATA, "Drop fewer.")
    X = _with_categories(X, [find_column(item, columns, "--categorical") for item in categorical])
    _check_numeric(X)
    X, keep, notes = _treat_missing(X, missing)
    for column in known:
        if column not in X.columns:
            raise CommandError(
                f"--given names {column!r}, which is not among the features left.",
                ExitCode.USAGE,
                "Name another column, or do not leave it out.",
            )
    y = y.loc[keep]
    notes = [*frame.attrs.get("notes", []), *notes, *_nearly_equal_labels(y)]
    return Question(X, y, notes, known)


def _nearly_equal_labels(y: pd.Series) -> list[str]:
    """A note on classes that may be meant as one."""
    labels = sorted({label for label in y.unique() if isinstance(label, str)})
    alike: dict[str, list[str]] = {}
    for label in labels if len(labels) <= _MOST_LABELS else ():
        alike.setdefault(" ".join(label.split()).casefold(), []).append(repr(label))
    return [
        f"Classes {' and '.join(group)} of {str(y.name)!r} differ only in case or spaces; are "
        "they one?"
        for group in alike.values()
        if len(group) > 1
    ]


def make_stored_question(
    folder: str, target: str | None, drop: Sequence[str] = (), given: Sequence[str] = ()
) -> Question:
    """Open a folder of Parquet files, to be read in batches, with a sample of its rows.

    Parameters
    ----------
    folder : str
    target, drop, given
        As for :func:`make_question`.

    Returns
    -------
    Question
    """
    import pandas as pd

    from covmin import open_parquet
    from covmin.data.sources.local import parquet_columns

    try:
        columns = parquet_columns(folder)
        name = find_column(target, columns, "--target") if target else _usual_target(columns)
        left_out = {name, *(find_column(item, columns, "--drop") for item in drop)}
        kept = [column for column in columns if column not in left_out]
        known = [find_column(item, kept, "--given") for item in given]
        X, y = open_parquet(folder, name, kept)
        n = X.shape[0]
        rows = np.sort(np.random.default_rng(0).choice(n, min(n, _SAMPLED_ROWS), replace=False))
        frame = pd.DataFrame(X.take(rows), columns=kept)
    except (OSError, ImportError, KeyError) as error:
        raise CommandError(f"{folder} cannot be read: {error}", ExitCode.INPUT) from error
    except ValueError as error:
        raise CommandError(str(error), ExitCode.DATA) from error
    notes = [] if rows.size == n else [f"Warnings and pictures rest on {rows.size} of {n} rows."]
    return Question(frame, pd.Series(y[rows], name=name), notes, known, (X, y))


def parse_size(text: str) -> int | float | str:
    """Number of features asked for: "auto", a count, a fraction or a percentage.

    Parameters
    ----------
    text : str

    Returns
    -------
    int, float or "auto"

    Examples
    --------
    >>> parse_size("auto"), parse_size("12"), parse_size("0.2"), parse_size("20%")
    ('auto', 12, 0.2, 0.2)
    """
    if text == "auto":
        return text
    try:
        if text.isdecimal() and int(text) > 0:
            return int(text)
        fraction = float(text[:-1]) / 100 if text.endswith("%") else float(text)
        if 0.0 < fraction <= 1.0:
            return fraction
    except ValueError:
        pass
    raise CommandError(
        f"-m {text} is not a number of features.",
        ExitCode.USAGE,
        "Give a count (-m 10), a fraction (-m 0.2), or -m auto to have it chosen.",
    )


def parse_epsilon(text: str) -> Any:
    """Ridge: "auto", a number, or several of them separated by commas.

    Parameters
    ----------
    text : str

    Returns
    -------
    float, list of float or "auto"

    Examples
    --------
    >>> parse_epsilon("0.1"), parse_epsilon("0.01,0.1")
    (0.1, [0.01, 0.1])
    """
    if text == "auto":
        return text
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = [0.0]
    if not all(0.0 < value < float("inf") for value in values):
        raise CommandError(
            f"--epsilon {text} is not a positive number.",
            ExitCode.USAGE,
            "Give a number (0.01), several to choose from (0.001,0.01,0.1), or auto.",
        )
    return values[0] if len(values) == 1 else values


def _usual_target(columns: Sequence[str]) -> str:
    for name in _TARGETS:
        if name in columns:
            return name
    raise CommandError(
        "Which column is the response?",
        ExitCode.USAGE,
        f"Name it with --target, for example --target {columns[-1]!r} (or --target -1).",
    )


def _without_blank_targets(
    frame: pd.DataFrame, name: str, missing: str
) -> tuple[pd.DataFrame, pd.Series]:
    blank = frame[name].isna()
    if missing != "rows":
        raise CommandError(
            f"The target {name!r} is missing in {int(blank.sum())} of {len(frame)} rows.",
            ExitCode.DATA,
            "Leave these rows out, and any others with gaps, with --missing rows.",
        )
    frame = frame.loc[~blank]
    return frame, frame[name]


def _with_categories(X: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    present = [name for name in names if name in X.columns]
    return X.astype(dict.fromkeys(present, "category"))


def _check_numeric(X: pd.DataFrame) -> None:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    text = [
        name
        for name in X
        if not (is_numeric_dtype(X[name]) or is_bool_dtype(X[name]) or _is_category(X[name]))
    ]
    if text:
        commas = [name for name in text if looks_like_decimal_commas(X[name])]
        if commas:
            points = any(X[name].dtype.kind == "f" for name in X)
            raise CommandError(
                f"{len(commas)} column(s) hold numbers with a decimal comma: {_listed(commas)}.",
                ExitCode.DATA,
                "Others have a decimal point: write all columns with points."
                if points
                else "Read them as numbers with --decimal ,",
            )
        raise _not_numbers(X[text])


def _not_numbers(X: pd.DataFrame) -> CommandError:
    shown = {name: contents(X[name]) for name in list(X)[:_SHOWN]}
    told = "".join(f"\n  {name}: {what}" for name, what in shown.items())
    more = f"\n  and {X.shape[1] - _SHOWN} more" if X.shape[1] > _SHOWN else ""
    drop = " ".join(f"--drop {_quoted(name)}" for name in shown)
    # Levels that hardly repeat are no categories.
    words = [n for n, what in shown.items() if _is_text(what) and X[n].nunique() <= len(X) / 2]
    encode = ""
    if words:
        options = " ".join(f"--categorical {_quoted(name)}" for name in words)
        encode = f", or take categories as such ({options})"
    return CommandError(
        f"{X.shape[1]} column(s) do not hold numbers:{told}{more}",
        ExitCode.DATA,
        f"Correct the file, or leave them out ({drop}){encode}.",
    )


def _is_text(what: str) -> bool:
    return what.startswith("text")


def _is_category(column: pd.Series) -> bool:
    return str(column.dtype) == "category"


def _is_missing(X: pd.DataFrame) -> np.ndarray:
    """Where a number is missing or infinite, or a category missing."""
    numbers = [name for name in X if not _is_category(X[name])]
    bad = X.isna().to_numpy(dtype=bool, copy=True)
    values = X[numbers].to_numpy(dtype=np.float64, na_value=np.nan)
    bad[:, X.columns.get_indexer(numbers)] = ~np.isfinite(values)
    return bad


def _treat_missing(X: pd.DataFrame, missing: str) -> tuple[pd.DataFrame, Any, list[str]]:
    """Samples without missing or infinite values, the rows kept, and notes."""
    bad = _is_missing(X)
    everything = X.index
    if not bad.any():
        return X, everything, []
    columns = [str(name) for name in X.columns[bad.any(axis=0)]]
    if missing == "columns" and len(columns) < X.shape[1]:
        note = f"{len(columns)} column(s) with missing values left out: {_listed(columns)}."
        return X.drop(columns=columns), everything, [note]
    rows = bad.any(axis=1)
    if missing == "rows" and not rows.all():
        kept = X.index[~rows]
        return X.loc[kept], kept, [f"{int(rows.sum())} row(s) with missing values left out."]
    raise CommandError(
        f"{len(columns)} column(s) have missing or infinite values, in {int(rows.sum())} of "
        f"{len(X)} rows: {_listed(columns)}.",
        ExitCode.DATA,
        "Leave out those rows (--missing rows) or those columns (--missing columns), or fill the "
        "values first, for example with scikit-learn's SimpleImputer.",
    )


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f"'{name}'"


def _listed(names: Sequence[str]) -> str:
    text = ", ".join(map(str, names[:_SHOWN]))
    return f"{text} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else text
