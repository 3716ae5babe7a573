"""Parameters of objects that are given by name."""

from copy import copy
from typing import Any, Self

from covmin.plan import Formulation
from covmin.plan.formulation import formulation_of
from covmin.plan.kernel import kernel_of
from covmin.runtime.run import LongRun


class NestedParametersMixin:
    """A selector whose kernel, formulation and long run are objects, or names of these."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of nested objects by ``kernel__degree`` and the like.

        Where a kernel, a formulation or a long run is a name or None, its object takes the place.
        """
        makers: dict[str, Any] = {
            "kernel": lambda name: kernel_of(name, Formulation()),
            "formulation": formulation_of,
            "long_run": lambda _: LongRun(),
        }
        for name, made in makers.items():
            given = params.get(name, getattr(self, name))
            nested = any(key.startswith(f"{name}__") for key in params)
            if nested and (given is None or isinstance(given, str)):
                params[name] = copy(made(given))
        selector: Self = super().set_params(**params)  # type: ignore[misc]
        return selector
