"""Keep away from NumPy's global random generator: it belongs to the user."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from sklearn.utils import check_random_state


@contextmanager
def global_state_restored() -> Iterator[None]:
    """Put the state of NumPy's global generator back on leaving.

    For code of others that draws from it, or seeds it, without a way to say otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines.randomness import global_state_restored
    >>> before = np.random.get_state()
    >>> with global_state_restored():
    ...     np.random.seed(0)
    >>> bool((np.random.get_state()[1] == before[1]).all())
    True
    """
    state = np.random.get_state()  # noqa: NPY002 (the global generator is what is protected)
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002


def private_random_state(random_state: int | np.random.RandomState | None) -> np.random.RandomState:
    """Turn ``random_state`` into a generator that is never NumPy's global one.

    Parameters
    ----------
    random_state : int, RandomState or None
        None draws a fresh seed from the operating system.

    Returns
    -------
    rng : numpy.random.RandomState

    Examples
    --------
    >>> from covmin.baselines.randomness import private_random_state
    >>> private_random_state(0).randint(100)
    44
    """
    return np.random.RandomState() if random_state is None else check_random_state(random_state)
