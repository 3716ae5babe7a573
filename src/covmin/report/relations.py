"""Relations between features: interacting pairs, associations and substitutes."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from covmin.text import percent, with_p_value

from .plots import crossed, pair_points
from .samples import Samples

_SUBSTITUTED, _CANDIDATES = 10, 3
# Measure of association of two features, by how many of them are categorical.
MEASURES = ("correlation", "correlation ratio", "Cramér’s V")


def interacting_pair(samples: Samples, columns: np.ndarray) -> dict[str, Any] | None:
    """Return the two features that gain most from each other.

    The gain is what they explain jointly, minus the sum of what each explains on its own. If no
    pair has a positive gain, the pair that explains most is returned.
    """
    if len(columns) < 2:
        return None
    alone = {j: max(0.0, samples.explained([j])) for j in map(int, columns)}
    together = {pair: max(0.0, samples.explained(pair)) for pair in combinations(alone, 2)}
    gain = {(a, b): together[a, b] - alone[a] - alone[b] for a, b in together}
    pair = max(gain, key=lambda pair: gain[pair])
    if gain[pair] <= 0.0:
        pair = max(together, key=lambda pair: together[pair])
    return {
        "features": list(pair),
        "alone": [round(alone[j], 4) for j in pair],
        "together": round(together[pair], 4),
        "gain": round(gain[pair], 4),
        **pair_points(samples, pair),
    }


def interactions(selector: Any) -> list[dict[str, Any]]:
    """Return the interacting pairs, in the order found."""
    found = selector.interactions_
    return [
        {
            "features": [int(a), int(b)],
            "share": round(float(share), 4),
            "chance": with_p_value(p_value),
        }
        for (a, b), share, p_value in zip(found.features, found.share, found.p_value, strict=True)
    ]


def shared_information(samples: Samples, columns: Sequence[int]) -> dict[str, Any]:
    """Return the associations between columns in per cent, and the measures used."""
    percents = np.rint(np.clip(100.0 * associations(samples, columns, columns), -100.0, 100.0))
    return {
        "features": list(columns),
        "percent": percents.astype(int).tolist(),
        "categorical": [j for j in columns if j in samples.levels],
        "measures": list(MEASURES),
    }


def associations(samples: Samples, rows: Sequence[int], columns: Sequence[int]) -> np.ndarray:
    """Return the strength of association between features, shape (n_rows, n_columns).

    Numbers have a signed correlation, two categories Cramér's V, and a category and a number the
    correlation ratio. The last two range from 0 to 1 and are corrected for chance, which would
    otherwise make categories with many levels look associated.
    """
    Z_rows, Z = samples.standardized(rows), samples.standardized(columns)
    found = Z_rows.T @ Z / samples.rows.size
    categories = [(i, samples.codes(j)) for i, j in enumerate(rows) if j in samples.levels]
    for i, codes in categories:
        found[i] = _correlation_ratios(codes, Z)
    for k, j in enumerate(columns):
        if j in samples.levels:
            others = samples.codes(j)
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
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    phi2 = ((table - expected) ** 2 / expected).sum() / n - lost.prod() / (n - 1)
    most = (lost - lost**2 / (n - 1)).min()
    return float(np.sqrt(np.clip(phi2 / most, 0.0, 1.0))) if most > 0.0 else 0.0


def substitutes(samples: Samples, order: np.ndarray, m: int) -> dict[str, Any]:
    """Return the loss when a selected feature is dropped, or replaced by an unselected one.

    Candidates are the unselected features with the strongest association with it.
    """
    chosen, left = order[:m].tolist(), order[m:].tolist()
    base = round(samples.unexplained(chosen), 4)
    rows: list[dict[str, Any]] = []
    close = associations(samples, chosen[:_SUBSTITUTED], left) if left else None
    for i, j in enumerate(chosen[:_SUBSTITUTED]):
        others = [k for k in chosen if k != j]
        rows.append({"feature": j, "without": round(samples.unexplained(others), 4)})
        if close is not None:
            rows[i] |= _best_substitute(samples, j, others, left, close[i])
            instead = rows[i]["with_substitute"]
            # A substitute is better only if the difference is visible after rounding.
            rows[i]["better"] = instead < base and percent(instead) != percent(base)
    return {"unexplained": base, "rows": rows}


def _best_substitute(
    samples: Samples, j: int, others: list[int], left: list[int], close: np.ndarray
) -> dict[str, Any]:
    candidates = np.argsort(-np.abs(close), kind="stable")[:_CANDIDATES]
    errors = [samples.unexplained([*others, left[k]]) for k in candidates]
    place = candidates[int(np.argmin(errors))]
    return {
        "substitute": left[place],
        "correlation": round(float(close[place]), 3),
        "measure": MEASURES[(j in samples.levels) + (left[place] in samples.levels)],
        "with_substitute": round(min(errors), 4),
    }
