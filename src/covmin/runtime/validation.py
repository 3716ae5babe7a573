"""scikit-learn's parameter validation, as decorators that preserve types."""

from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.base import _fit_context
from sklearn.utils import _param_validation

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Decorated], Decorated]:
    """Validate the parameters of an estimator before a fit."""
    decorator: Any = _fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)
    return decorator  # type: ignore[no-any-return]


def validate_params(
    constraints: dict[str, Any], *, prefer_skip_nested_validation: bool
) -> Callable[[Decorated], Decorated]:
    """Validate the arguments of a function before it is called."""
    decorator: Any = _param_validation.validate_params(
        constraints, prefer_skip_nested_validation=prefer_skip_nested_validation
    )
    return decorator  # type: ignore[no-any-return]
