"""Relations between features: an interacting pair, associations and substitutes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import chi2_contingency

from covmin.selection.summary import Explained, find_substitutes
from covmin.text import percent

from .plots import crossed, pair_points
from .view import View

_SUBSTITUTED = 10
# Measure of association of two features, by how many of them are categorical.
MEASURES = ("correlation", "correlation ratio", "Cramér’s V")


def shown_pair(view: View, explained: Explained, pair: Sequence[int]) -> dict[str, Any] | None:
    """Return what two features explain alone and together, and points; None for a single one."""
    if len(pair) < 2:
        return None
    alone = [max(0.0, explained([j])) for j in pair]
    together = max(0.0, explained(pair))
    return {
        "features": list(pair),
        "alone": alone,
        "together": together,
        **pair_points(view, pair),
    }


def shared_information(view: View, columns: Sequence[int]) -> dict[str, Any]:
    """Return the associations between columns in per cent, and the measures used."""
    percents = np.rint(np.clip(100.0 * associations(view, columns, columns), -100.0, 100.0))
    return {
        "features": list(columns),
        "percent": percents.astype(int).tolist(),
        "categorical": [j for j in columns if view.column(j).is_category],
        "measures": list(MEASURES),
    }


def associations(view: View, rows: Sequence[int], columns: Sequence[int]) -> np.ndarray:
    """Return the strength of association between features, shape (n_rows, n_columns).

    Numbers have a signed correlation, two categories Cramér's V, and a category and a number the
    correlation ratio. The last two range from 0 to 1 and are corrected for chance, which would
    otherwise make categories with many levels look associated.
    """
    Z_rows, Z = view.standardized(rows), view.standardized(columns)
    found = Z_rows.T @ Z / view.rows.size
    categories = [(i, view.codes(j)) for i, j in enumerate(rows) if view.column(j).is_category]
    for i, codes in categories:
        found[i] = _correlation_ratios(codes, Z)
    for k, j in enumerate(columns):
        if view.column(j).is_category:
            others = view.codes(j)
            found[:, k] = _correlation_ratios(others, Z_rows)
            for i, codes in categories:
                found[i, k] = _cramers_v(codes, others)
    return found


def _correlation_ratios(codes: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return the root of the variance between levels as a fraction of all (Kelley's ε²)."""
    counts = np.bincount(codes)
    n, k = codes.size, counts.size
    sums = np.eye(k)[codes].T @ Z
    between = (sums**2 / counts[:, None]).sum(axis=0) / n
    return np.sqrt(np.clip(1.0 - (1.0 - between) * (n - 1) / max(n - k, 1), 0.0, 1.0))


def _cramers_v(a: np.ndarray, b: np.ndarray) -> float:
    """Return Cramér's V with Bergsma's correction."""
    table = crossed(a, b)
    n, lost = a.size, np.array(table.shape) - 1.0
    phi2 = chi2_contingency(table, correction=False).statistic / n - lost.prod() / (n - 1)
    most = (lost - lost**2 / (n - 1)).min()
    return float(np.sqrt(np.clip(phi2 / most, 0.0, 1.0))) if most > 0.0 else 0.0


def substitutes(
    selector: Any, view: View, explained: Explained, kept: Sequence[int]
) -> dict[str, Any]:
    """Return the loss when a selected feature is dropped, or replaced by an unselected one."""
    group, grouped = selector.group_of_column_, selector.feature_groups_ is not None

    def label(number: int) -> str:
        return ", ".join(view.names[j] for j in np.flatnonzero(group == number))

    base = 1.0 - explained(kept)
    rows = []
    for (a, b), found in find_substitutes(selector, explained, 1, _SUBSTITUTED):
        instead = found["unexplained_with"]
        row = {
            "feature": label(a),
            "substitute": label(b),
            "without": round(found["unexplained_without"], 4),
            "with_substitute": round(instead, 4),
            # A substitute is better only if the difference is visible after rounding.
            "better": instead < base and percent(instead) != percent(base),
        }
        if not grouped:
            row["correlation"] = round(float(associations(view, [a], [b])[0, 0]), 3)
            row["measure"] = MEASURES[sum(view.column(j).is_category for j in (a, b))]
        rows.append(row)
    return {"unexplained": round(base, 4), "rows": rows}
