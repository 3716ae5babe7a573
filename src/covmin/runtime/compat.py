"""What covmin needs of scikit-learn beyond its public interface.

Its private modules are imported here and nowhere else. Where a release lacks one, parameters are
not validated.
"""

from collections.abc import Callable
from numbers import Integral
from typing import Any, TypeVar

try:
    from sklearn.base import _fit_context
    from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
    from sklearn.utils._param_validation import validate_parameter_constraints as _check_parameters
    from sklearn.utils._param_validation import validate_params as _validate_params
except ImportError:

    class _Unchecked:
        """Stands for a constraint or a decorator, and checks nothing."""

        def __init__(self, *_: Any, **__: Any) -> None: ...

        def __call__(self, function: Any) -> Any:
            return function

    HasMethods = Interval = StrOptions = _Unchecked
    _fit_context = _check_parameters = _validate_params = _Unchecked

_COUNT = Interval(Integral, 1, None, closed="left")
# Values allowed for n_jobs: joblib counts negative values from the last core; zero is undefined.
N_JOBS: list[Any] = [None, _COUNT, Interval(Integral, None, -1, closed="right")]
VERBOSE: list[Any] = ["verbose", StrOptions({"auto"})]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
# Validate the parameters of an estimator before a fit, of a function before a call, of an object.
fit_context: Callable[..., Callable[[Decorated], Decorated]] = _fit_context
validate_params: Callable[..., Callable[[Decorated], Decorated]] = _validate_params
check_parameters: Callable[..., Any] = _check_parameters


def output_container(estimator: Any) -> str:
    """Return what ``set_output`` asks of transform: "default", "pandas" or "polars"."""
    try:
        from sklearn.utils._set_output import _get_output_config
    except ImportError:
        return "default"
    return str(_get_output_config("transform", estimator)["dense"])
