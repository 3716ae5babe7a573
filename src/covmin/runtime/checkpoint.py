"""Save the finished parts of a long fit to disk, so that a later fit can resume."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Self

import numpy as np

from covmin.core.path import Stage
from covmin.core.solver import Solution
from covmin.core.watch import Iteration, Progress

from .log import ResultLog


class Checkpoint:
    """The finished folds and stages of a fit, saved in a file; without a path nothing is saved.

    Nothing is written before the fit has run for ``after`` seconds. ``settings`` holds everything
    that the fit depends on; a file with other settings is refused.
    """

    def __init__(self, path: Any, after: float, settings: dict[str, Any]) -> None:
        self._path = None if path is None else Path(path)
        self._settings = settings
        self._due = time.monotonic() + after
        self._log: ResultLog | None = None
        self._left = False
        self._waiting: list[tuple[dict[str, Any], Any]] = []
        if self._path is not None and self._path.exists():
            self._log = ResultLog(self._path, settings)

    def _known(self, kind: str) -> list[Any]:
        found: list[Any] = []
        while self._log is not None and {kind: len(found)} in self._log:
            found.append(self._log[{kind: len(found)}])
        return found

    def folds(self) -> list[np.ndarray]:
        """Return the errors of the saved folds."""
        return [np.array(errors) for errors in self._known("fold")]

    def stages(self) -> list[tuple[Stage, np.ndarray]]:
        """Return the saved stages, each with its units from best to worst."""
        return [(_read_stage(record), np.array(record["order"])) for record in self._known("stage")]

    def steps(self) -> list[Progress]:
        """Return the optimisation steps of the saved stages."""
        return [_read_step(step) for record in self._known("stage") for step in record["steps"]]

    def add(self, kind: str, number: int, *parts: Any) -> None:
        """Save the errors of a fold, or a stage with its order and its steps."""
        if self._path is None:
            return
        self._waiting.append(({kind: number}, _WRITERS[kind](*parts)))
        if self._log is None:
            if time.monotonic() < self._due:
                return
            self._log = ResultLog(self._path, self._settings)
        for item in self._waiting:
            self._log.append(*item)
        self._waiting.clear()

    def leave(self) -> None:
        """Keep the file although the fit ends without an error, because it is incomplete."""
        self._left = True

    @classmethod
    @contextmanager
    def kept(cls, path: Any, after: float, settings: dict[str, Any]) -> Iterator[Self]:
        """Provide a checkpoint for the block; delete the file if the block ends without error."""
        checkpoint = cls(path, after, settings)
        try:
            yield checkpoint
        finally:
            if checkpoint._log is not None:
                checkpoint._log.__exit__(None, None, None)
        if checkpoint._path is not None and not checkpoint._left:
            checkpoint._path.unlink(missing_ok=True)


# Fields that are neither numbers nor arrays.
_LEFT_OUT = {"solution", "state", "operator"}


def _plain(part: Stage | Solution) -> dict[str, Any]:
    names = (field.name for field in fields(part) if field.name not in _LEFT_OUT)
    return {name: np.asarray(getattr(part, name)).tolist() for name in names}


def _write_stage(stage: Stage, order: np.ndarray, steps: Sequence[Progress]) -> dict[str, Any]:
    return {
        **_plain(stage),
        "solution": _plain(stage.solution),
        "order": order.tolist(),
        "steps": [asdict(step) for step in steps],
    }


def _restored(record: dict[str, Any]) -> Any:
    return {k: np.array(v) if isinstance(v, list) else v for k, v in record.items()}


def _read_stage(record: dict[str, Any]) -> Stage:
    own = {name: value for name, value in record.items() if name not in ("order", "steps")}
    return Stage(**_restored({**own, "solution": Solution(**_restored(record["solution"]))}))


def _read_step(record: dict[str, Any]) -> Progress:
    return Progress(**{**record, "iteration": Iteration(**record["iteration"])})


_WRITERS: dict[str, Callable[..., Any]] = {"fold": np.ndarray.tolist, "stage": _write_stage}
