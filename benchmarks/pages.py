"""Tables and numbers of the documentation that come from ``benchmarks/results``."""

from __future__ import annotations

import numpy as np
import pandas as pd
from experiments.pages import Tables

from benchmarks.tables import RESULTS, in_words

_WHERE = {"array": "memory", "memmap": "a mapped file", "parquet": "a Parquet folder"}


def results(name: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / f"{name}.csv")


def column(name: str, key: str, value: str) -> pd.Series:
    """A column of a file, by another one."""
    return results(name).set_index(key)[value]


def steps() -> pd.DataFrame:
    """A step on the CPU against its products."""
    frame = results("step")
    return pd.DataFrame(
        {
            "step": frame["step"],
            "seconds": frame["seconds"].map(in_words),
            "against bare": against_bare(frame),
        }
    )


def gpu_steps() -> pd.DataFrame:
    """A step on a GPU against its products, with the peak of memory."""
    frame = results("gpu")
    peak = ["" if np.isnan(value) else f"{value:.0f} GiB" for value in frame["peak GiB"]]
    return pd.DataFrame(
        {
            "step": frame["step"],
            "seconds": frame["seconds"].map("{:.3f}".format),
            "against bare": against_bare(frame),
            "peak memory": peak,
        }
    )


def against_bare(frame: pd.DataFrame) -> pd.Series:
    return (frame["seconds"] / frame["bare"]).map("{:.2f}×".format)


def gpu_fits() -> pd.DataFrame:
    """Whole fits on a GPU."""
    frame = results("gpu-fits")
    for name in ("rows", "columns"):
        frame[name] = frame[name].map("{:,}".format)
    frame["true features first"] = [f"{count} of 5" for count in frame["true features first"]]
    return frame


def large() -> pd.DataFrame:
    """Fits of many rows."""
    frame = results("large")
    return pd.DataFrame(
        {
            "rows from": frame["from"].map(_WHERE),
            "seconds of a processor": frame["processor seconds"].map(in_words),
            "passes over all rows": frame["passes"],
            "peak memory": frame["peak GB"].map("{:.2f} GB".format),
            "features found": [f"{count} of 5" for count in frame["found"]],
        }
    )


def published() -> pd.DataFrame:
    """The published procedure beside ours."""
    return results("published")


def fits() -> pd.DataFrame:
    """Seconds to select 50 features on the wide sets."""
    names = {"mrmr": "mRMR", "bahsic": "BAHSIC", "rfe": "RFE"}
    frame = results("fits").rename(columns=names)
    for name in frame.columns[3:]:
        frame[name] = frame[name].map(in_words)
    return frame


def growth() -> pd.DataFrame:
    """Seconds of a step as a size grows, and the power of the last two points."""
    rows = []
    for (step, size), curve in results("growth").groupby(["step", "size"], sort=False):
        values, seconds = curve["value"].to_numpy(float), curve["seconds"].to_numpy()
        power = np.log(seconds[-1] / seconds[-2]) / np.log(values[-1] / values[-2])
        rows.append(
            {
                "step": step,
                "grows": size,
                "from": f"{values[0]:,.0f}",
                "to": f"{values[-1]:,.0f}",
                "seconds": ", ".join(map(in_words, seconds)),
                "power": power,
            }
        )
    return pd.DataFrame(rows)


def grid_ratios() -> pd.Series:
    """Time of a fit over that of a forest, on every table of the grid."""
    return results("grid")["ratio"]


def grid_faster() -> str:
    """On how many tables a fit takes less time than a forest."""
    ratios = grid_ratios()
    return f"{(ratios < 1.0).sum()} of {len(ratios)}"


def grid_auto() -> float:
    """Time with the number chosen over that with a given number, from 1000 rows on."""
    frame = results("grid").query("n >= 1000")
    return float(frame["auto/fixed"].median())


def workers() -> pd.DataFrame:
    """Weak scaling over Dask workers."""
    frame = results("workers")
    frame["rows"] = frame["rows"].map("{:,}".format)
    return frame


def cli_factor(run: str) -> float:
    """Processor time of a command, in that of pandas and a fit."""
    times = column("cli", "run", "processor seconds")
    return float(times[run] / times["read with pandas and fit"])


def make_seconds(target: str) -> float:
    """Processor time of a target of the Makefile in a fresh clone."""
    return float(column("first-report", "command", "processor seconds")[f"make {target}"])


def sparse(name: str) -> float:
    """Of the fit of many words in many texts."""
    return float(results("sparse")[name].iloc[0])


TABLES: Tables = {
    "step": (steps, 2),
    "large": (large, 2),
    "published": (published, 3),
    "fits": (fits, 2),
    "growth": (growth, 1),
    "workers": (workers, 1),
    "grid-faster": (grid_faster, 0),
    "grid-median": (lambda: float(grid_ratios().median()), 2),
    "grid-slowest": (lambda: float(grid_ratios().max()), 2),
    "grid-auto": (grid_auto, 1),
    "gpu-steps": (gpu_steps, 2),
    "gpu-fits": (gpu_fits, 1),
    "sparse-memory": (lambda: sparse("peak GB"), 1),
    "sparse-minutes": (lambda: sparse("processor seconds") / 60, 1),
    "cli": (lambda: cli_factor("covmin select"), 2),
    "cli-report": (lambda: cli_factor("covmin select --report"), 2),
    "make-demo": (lambda: make_seconds("demo"), 0),
    "make-test": (lambda: make_seconds("test"), 0),
}
