"""Estimate the work of a fit, its progress, and the time that this machine needs for it."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .threads import one_blas_thread

# One elementwise operation (exponential, power, sum) on a matrix entry takes as long as this many
# multiplications of a float32 matrix product, on one thread.
PASS = 100.0
# Size of the matrix product that is timed (a few milliseconds), and the number of repetitions.
_TIMED = 256
_ROUNDS = 9
# Seconds below which no estimate is shown: the fit ends before anyone has read it.
_WORTH_SAYING = 2.0


@dataclass(frozen=True)
class Workload:
    """Number of multiplications in each part of a fit, in order of execution."""

    folds: float = 0.0  # cross-validation
    looks: float = 0.0  # preparation of the path
    stages: Mapping[int, float] = field(default_factory=dict)  # by number of features kept
    verdicts: float = 0.0  # tests of all features after the fit
    on_device: bool = False  # the speed of a device is not known

    @property
    def total(self) -> float:
        """Total number of multiplications."""
        return self.folds + self.looks + sum(self.stages.values()) + self.verdicts

    def after_folds(self, done: int, n_folds: int) -> float:
        """Return the share of the work done after some of the folds.

        >>> Workload(folds=6.0, stages={4: 3.0, 1: 1.0}).after_folds(1, 2)
        0.3
        """
        return self._share(self.folds * done / n_folds)

    def at_stage(self, budget: int) -> float:
        """Return the share of the work done when a stage begins.

        >>> Workload(folds=6.0, stages={4: 3.0, 1: 1.0}).at_stage(1)
        0.9
        """
        before = sum(work for kept, work in self.stages.items() if kept > budget)
        return self._share(self.folds + self.looks + before)

    def _share(self, work: float) -> float:
        return work / self.total if self.total > 0.0 else 0.0

    def seconds(self) -> float:
        """Estimate the time on this machine; the number of steps per stage is not known ahead."""
        return self.total / products_per_second()

    def in_words(self, shortest: float = _WORTH_SAYING) -> str:
        """Return a sentence with the estimated time; empty if it is short or unknown."""
        if self.on_device or (seconds := self.seconds()) < shortest:
            return ""
        return f"This takes about {duration_in_words(seconds)} on this machine."


def duration_in_words(seconds: float) -> str:
    """Format a duration in seconds, minutes or hours, rounded as befits an estimate.

    >>> [duration_in_words(seconds) for seconds in (0.2, 17.0, 140.0, 20_000.0)]
    ['1 s', '17 s', '2 min', '6 h']
    """
    for unit, length in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{float(f'{max(seconds, 1.0):.2g}'):.0f} s"


def products_per_second() -> float:
    """Measure multiplications per second: a small product and a pass over it, on one thread."""
    A = np.random.default_rng(0).random((_TIMED, _TIMED), dtype=np.float32)
    with one_blas_thread():
        # The median: a machine that is busy now will be busy during the fit.
        took = float(np.median([_seconds(A) for _ in range(_ROUNDS)]))
    return _TIMED**2 * (_TIMED + PASS) / took


def _seconds(A: np.ndarray) -> float:
    start = time.perf_counter()
    np.exp(A @ A.T * (-1.0 / _TIMED))
    return time.perf_counter() - start
