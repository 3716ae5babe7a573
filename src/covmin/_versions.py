"""Which version of covmin made a pickled selector."""

from __future__ import annotations

import warnings
from typing import Any

__all__ = ["VersionedPickles"]

_KEY = "_covmin_version"


class VersionedPickles:
    """Estimators whose pickles know their version, and say so where another one loads them."""

    def __getstate__(self) -> dict[str, Any]:
        from covmin import __version__

        state: Any = super().__getstate__()  # type: ignore[misc]
        return {**state, _KEY: __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from covmin import __version__

        state = dict(state)
        made_by = state.pop(_KEY, "an unknown version")
        if made_by != __version__:
            warnings.warn(
                f"This {type(self).__name__} was pickled by covmin {made_by} and is loaded by "
                f"{__version__}: attributes may be missing or mean something else. Fit it again, "
                f"or install covmin {made_by}. Only load pickles that you trust.",
                UserWarning,
                stacklevel=2,
            )
        super().__setstate__(state)  # type: ignore[misc]
