"""The tables of ``paper/paper.md``, from the files in ``experiments/results``."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from experiments.pages import Tables

RESULTS = Path(__file__).parent / "results"
# The others are in the documentation.
METHODS = {
    "ccm": "covmin",
    "ccm-single": "covmin, as published",
    "bahsic": "BAHSIC",
    "extra-trees": "extra-trees",
    "hsic-lasso": "HSIC-Lasso",
    "mrmr": "mRMR",
    "mi": "mutual information",
    "rfe": "RFE, linear SVM",
}


def ranks() -> pd.DataFrame:
    """Median rank of the true features at 30 and 50 samples."""
    frame = pd.read_csv(RESULTS / "synthetic.csv").query("n_samples in (30, 50)")
    wide = frame.pivot(index="selector", columns=["task", "n_samples"], values="mean_rank")
    order = [(task, n) for task in ("binary", "xor", "regression") for n in (30, 50)]
    wide = wide.loc[list(METHODS), order].rename(index=METHODS)
    names = {"binary": "shell", "xor": "XOR", "regression": "additive"}
    wide.columns = [f"{names[task]}, {n}" for task, n in wide.columns]
    return wide.rename_axis("method").reset_index()


def accuracy() -> pd.DataFrame:
    """Mean accuracy over the sets of each collection, in per cent."""
    columns = {}
    for name, title in (("accuracy", "{} sets of the paper"), ("other", "{} further sets")):
        frame = pd.read_csv(RESULTS / f"{name}.csv")
        means = 100 * frame.groupby("selector")["accuracy"].mean()
        columns[title.format(frame["dataset"].nunique())] = means
    wide = pd.DataFrame(columns).loc[[name for name in METHODS if name != "ccm-single"]]
    return wide.rename(index=METHODS).rename_axis("method").reset_index()


def discoveries() -> pd.DataFrame:
    """Knockoffs at a nominal rate of 0.2: false discovery rate and power."""
    frame = pd.read_csv(RESULTS / "guarantees-knockoffs.csv").query("level == 0.2")
    wide = frame.pivot(index=["response", "rho"], columns="method", values=["fdr", "power"])
    return pd.DataFrame(
        {
            "response": [response for response, _ in wide.index],
            "correlation": [f"{rho:g}" for _, rho in wide.index],
            "FDR, covmin": wide["fdr", "ccm"].to_numpy(),
            "FDR, Lasso": wide["fdr", "lasso"].to_numpy(),
            "power, covmin": wide["power", "ccm"].to_numpy(),
            "power, Lasso": wide["power", "lasso"].to_numpy(),
        }
    )


TABLES: Tables = {"ranks": (ranks, 2), "accuracy": (accuracy, 1), "discoveries": (discoveries, 2)}
