"""Finished parts of a long fit on the disk, so that a new fit goes on from there."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import numpy as np

from covmin.core.path import Stage
from covmin.core.solver import Solution
from covmin.data.columns import PreparedColumns
from covmin.data.responses import EncodedResponse
from covmin.data.sources.local import StandardizedSource
from covmin.runtime.log import ResultLog
from covmin.runtime.parameters import plain
from covmin.runtime.version import __version__

__all__ = ["Checkpoint", "fingerprint"]

# Parameters that change how a fit runs, not what comes of it.
_NOT_PART_OF_THE_ANSWER = {
    "callback",
    "checkpoint",
    "checkpoint_after",
    "interrupt",
    "n_jobs",
    "n_substitutes",
    "verbose",
}
# Beyond this many characters a parameter is told by its digest.
_LONGEST_TEXT = 100


def fingerprint(
    parameters: dict[str, Any], columns: PreparedColumns, response: EncodedResponse
) -> dict[str, Any]:
    """What a fit depends on: the program, its parameters, and a digest of the data."""
    kept = {
        name: _text(value)
        for name, value in parameters.items()
        if name not in _NOT_PART_OF_THE_ANSWER
    }
    if not isinstance(parameters.get("random_state"), Integral | None):
        raise ValueError(
            "A fit that goes on from a checkpoint needs the seed it began with, which a "
            "RandomState does not keep; pass an integer as random_state."
        )
    return {"covmin": __version__, "data": _digest(columns, response), "parameters": kept}


def _digest(columns: PreparedColumns, response: EncodedResponse) -> str:
    digest = hashlib.sha256(response.task.encode())
    for array in (
        columns.index,
        columns.mean,
        columns.scale,
        columns.units.of_column,
        columns.units.scale,
        columns.p,
        columns.total_weight,
        response.Y,
        response.scale,
    ):
        digest.update(np.ravel(array).data)
    X = columns.X
    if isinstance(X, StandardizedSource):
        digest.update(X.source.reduce(_digest_block, b"".join, response.Y, columns.p))
    else:
        digest.update(np.ravel(X).data)
    return digest.hexdigest()


def _digest_block(X: np.ndarray, Y: np.ndarray, p: np.ndarray) -> bytes:
    return hashlib.sha256(np.ravel(X).data).digest()


def _text(value: Any) -> str:
    """A text that equal parameters share and different ones do not.

    Examples
    --------
    >>> _text(np.array([1, 2])), _text([1, 2]), _text({"a": np.arange(2)})
    ('[1, 2]', '[1, 2]', "{'a': [0, 1]}")
    >>> _text(np.zeros(5000)) == _text(np.eye(1, 5000, 2500)[0])
    False
    """
    text = repr(plain(value))
    if len(text) <= _LONGEST_TEXT:
        return text
    return f"{text[:_LONGEST_TEXT]}… (sha256 {hashlib.sha256(text.encode()).hexdigest()})"


class Checkpoint:
    """Folds and stages that are done.

    Parameters
    ----------
    path : path-like or None
        The file; None keeps nothing.
    after : float
        Seconds a fit must last before anything is written.
    settings : dict
        What the fit depends on; a file of another fit is refused.
    """

    def __init__(self, path: Any, after: float, settings: dict[str, Any]) -> None:
        self._path = None if path is None else Path(path)
        self._settings = settings
        self._due = time.monotonic() + after
        self._log: ResultLog | None = None
        self._waiting: list[tuple[dict[str, Any], Any]] = []
        if self._path is not None and self._path.exists():
            self._log = ResultLog(self._path, settings)

    def _known(self, kind: str) -> list[Any]:
        found: list[Any] = []
        while self._log is not None and {kind: len(found)} in self._log:
            found.append(self._log[{kind: len(found)}])
        return found

    def folds(self) -> list[np.ndarray]:
        """Errors of the folds judged before."""
        return [np.array(errors) for errors in self._known("fold")]

    def stages(self) -> list[tuple[Stage, np.ndarray]]:
        """Stages solved before, each with its units from best to worst."""
        return [(_read_stage(record), np.array(record["order"])) for record in self._known("stage")]

    def add_fold(self, number: int, errors: np.ndarray) -> None:
        """Keep the errors of a fold."""
        self._add({"fold": number}, errors.tolist())

    def add_stage(self, number: int, stage: Stage, order: np.ndarray) -> None:
        """Keep a stage."""
        self._add({"stage": number}, _write_stage(stage) | {"order": order.tolist()})

    def _add(self, unit: dict[str, Any], result: Any) -> None:
        if self._path is None:
            return
        self._waiting.append((unit, result))
        if self._log is None and time.monotonic() < self._due:
            return
        if self._log is None:
            self._log = ResultLog(self._path, self._settings)
        for item in self._waiting:
            self._log.append(*item)
        self._waiting.clear()

    @classmethod
    @contextmanager
    def kept(cls, path: Any, after: float, settings: dict[str, Any]) -> Iterator[Self]:
        """A checkpoint while the block runs; the file goes when it ends without an error."""
        checkpoint = cls(path, after, settings)
        try:
            yield checkpoint
        finally:
            if checkpoint._log is not None:
                checkpoint._log.__exit__(None, None, None)
        if checkpoint._path is not None:
            checkpoint._path.unlink(missing_ok=True)


_ARRAYS = ("features", "columns", "weights")
_NUMBERS = ("budget", "bandwidth", "criterion", "loo_error")
_LEFT_OUT = {"state", "operator"}


def _write_stage(stage: Stage) -> dict[str, Any]:
    record: dict[str, Any] = {name: getattr(stage, name).tolist() for name in _ARRAYS}
    record |= {name: getattr(stage, name) for name in _NUMBERS}
    record["solution"] = {
        field.name: np.asarray(getattr(stage.solution, field.name)).tolist()
        for field in fields(Solution)
        if field.name not in _LEFT_OUT
    }
    return record


def _read_stage(record: dict[str, Any]) -> Stage:
    solution: dict[str, Any] = {
        name: np.array(value) if isinstance(value, list) else value
        for name, value in record["solution"].items()
    }
    stage: dict[str, Any] = {name: np.array(record[name]) for name in _ARRAYS}
    stage |= {name: record[name] for name in _NUMBERS}
    return Stage(**stage, solution=Solution(**solution))
