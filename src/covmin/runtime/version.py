"""The version of covmin, and which one made a pickled selector."""

import warnings
from typing import Any

__version__ = "0.1.0"

_KEY = "_covmin_version"


class VersionedPickles:
    """Estimators whose pickles know their version, and say so where another one loads them."""

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()  # type: ignore[misc]
        return {**state, _KEY: __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        made_by = state.pop(_KEY, "an unknown version")
        if made_by != __version__:
            warnings.warn(
                f"This {type(self).__name__} was pickled by covmin {made_by} and is loaded by "
                f"{__version__}: attributes may be missing or mean something else. Fit it again, "
                "or load it with the version that made it. Only load pickles that you trust.",
                UserWarning,
                stacklevel=2,
            )
        super().__setstate__(state)  # type: ignore[misc]
