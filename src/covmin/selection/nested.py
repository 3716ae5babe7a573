"""Parameters of nested objects, such as ``kernel__degree``."""

from copy import copy
from typing import Any, Self

from covmin.plan import Formulation
from covmin.plan.formulation import Fourier, formulation_of
from covmin.plan.rules import kernel_of
from covmin.runtime.run import LongRun


class NestedParametersMixin:
    """A selector some of whose parameters are objects, or names of objects."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters, including those of nested objects, such as ``kernel__degree``.

        A kernel, formulation, approximation or long_run given by name, or as None, is replaced by
        its object first.
        """
        makers: dict[str, Any] = {
            "kernel": lambda name: kernel_of(name, Formulation()),
            "formulation": formulation_of,
            "approximation": lambda _: Fourier(),
            "long_run": lambda _: LongRun(),
        }
        for name, made in makers.items():
            given = params.get(name, getattr(self, name))
            nested = any(key.startswith(f"{name}__") for key in params)
            if nested and (given is None or isinstance(given, str)):
                params[name] = copy(made(given))
        selector: Self = super().set_params(**params)  # type: ignore[misc]
        return selector
