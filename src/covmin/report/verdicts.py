"""The verdicts of a fitted ``VerdictSelector``."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from covmin.text import p_value

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
                "needed": p_value(selector.needed_pvalues_[j]),
                "relevant": p_value(selector.relevant_pvalues_[j]),
                "substitutes": [int(k) for k in selector.substitutes_[j]],
            }
            for j in order[:_SHOWN]
        ],
    }
