"""How much there is to do, how much of it is done, and how long this machine takes for it."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .threads import one_blas_thread

# A pass over a matrix (an exponential, a power, a sum) takes as long as so many products of each of
# its entries: those of float32 on one thread.
PASS = 100.0
# Rows and columns of the matrix that is timed, which takes a few milliseconds, and how often.
_TIMED = 256
_ROUNDS = 9
# Shorter fits are over before an estimate is read.
_WORTH_SAYING = 2.0


@dataclass(frozen=True)
class Workload:
    """Multiplications of the parts of a fit, in the order in which they come."""

    folds: float = 0.0  # of the cross-fit
    looks: float = 0.0  # before the path
    stages: Mapping[int, float] = field(default_factory=dict)  # by the features they keep
    on_device: bool = False  # whose speed is not known

    @property
    def total(self) -> float:
        """All of it."""
        return self.folds + self.looks + sum(self.stages.values())

    def after_folds(self, done: int, n_folds: int) -> float:
        """The share that is done after some of the folds.

        >>> Workload(folds=6.0, stages={4: 3.0, 1: 1.0}).after_folds(1, 2)
        0.3
        """
        return self._share(self.folds * done / n_folds)

    def at_stage(self, budget: int) -> float:
        """The share that is done when a stage begins.

        >>> Workload(folds=6.0, stages={4: 3.0, 1: 1.0}).at_stage(1)
        0.9
        """
        before = sum(work for kept, work in self.stages.items() if kept > budget)
        return self._share(self.folds + self.looks + before)

    def _share(self, work: float) -> float:
        return work / self.total if self.total > 0.0 else 0.0

    def seconds(self) -> float:
        """How long it takes here: about, for nobody knows how many steps a stage will need."""
        return self.total / products_per_second()

    def in_words(self, shortest: float = _WORTH_SAYING) -> str:
        """A sentence about how long it takes; nothing where that is shorter, or not known."""
        if self.on_device or (seconds := self.seconds()) < shortest:
            return ""
        return f"This takes about {duration_in_words(seconds)} on this machine."


def duration_in_words(seconds: float) -> str:
    """Seconds, minutes or hours, to as many digits as an estimate has.

    >>> [duration_in_words(seconds) for seconds in (0.2, 17.0, 140.0, 20_000.0)]
    ['1 s', '17 s', '2 min', '6 h']
    """
    for unit, length in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{float(f'{max(seconds, 1.0):.2g}'):.0f} s"


def products_per_second() -> float:
    """Multiplications in a second: those of a small product and a pass over it, on one thread."""
    A = np.random.default_rng(0).random((_TIMED, _TIMED), dtype=np.float32)
    with one_blas_thread():
        # The median: a machine that is busy now will be so during the fit.
        took = float(np.median([_seconds(A) for _ in range(_ROUNDS)]))
    return _TIMED**2 * (_TIMED + PASS) / took


def _seconds(A: np.ndarray) -> float:
    start = time.perf_counter()
    np.exp(A @ A.T * (-1.0 / _TIMED))
    return time.perf_counter() - start
