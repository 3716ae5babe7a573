"""The library's messages in the words of the command line."""

from __future__ import annotations

import re

__all__ = ["in_words_of_options"]

# Patterns of messages that speak of parameters, and the options that stand for them.
_REPLACEMENTS = (
    (r"\bn_features_to_select=(\S+), but X has", r"-m \1, but the table has"),
    (r"\btask=['\"]?(\w+)['\"]?", r"--task \1"),
    (r"\bPass --task", "Use --task"),
    (r"\bpass --task", "use --task"),
    (r"after max_iter=(\d+) steps before it reached tol=\S+;", r"after \1 steps, unfinished;"),
    (r"increase max_iter or tol", "allow more with --max-iter"),
    (r", standardise them \(standardize=True\), or pass bandwidth as a positive number", ""),
    (r"Check that the right column was passed as y", "Check that --target names the right column"),
    (r"n_splits=(\d+) cannot be greater than .*", r"--cv \1 is more folds than samples allow."),
    (r"Supported target types are:.*Got 'continuous' instead\.", "{y} holds continuous numbers, "
     "not classes; use --task regression."),
    (r"\brandom_state\b", "--seed"),
    (r"(?:Input )?\by (?=has|is|holds|contains)", "{y} "),
    (r"\bfeature\(s\) of X\b", "feature(s)"),
    (r"\bX has\b", "the table has"),
)  # fmt: skip


def in_words_of_options(message: str, target: str) -> str:
    """Say what the library says, with options for parameters and the target for y.

    Parameters
    ----------
    message : str
    target : str
        Name of the column of the response.

    Returns
    -------
    str

    Examples
    --------
    >>> in_words_of_options("y has one class only (1).", "price")
    "The target 'price' has one class only (1)."
    >>> in_words_of_options("Pass task='regression' to silence this.", "price")
    'Use --task regression to silence this.'
    """
    for pattern, words in _REPLACEMENTS:
        message = re.sub(pattern, words, message, flags=re.DOTALL)
    message = message.replace("{y}", f"the target {target!r}")
    return message[:1].upper() + message[1:]
