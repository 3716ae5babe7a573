"""The verdicts of a fitted ``VerdictSelector``."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

# Largest number of features on the page.
_SHOWN = 60


def told_verdicts(selector: Any) -> dict[str, Any] | None:
    """Return verdicts, needed features first, with p-values and substitutes; None if absent."""
    if selector is None:
        return None
    check_is_fitted(selector)
    order = np.argsort(selector.ranking_, kind="stable")
    words, counts = np.unique(selector.verdicts_, return_counts=True)
    found = dict(zip(words.tolist(), counts.tolist(), strict=True))
    return {
        "fdr": float(selector.fdr),
        "needed": found.get("needed", 0),
        "relevant": found.get("relevant", 0),
        "not_shown": found.get("not shown to matter", 0),
        "hidden": max(order.size - _SHOWN, 0),
        "rows": [
            {
                "feature": int(j),
                "verdict": str(selector.verdicts_[j]),
                "needed": p_value_text(selector.needed_pvalues_[j]),
                "relevant": p_value_text(selector.relevant_pvalues_[j]),
                "substitutes": [int(k) for k in selector.substitutes_[j]],
            }
            for j in order[:_SHOWN]
        ],
    }


def p_value_text(p_value: float) -> str:
    """Format a p-value.

    >>> [p_value_text(p) for p in (0.5, 0.0123, 3e-9, float("nan"))]
    ['0.50', '0.012', '< 0.0001', '']
    """
    if np.isnan(p_value):
        return ""
    return "< 0.0001" if p_value < 1e-4 else f"{p_value:#.2g}"
