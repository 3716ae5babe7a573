"""Rephrase the library's messages in terms of command-line options."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import CommandError, ExitCode
from .options import SELECTOR_OPTIONS

# Phrases that mention several parameters, or a function call.
_SENTENCES = (
    (r"\bn_features_to_select=(\S+), but X has", r"-m \1, but the table has"),
    (r"pass y as numbers, or as an ordered categorical", "write them as numbers, or store them as "
     "an ordered categorical in a Parquet or Feather file"),
    (r"after max_iter=(\d+) steps before it reached tol=\S+;", r"after \1 steps, unfinished;"),
    (r"increase max_iter or tol( of the formulation)?", "allow more with --max-iter"),
    (r", standardise them \(standardize=True\), or pass bandwidth as a positive number", ""),
    (r"Check that the right column was passed as y", "Check that --target names the right column"),
    (r"n_splits=(\d+) cannot be greater than .*", r"--cv \1 is more folds than samples allow."),
    (r"Supported target types are:.*Got 'continuous' instead\.", "{y} holds continuous numbers, "
     "not classes; use --task regression."),
    (r"\bwith columns=", "with --drop"),
    (r"\bdrop the column\b", "exclude the column with --drop"),
    (r"(?:Input )?\by (?=has|is|holds|contains)", "{y} "),
    (r"\bfeature\(s\) of X\b", "feature(s)"),
    (r"\bX has\b", "the table has"),
)  # fmt: skip
# Remains of a function call after its parameters have become options.
_CALLS = (
    (r"\bPass (?=--)", "Use "),
    (r"\bpass (?=--)", "use "),
    (r",? or (--\S+ )?None\b|None, |, an instance of '[\w.]+'", ""),
)


def _replacements() -> list[tuple[str, str]]:
    """Return patterns of messages that mention parameters, and their replacements."""
    found = [*_SENTENCES]
    for option in SELECTOR_OPTIONS:
        parameter = option.parameter.rpartition("__")[2]
        for word, value in option.stands_for.items():
            found.append((rf"\b{parameter}={value}\b", f"{option.name} {word}"))
        found += [
            (rf"The '{parameter}' parameter of \w+ must", f"{option.name} must"),
            (rf"(?<!-)\b{parameter}=['\"]?([\w.+-]*\w)['\"]?", rf"{option.name} \1"),
            (rf"(?<!-)\b{parameter} must", f"{option.name} must"),
        ]
        # Leave parameters alone that are ordinary words.
        if not parameter.isalpha():
            found.append((rf"(?<!-)\b{parameter}\b", option.name))
    return [*found, *_CALLS]


def in_words_of_options(message: str, target: str) -> str:
    """Rephrase a message, with options for parameters and the target for y."""
    for pattern, words in _replacements():
        message = re.sub(pattern, words, message, flags=re.DOTALL)
    message = message.replace("{y}", f"the target {target!r}")
    return message[:1].upper() + message[1:]


@contextmanager
def explained(target: str) -> Iterator[list[str]]:
    """Rephrase errors and warnings; the warnings are in the list once the block ends."""
    remarks: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield remarks
        except (ValueError, MemoryError) as error:
            message = in_words_of_options(str(error), target)
            raise CommandError(message, ExitCode.DATA) from error
    said = [str(w.message) for w in caught if issubclass(w.category, UserWarning)]
    remarks += dict.fromkeys(in_words_of_options(text, target) for text in said)
