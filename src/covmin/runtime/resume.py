"""Write results to disk so that a kill or a full disk loses nothing, and resume from them."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from itertools import count, takewhile
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import joblib
import numpy as np

from covmin.core.arrays import to_numpy
from covmin.core.path import Stage
from covmin.core.solver import Iteration, Progress, Solution
from covmin.remarks import InputError

from . import __version__

_FORMAT = "covmin-results-1"
_START = b'{"format":"covmin-results'
# Parameters that affect how a fit runs, but not its result.
_WITHOUT_EFFECT = {"long_run", "n_jobs", "verbose"}
# Fields of a stage that are neither numbers nor arrays.
_NOT_SAVED = {"solution", "state", "operator"}


class ResultLog:
    """A file of results that survives a killed run: one line of JSON for each.

    The first line holds the settings, each further line a finished unit of work with its result. A
    line is on disk before the next one is written; an incomplete last line is dropped. A damaged
    file, or one with results of other settings, is refused.
    """

    def __init__(self, path: str | os.PathLike[str], settings: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.settings = json.loads(json.dumps(dict(settings)))
        self._results: dict[str, Any] = {}
        self._n_bytes = 0  # of whole lines in the file
        self._file: Any = None
        if self.path.exists():
            self._read(self.path.read_bytes())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()

    def __contains__(self, unit: Mapping[str, Any]) -> bool:
        return _key(unit) in self._results

    def __getitem__(self, unit: Mapping[str, Any]) -> Any:
        return self._results[_key(unit)]

    def append(self, unit: Mapping[str, Any], result: Any) -> None:
        """Write a finished unit and its result, both as plain values, to disk."""
        self._results[_key(unit)] = result
        records: list[Any] = [{"unit": dict(unit), "result": result}]
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Unbuffered, so that a failed write is not repeated when the file is closed.
            self._file = self.path.open("ab", buffering=0)
            self._file.truncate(self._n_bytes)
            if self._n_bytes == 0:
                records.insert(0, {"format": _FORMAT, "settings": self.settings})
        lines = [json.dumps(r, separators=(",", ":"), allow_nan=False) + "\n" for r in records]
        rest = memoryview("".join(lines).encode())
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            reason = f"{error.strerror}; all earlier results are kept"
            raise OSError(error.errno, reason, str(self.path)) from error

    def _read(self, data: bytes) -> None:
        if not (data.startswith(_START) or _START.startswith(data)):
            raise InputError(f"{self.path} is not a results file of covmin. Choose another file.")
        self._n_bytes = data.rfind(b"\n") + 1
        try:
            header, *records = map(json.loads, data[: self._n_bytes].splitlines() or [b"{}"])
            self._results = {_key(record["unit"]): record["result"] for record in records}
            found = header.get("settings", self.settings)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            cure = "Choose another file, or delete it to start again."
            raise InputError(f"{self.path} is damaged ({error}). {cure}") from error
        changed = [
            f"  {name}: {found.get(name)!r} in the file, {self.settings.get(name)!r} in this run"
            for name in sorted({*found, *self.settings})
            if found.get(name) != self.settings.get(name)
        ]
        if changed or header.get("format", _FORMAT) != _FORMAT:
            listed = "\n".join(changed or ["  a different format"])
            cure = "Continue with the settings in that file, or choose another file."
            raise InputError(f"{self.path} holds results of other settings:\n{listed}\n{cure}")


def _key(unit: Mapping[str, Any]) -> str:
    return json.dumps(unit, sort_keys=True, separators=(",", ":"))


class Checkpoint(ResultLog):
    """The finished folds and stages of a fit, saved in a file."""

    def saved(self, kind: str) -> list[Any]:
        """Return the results of the first folds or stages."""
        numbers = takewhile(lambda number: {kind: number} in self, count())
        return [self[{kind: number}] for number in numbers]

    def stages(self) -> tuple[list[Stage], list[Progress]]:
        """Return the saved stages and their optimisation steps."""
        stages, steps = list[Stage](), list[Progress]()
        for record in self.saved("stage"):
            solution = Solution(**_arrays(record["solution"]))
            stages.append(Stage(**_arrays(record["stage"]), solution=solution))
            for step in record["steps"]:
                steps.append(Progress(**{**step, "iteration": Iteration(**step["iteration"])}))
        return stages, steps

    def add_stage(self, number: int, stage: Stage, steps: Sequence[Progress]) -> None:
        """Save a stage with its optimisation steps."""
        parts = {"stage": _plain_fields(stage), "solution": _plain_fields(stage.solution)}
        self.append({"stage": number}, {**parts, "steps": [asdict(step) for step in steps]})


def _plain_fields(part: Stage | Solution) -> dict[str, Any]:
    names = (field.name for field in fields(part) if field.name not in _NOT_SAVED)
    return {name: np.asarray(getattr(part, name)).tolist() for name in names}


def _arrays(parts: dict[str, Any]) -> dict[str, Any]:
    return {k: np.array(v) if isinstance(v, list) else v for k, v in parts.items()}


def fingerprint(parameters: dict[str, Any], columns: Any, response: Any) -> dict[str, Any]:
    """Return everything that a fit depends on: version, parameters, and a digest of the data.

    ``columns`` are the prepared columns of the samples, and ``response`` is the encoded response.
    """
    if not isinstance(parameters.get("random_state"), Integral | None):
        text = "A RandomState cannot be resumed from a checkpoint. Pass an integer as random_state."
        raise InputError(text, "random_state")
    kept = {k: _identity(k, v) for k, v in parameters.items() if k not in _WITHOUT_EFFECT}
    blocks = columns.X.source.reduce(_hash_of_block, "".join, response.Y, columns.p)
    how: Any = columns.X.change
    units = columns.units.of_column, columns.units.scale
    samples = columns.index, how.mean, how.scale, columns.p, columns.total_weight
    data = joblib.hash((blocks, units, samples, response.task, response.Y, response.squared_unit))
    return {"covmin": __version__, "data": data, **kept}


def _hash_of_block(X: np.ndarray, Y: np.ndarray, p: np.ndarray) -> str:
    return str(joblib.hash(np.ascontiguousarray(to_numpy(X))))


def _identity(name: str, value: Any) -> Any:
    """Return a plain value, or the digest of another one, which must be one that can be pickled."""
    if isinstance(value, str | Real | None):
        return np.asarray(value).tolist()
    try:
        return f"{type(value).__name__} ({joblib.hash(value)})"
    except Exception as error:  # objects fail in their own ways
        cure = "A checkpoint requires parameters that can be, such as a function of a module."
        raise InputError(f"{name}={value!r} cannot be pickled. {cure}", name) from error


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a temporary file next to ``path`` and move it into place in one step.

    An existing file keeps its permissions, and a symbolic link still points to it. A device or a
    pipe is written to directly. If anything fails, the old content is unchanged.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    # A short unique name: it fits in the file system's limit whenever the final name does.
    temporary = target.with_name(f".{uuid4().hex}.part")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            # Some file systems report a full disk only here.
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
