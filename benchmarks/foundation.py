"""Time of a small fit, and of a fit of TOX-171 beside mutual information.

Run with ``python -m benchmarks.foundation`` (TOX-171 is found in ``COVMIN_DATA``, in the
cache, or downloaded); exit status 1 if one exceeds its limit.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from sklearn.feature_selection import mutual_info_classif
from threadpoolctl import threadpool_limits

from covmin import CCMSelector
from covmin.datasets import load, make_shell


def seconds(action: Callable[[], object], repeats: int = 1) -> float:
    """Median time of an action."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def main() -> int:
    X, y = make_shell(100, random_state=0, return_X_y=True)
    single = CCMSelector(4, formulation="paper")
    single.fit(X, y)
    with threadpool_limits(1):
        small = seconds(lambda: single.fit(X, y), repeats=15)
    data = load("TOX-171")
    path = CCMSelector(100)
    wide = seconds(lambda: path.fit(data.data, data.target), repeats=3)
    information = seconds(lambda: mutual_info_classif(data.data, data.target, random_state=0))
    rows = [
        ("single fit, n=100, d=10, one core: ms", 1e3 * small, 30.0, small <= 0.030),
        ("path on TOX-171, m=100: s", wide, 3.0, wide <= 3.0),
        ("mutual information on TOX-171: s", information, np.nan, True),
        ("times faster than mutual information", information / wide, 5.0, information / wide >= 5),
    ]
    print("| what | measured | limit | |\n| --- | ---: | ---: | --- |")
    for what, measured, limit, is_within in rows:
        shown = "" if np.isnan(limit) else f"{limit:g}"
        print(f"| {what} | {measured:.2f} | {shown} | {'ok' if is_within else 'too slow'} |")
    return 0 if all(is_within for *_, is_within in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
