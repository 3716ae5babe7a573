"""The first picture of the README: three features that matter only together, and who finds them.

``python -m experiments.xor_picture`` ranks the features (a minute or two) and writes
``experiments/results/xor.csv``; ``make evidence`` draws the picture from it.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from covmin.datasets import make_xor
from experiments.paper.ranks import median_rank

RESULTS = Path(__file__).parent / "results"
COLOURS = np.array(["#0a6c74", "#e0662c", "#6a4fa3", "#d4a017"])
METHODS = {
    "ccm": "covmin",
    "bahsic": "BAHSIC",
    "rfe": "RFE (linear)",
    "mrmr": "mRMR",
    "mi": "mutual information",
    "anova": "ANOVA",
    "pearson": "Pearson",
}
SIZES = [20, 30, 40, 50, 60, 80, 100]
N_DRAWS = 100
LIMIT = 1.9


def draw_cube(ax) -> None:
    """Four classes, each at two opposite corners of a cube."""
    X, y = make_xor(400, n_noise=0, random_state=3, return_X_y=True)
    shown = np.abs(X).max(axis=1) < LIMIT
    ax.scatter(*X[shown].T, c=COLOURS[y[shown]], s=13, alpha=0.8, linewidth=0)
    corners = np.array(list(product([-1.0, 1.0], repeat=3)))
    classes = 2 * (corners[:, 0] == corners[:, 2]) + (corners[:, 1] == corners[:, 2])
    ax.scatter(*corners.T, c=COLOURS[classes], s=330, alpha=0.45, linewidth=0, depthshade=False)
    for a, b in product(corners, corners):
        if np.abs(a - b).sum() == 2.0:
            ax.plot(*np.column_stack([a, b]), color="0.2", linewidth=0.9)
    ax.set(xlim=(-LIMIT, LIMIT), ylim=(-LIMIT, LIMIT), zlim=(-LIMIT, LIMIT))
    ax.view_init(elev=20, azim=-68)
    ax.set_box_aspect((1, 1, 1), zoom=1.12)
    for axis, name in zip((ax.xaxis, ax.yaxis, ax.zaxis), ("x₁", "x₂", "x₃"), strict=True):
        axis.set_ticks([])
        axis.set_pane_color((0.97, 0.97, 0.96, 1.0))
        axis.set_label_text(name, fontsize=12)
        axis.labelpad = -10
    ax.set_title(
        "The class depends on three features together,\nand on none of them alone",
        fontsize=12,
        loc="center",
    )


def draw_ranks(ax, summary: pd.DataFrame) -> None:
    """Rank of the three true features among ten, against the number of samples."""
    ends = {}
    for name in METHODS:
        line = summary[summary["selector"] == name]
        own = name == "ccm"
        ax.plot(
            line["n_samples"],
            line["mean_rank"],
            marker="o",
            markersize=6 if own else 3,
            linewidth=3.2 if own else 1.4,
            color="#0a6c74" if own else "0.55",
            zorder=3 if own else 2,
        )
        ends[name] = float(line["mean_rank"].iloc[-1])
    ax.axhline(2.0, color="#b4532a", linestyle="--", linewidth=1.2, zorder=1)
    ax.text(20, 1.9, "all three on top", color="#b4532a", fontsize=10, va="bottom")
    for name, height in spread(ends, gap=0.34).items():
        own = name == "ccm"
        ax.text(
            102,
            height,
            METHODS[name],
            fontsize=12 if own else 10,
            va="center",
            color="#0a6c74" if own else "0.3",
            weight="bold" if own else "normal",
        )
    ax.set(xlabel="samples", xlim=(18, 101), ylim=(6.6, 1.6), xticks=[20, 40, 60, 80, 100])
    ax.set_title("Median rank of the three\namong ten features", fontsize=12, loc="center")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", alpha=0.25)


def spread(heights: dict[str, float], gap: float) -> dict[str, float]:
    """Move labels apart so that none covers another."""
    placed: dict[str, float] = {}
    last = -np.inf
    for name, height in sorted(heights.items(), key=lambda item: item[1]):
        last = max(height, last + gap)
        placed[name] = last
    return placed


def draw(summary: pd.DataFrame, path: Path) -> None:
    """Draw both halves."""
    figure = plt.figure(figsize=(10.0, 4.6), facecolor="white")
    draw_cube(figure.add_axes((0.0, 0.02, 0.42, 0.84), projection="3d"))
    draw_ranks(figure.add_axes((0.49, 0.13, 0.35, 0.70)), summary)
    figure.savefig(path, dpi=160, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    result = median_rank(make_xor, list(METHODS), n_samples=SIZES, n_repeats=N_DRAWS)
    path = RESULTS / "xor.csv"
    result.summary().to_csv(path, index=False, float_format="%.4f", lineterminator="\n")


if __name__ == "__main__":
    main()
