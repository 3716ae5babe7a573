"""scikit-learn's callbacks, which are experimental there: a fit is one task to them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback._callback_support import callback_management_context
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """No callbacks."""

    callback_management_context = None


@contextmanager
def fit_task(estimator: Any, X: Any, y: Any) -> Iterator[None]:
    """Tell the callbacks of an estimator when its fit begins and when it has ended well."""
    if callback_management_context is None:
        yield
        return
    with callback_management_context(estimator):
        context = estimator._init_callback_context()
        context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        yield
        context.call_on_fit_task_end(estimator=estimator, X=X, y=y)
