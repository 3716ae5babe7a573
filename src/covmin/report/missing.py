"""Columns with missing values, and the response where a value is missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from covmin.text import number, percent

from .samples import Samples

# Most columns to list, those with most missing values first.
_LISTED = 20


def missing_values(samples: Samples) -> dict[str, Any]:
    """Return ``rows`` for the columns with most missing values, and their number ``n_columns``."""
    shares = {j: float(gaps.mean()) for j, gaps in samples.table.missing.items()}
    most = sorted(shares, key=lambda j: -shares[j])
    rows = [{"feature": j, "share": shares[j], **_response(samples, j)} for j in most[:_LISTED]]
    return {"rows": rows, "n_columns": len(shares), "of": _said_of(samples)}


def _said_of(samples: Samples) -> str:
    if samples.task == "survival":
        return "events, relative to expected"
    return "most different class" if samples.task == "classification" else "mean response"


def _response(samples: Samples, j: int) -> dict[str, str]:
    """Describe the response where a value is present, and where it is missing."""
    gaps = samples.gaps(j)
    if gaps.all():
        return {"there": "", "missing": "", "class": ""}
    if samples.task == "survival":
        event = samples.responses[:, 0]
        expected = event - samples.y
        shares = [event[some].sum() / max(expected[some].sum(), 1e-300) for some in (~gaps, gaps)]
        return dict(zip(("there", "missing"), map(percent, shares), strict=True)) | {"class": ""}
    if samples.task != "classification":
        means = [float(samples.y[some].mean()) for some in (~gaps, gaps)]
        return dict(zip(("there", "missing"), map(number, means), strict=True)) | {"class": ""}
    labels, codes = samples.classes
    shares = [np.bincount(codes[some], minlength=len(labels)) for some in (~gaps, gaps)]
    there, missing = (counts / counts.sum() for counts in shares)
    # Two classes differ by the same amount; take the rarer one.
    most = max(range(len(labels)), key=lambda c: (round(abs(missing[c] - there[c]), 9), -there[c]))
    values = {"there": percent(there[most]), "missing": percent(missing[most])}
    return values | {"class": labels[most]}
