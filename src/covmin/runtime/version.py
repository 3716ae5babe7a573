"""The version of covmin, and a check of the version that pickled a selector."""

from typing import Any

from covmin.remarks import warn

__version__ = "0.1.0"

_KEY = "_covmin_version"


class VersionedPickles:
    """Mixin that stores covmin's version in pickles and warns if another version loads them."""

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()  # type: ignore[misc]
        return {**state, _KEY: __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        made_by = state.pop(_KEY, "an unknown version")
        if made_by != __version__:
            warn(
                "version",
                f"This {type(self).__name__} was pickled by covmin {made_by} and is loaded by "
                f"{__version__}: attributes may be missing or have another meaning. Refit it, or "
                "load it with the version that made it. Only load pickles that you trust.",
            )
        super().__setstate__(state)  # type: ignore[misc]
