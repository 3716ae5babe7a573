"""Identify a fit, so that a checkpoint resumes only the same fit."""

import hashlib
from numbers import Integral
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from covmin.data.response import EncodedResponse
from covmin.data.standardize import PreparedColumns
from covmin.runtime.parameters import plain
from covmin.runtime.version import __version__

# Parameters that affect how a fit runs, but not its result.
_WITHOUT_EFFECT = {"long_run", "n_jobs", "n_substitutes", "verbose"}
# Longer parameters are identified by a digest.
_LONGEST_TEXT = 100


def fingerprint(
    parameters: dict[str, Any], columns: PreparedColumns, response: EncodedResponse
) -> dict[str, Any]:
    """Return everything that a fit depends on: version, parameters, and a digest of the data."""
    kept = {name: _text(value) for name, value in parameters.items() if name not in _WITHOUT_EFFECT}
    if not isinstance(parameters.get("random_state"), Integral | None):
        raise ValueError(
            "A checkpoint requires a seed that is known when the fit resumes, which a RandomState "
            "does not provide. Pass an integer as random_state."
        )
    return {"covmin": __version__, "data": _digest(columns, response), "parameters": kept}


def _digest(columns: PreparedColumns, response: EncodedResponse) -> str:
    digest = hashlib.sha256(response.task.encode())
    for array in (
        columns.index,
        columns.mean,
        columns.scale,
        columns.units.of_column,
        columns.units.scale,
        columns.p,
        columns.total_weight,
        response.Y,
        response.scale,
    ):
        digest.update(np.ravel(array).data)
    digest.update(columns.X.source.reduce(_digest_block, b"".join, response.Y, columns.p))
    return digest.hexdigest()


def _digest_block(X: np.ndarray, Y: np.ndarray, p: np.ndarray) -> bytes:
    return hashlib.sha256(np.ravel(X).data).digest()


def _text(value: Any) -> str:
    """Return a text that is the same exactly for equal parameters.

    >>> _text(np.array([1, 2])), _text([1, 2]), _text({"a": np.arange(2)})
    ('[1, 2]', '[1, 2]', "{'a': [0, 1]}")
    >>> _text(np.zeros(5000)) == _text(np.eye(1, 5000, 2500)[0])
    False
    """
    text = repr(_told(value))
    if len(text) <= _LONGEST_TEXT:
        return text
    return f"{text[:_LONGEST_TEXT]}… (sha256 {hashlib.sha256(text.encode()).hexdigest()})"


def _digest_of_function(function: FunctionType) -> str:
    """Return a short digest of the code and the values that a function holds."""
    code = function.__code__
    constants = [each for each in code.co_consts if not isinstance(each, CodeType)]
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    held = _told([constants, code.co_names, function.__defaults__, function.__kwdefaults__, cells])
    return hashlib.sha256(code.co_code + repr(held).encode()).hexdigest()[:8]


def _told(value: Any) -> Any:
    """Reduce a parameter to plain values: estimators to their parameters, functions to their code.

    The repr of an estimator may be abbreviated, and that of a function differs between processes.
    Functions with the same name may differ, such as lambdas and closures.
    """
    if isinstance(value, dict):
        return {plain(key): _told(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_told(item) for item in value]
    if hasattr(value, "get_params") and not isinstance(value, type):
        return type(value).__qualname__, _told(value.get_params(deep=False))
    if isinstance(value, FunctionType):
        return f"{value.__module__}.{value.__qualname__} ({_digest_of_function(value)})"
    if hasattr(value, "_score_func"):  # a scorer, whose repr contains a memory address
        parts = vars(value)
        return type(value).__qualname__, {name: _told(parts[name]) for name in sorted(parts)}
    return plain(value)
