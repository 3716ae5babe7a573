"""Derive every seed from ``random_state``; NumPy's global generator belongs to the user."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def seed_of(random_state: Any) -> int:
    """Return one seed for all random draws; None means 0: the same result in every run."""
    if random_state is None or isinstance(random_state, Integral):
        return int(random_state or 0)
    return int(check_random_state(random_state).randint(2**31 - 1))


def unit_seed(random_state: int, *parts: Any) -> int:
    """Return a seed for one unit of work that is independent of machine and order of work."""
    text = "/".join(map(str, (random_state, *parts)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little") // 2


@contextmanager
def global_state_restored() -> Iterator[None]:
    """Restore the state of NumPy's global generator after third-party code that draws from it."""
    state = np.random.get_state()  # noqa: NPY002 (the global generator is what we protect)
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
