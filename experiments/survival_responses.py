"""What stands for times to an event: candidates for the response, on simulated designs.

Run as ``python -m experiments.survival_responses``; writes
``experiments/results/survival-responses.csv`` and ``.md``. Each candidate is the response of the
same selector on 200 samples of 20 columns, of which two to four change the hazard, with 20 and
with 70 % of the times censored. Counted is the share of the true features among as many of the
first. In the design "censoring" two other columns change how long samples are watched: they are
no part of the truth. An interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from covmin import CCMSelector
from covmin.data.hazards import martingale_residuals
from covmin.evaluation.frames import markdown_table
from covmin.evaluation.runner import run_units

RESULTS = Path(__file__).parent / "results"
N_SAMPLES, N_COLUMNS = 200, 20
CENSORED = (0.2, 0.7)
# Logarithms of the hazard ratio before and after time 1, and the true columns.
DESIGNS: dict[str, tuple[Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], int]] = {
    "linear": (lambda X: (_linear(X), _linear(X)), 4),
    "curved": (lambda X: (_curved(X), _curved(X)), 2),
    "exclusive or": (lambda X: (1.2 * np.sign(X[:, 0] * X[:, 1]),) * 2, 2),
    "product": (lambda X: (0.7 * X[:, 0] + 0.7 * X[:, 1] * X[:, 2],) * 2, 3),
    "late": (lambda X: (0.0 * X[:, 0], 1.2 * (X[:, 0] - X[:, 1])), 2),
    "crossing": (lambda X: (X[:, 0] + X[:, 1], -X[:, 0] - X[:, 1]), 2),
    "censoring": (lambda X: (_linear(X), _linear(X)), 4),
}


def _linear(X: np.ndarray) -> np.ndarray:
    return 0.5 * (X[:, 0] - X[:, 1] + X[:, 2]) + 0.25 * X[:, 3]


def _curved(X: np.ndarray) -> np.ndarray:
    return 1.5 * np.sin(2.0 * X[:, 0]) + 0.7 * (X[:, 1] ** 2 - 1.0)


def simulated(design: str, censored: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, whether the event was seen, and the time of it or of the end of watching."""
    rng = np.random.default_rng([seed, 1])
    X = rng.standard_normal((N_SAMPLES, N_COLUMNS))
    early, late = DESIGNS[design][0](X)
    H = rng.exponential(size=N_SAMPLES)
    # The cumulative hazard is a line up to time 1, and another line from there on.
    until = np.exp(early)
    time = np.where(until > H, H / until, 1.0 + (H - until) / np.exp(late))
    watched = rng.exponential(size=N_SAMPLES)
    if design == "censoring":
        watched *= np.exp(X[:, -1] + X[:, -2])
    # The longest watch is stretched until as many times are censored.
    ratio = np.sort(time / watched)
    watched *= ratio[int((1.0 - censored) * N_SAMPLES)]
    return X, time <= watched, np.minimum(time, watched)


def survival(event: np.ndarray, time: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Kaplan and Meier's estimate at some times."""
    times, place = np.unique(time, return_inverse=True)
    events = np.bincount(place, event, times.size)
    at_risk = np.cumsum(np.bincount(place, minlength=times.size)[::-1])[::-1]
    steps = np.concatenate([[1.0], np.cumprod(1.0 - events / at_risk)])
    return steps[np.searchsorted(times, at, side="right")]


def _deviance(event: np.ndarray, time: np.ndarray) -> np.ndarray:
    M = _martingale(event, time)
    return np.sign(M) * np.sqrt(-2.0 * (M + event * np.log(np.maximum(event - M, 1e-12))))


def _martingale(event: np.ndarray, time: np.ndarray) -> np.ndarray:
    return martingale_residuals(event, time, np.ones(time.size))


def _wilcoxon(event: np.ndarray, time: np.ndarray) -> np.ndarray:
    S = survival(event, time, time)
    return np.where(event, 2.0 * S - 1.0, S - 1.0)


def _intervals(event: np.ndarray, time: np.ndarray, k: int) -> np.ndarray:
    """Martingale residuals of each of k stretches of time with as many events."""
    ends = [*np.quantile(time[event], np.arange(1, k) / k), np.inf]
    until = [_martingale(event & (time <= end), np.minimum(time, end)) for end in ends]
    return np.diff(until, axis=0, prepend=np.zeros((1, time.size))).T


def _pseudo(event: np.ndarray, time: np.ndarray, k: int = 3) -> np.ndarray:
    """Jackknife pseudo-observations of survival at k quantiles of the times of events."""
    at = np.quantile(time[event], np.arange(1, k + 1) / (k + 1))
    n, every = time.size, survival(event, time, at)
    keep = ~np.eye(n, dtype=bool)
    return np.array([n * every - (n - 1) * survival(event[m], time[m], at) for m in keep])


def _weighted(X: np.ndarray, event: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Events alone, by the rank of their time, weighted by one over the chance to be watched."""
    weight = np.where(event, 1.0 / np.maximum(survival(~event, time, time - 1e-12), 0.05), 0.0)
    ranks = time.argsort().argsort() / time.size
    return CCMSelector(3, task="regression").fit(X, ranks, weight).ranking_


CANDIDATES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "martingale": _martingale,
    "deviance": _deviance,
    "wilcoxon": _wilcoxon,
    "martingale and wilcoxon": lambda e, t: np.c_[_martingale(e, t), _wilcoxon(e, t)],
    "martingale in 2 intervals": lambda e, t: _intervals(e, t, 2),
    "martingale in 3 intervals": lambda e, t: _intervals(e, t, 3),
    "pseudo-observations": _pseudo,
}


def work(unit: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The share of the true features that each candidate finds."""
    X, event, time = simulated(unit["design"], unit["censored"], unit["draw"])
    n_true, rows = DESIGNS[unit["design"]][1], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {
            name: CCMSelector(3, task="regression").fit(X, respond(event, time)).ranking_
            for name, respond in CANDIDATES.items()
        }
        found["inverse probability weights"] = _weighted(X, event, time)
    for name, ranking in found.items():
        share = float((ranking[:n_true] <= n_true).mean())
        rows.append({"response": name, "share": share})
    return rows


def table(frame: pd.DataFrame) -> pd.DataFrame:
    """Means over draws, one row for each candidate."""
    frame = frame.assign(cell=frame["design"] + (100 * frame["censored"]).map(", {:.0f} %".format))
    wide = frame.pivot_table("share", "response", "cell", sort=False)
    by_draw = frame.groupby(["response", "draw"], sort=False)["share"].mean().unstack("draw")
    wide["mean"] = by_draw.mean(axis=1)
    wide["standard error"] = by_draw.std(axis=1) / np.sqrt(by_draw.shape[1])
    return wide.reset_index()


def summary(frame: pd.DataFrame) -> str:
    """The table in Markdown."""
    return markdown_table(table(frame).round(3))


def main() -> None:
    """Run what is missing and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=42)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    options = parser.parse_args()
    units = [
        {"design": design, "censored": censored, "draw": draw}
        for draw in range(options.draws)
        for design in DESIGNS
        for censored in CENSORED
    ]
    log = RESULTS / "survival-responses.jsonl"
    results = run_units(units, work, log=log, n_jobs=options.jobs, progress=True)
    frame = pd.DataFrame([u | row for u, r in zip(units, results, strict=True) for row in r])
    frame.to_csv(RESULTS / "survival-responses.csv", index=False, lineterminator="\n")
    text = summary(frame)
    (RESULTS / "survival-responses.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    # By its own name: worker processes cannot be sent what lives in __main__.
    from experiments import survival_responses

    survival_responses.main()
