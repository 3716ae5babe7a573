"""The pictures of README and guide, which ``make evidence`` draws.

Each function draws one, from results or from a small fit, and writes it to a path. ``report_top``
is a photograph of a real report and needs chromium; where it is missing it stays as it is. All
others take about a minute together.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import cache, partial
from itertools import product
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from sklearn.datasets import load_wine

from covmin import CCMSelector, StabilitySelector
from covmin.datasets import make_additive, make_xor
from covmin.plotting import ErrorCurveDisplay, PathDisplay, RankingDisplay

TEAL, ORANGE, GREY = "#0a6c74", "#e0662c", "0.72"


def save(path: Path, dpi: int = 120) -> None:
    """Write what was drawn; the version of Matplotlib stays out of it."""
    plt.savefig(path, dpi=dpi, metadata={"Software": None})
    plt.close("all")


@cache
def wine() -> CCMSelector:
    """The selector of the quick start."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    return CCMSelector().fit(X, y)


def ranking(path: Path) -> None:
    """What is lost without each of the wine's features."""
    _, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
    RankingDisplay.from_estimator(wine(), ax=ax)
    save(path)


def which_features(path: Path) -> None:
    """Two columns that matter only together: each alone, then both."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    _, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
    for j, ax in enumerate(axes[:2]):
        bins = np.linspace(-1, 1, 11)
        shown = [X[y == label, j] for label in (0, 1)]
        ax.hist(shown, bins, color=[ORANGE, TEAL])
        ax.set(xlabel=("pressure", "valve")[j], yticks=[], title=f"column {j + 1} alone")
    axes[2].scatter(*X.T, c=np.array([ORANGE, TEAL])[y], s=12, linewidth=0)
    axes[2].set(xlabel="pressure", ylabel="valve", title="both together")
    save(path)


def how_many(path: Path) -> None:
    """The cross-fitted error against the number of features."""
    _, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
    ErrorCurveDisplay.from_estimator(wine(), ax=ax)
    save(path)


def how_sure(path: Path) -> None:
    """How often each feature is chosen again on halves of the samples."""
    data = make_additive(240, n_noise=16, random_state=0)
    selector = StabilitySelector(CCMSelector(5), n_pairs=20, threshold=0.8)
    selector.fit(data.data, data.target)
    _, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
    RankingDisplay.from_estimator(selector, n_features=12, ax=ax)
    save(path)


def weights_path(path: Path) -> None:
    """Weights along the path of shrinking budgets."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    _, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
    PathDisplay.from_estimator(CCMSelector(4).fit(X, y), n_features=10, ax=ax)
    save(path)


def photograph(path: Path, height: int) -> bool:
    """A real report in a browser; false if there is none, so that it stays stale."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print(f"{path.name}: left as it is, chromium is missing")
        return False
    X, y = load_wine(return_X_y=True, as_frame=True)
    with tempfile.TemporaryDirectory() as folder:
        page = wine().report(Path(folder) / "r.html", X, y, target_name="cultivar")
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        size = [f"--window-size=1000,{height}", "--force-device-scale-factor=1.25"]
        profile = [f"--user-data-dir={folder}/p", f"--screenshot={path}"]
        command = [chromium, *flags, *size, *profile, page.as_uri()]
        subprocess.run(command, check=True, capture_output=True)
    return True


report_top = partial(photograph, height=700)

# The first picture of the README ---------------------------------------------------------------

CLASSES = np.array([TEAL, ORANGE, "#6a4fa3", "#d4a017"])
METHODS = {"ccm": "covmin", "bahsic": "BAHSIC", "rfe": "RFE (linear)", "mrmr": "mRMR"}
METHODS |= {"mi": "mutual information", "anova": "ANOVA", "pearson": "Pearson"}


def draw_cube(ax: Axes) -> None:
    """Four classes, each at two opposite corners of a cube."""
    limit = 1.9
    X, y = make_xor(400, n_noise=0, random_state=3, return_X_y=True)
    shown = np.abs(X).max(axis=1) < limit
    ax.scatter(*X[shown].T, c=CLASSES[y[shown]], s=13, alpha=0.8, linewidth=0)
    corners = np.array(list(product([-1.0, 1.0], repeat=3)))
    classes = 2 * (corners[:, 0] == corners[:, 2]) + (corners[:, 1] == corners[:, 2])
    ax.scatter(*corners.T, c=CLASSES[classes], s=330, alpha=0.45, linewidth=0, depthshade=False)
    for a, b in product(corners, corners):
        if np.abs(a - b).sum() == 2.0:
            ax.plot(*np.column_stack([a, b]), color="0.2", linewidth=0.9)
    ax.set(xlim=(-limit, limit), ylim=(-limit, limit), zlim=(-limit, limit))
    ax.view_init(elev=20, azim=-68)
    ax.set_box_aspect((1, 1, 1), zoom=1.12)
    for axis, name in zip((ax.xaxis, ax.yaxis, ax.zaxis), ("x₁", "x₂", "x₃"), strict=True):
        axis.set_ticks([])
        axis.set_pane_color((0.97, 0.97, 0.96, 1.0))
        axis.set_label_text(name, fontsize=12)
        axis.labelpad = -10
    title = "The class depends on three features together,\nand on none of them alone"
    ax.set_title(title, fontsize=12)


def draw_ranks(ax: Axes, summary: pd.DataFrame) -> None:
    """Rank of the three true features among ten, against the number of samples."""
    lines = {name: summary[summary["selector"] == name] for name in METHODS}
    heights = {name: float(line["mean_rank"].iloc[-1]) for name, line in lines.items()}
    last = -np.inf
    for name in sorted(heights, key=heights.__getitem__):
        last = max(heights[name], last + 0.34)  # so that no label covers another
        line, own = lines[name], name == "ccm"
        style = {"linewidth": 3.2, "markersize": 6} if own else {"linewidth": 1.4, "markersize": 3}
        colour = TEAL if own else "0.55"
        ax.plot(line["n_samples"], line["mean_rank"], "o-", color=colour, zorder=2 + own, **style)
        font = {"fontsize": 12, "weight": "bold"} if own else {"fontsize": 10}
        ax.text(102, last, METHODS[name], va="center", color=TEAL if own else "0.3", **font)
    ax.axhline(2.0, color="#b4532a", linestyle="--", linewidth=1.2, zorder=1)
    ax.text(20, 1.9, "all three on top", color="#b4532a", fontsize=10, va="bottom")
    ax.set(xlabel="samples", xlim=(18, 101), ylim=(6.6, 1.6), xticks=[20, 40, 60, 80, 100])
    ax.set_title("Median rank of the three\namong ten features", fontsize=12)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", alpha=0.25)


def first(summary: pd.DataFrame, path: Path) -> None:
    """Three features that matter only together, and who finds them."""
    summary = summary.query("task == 'xor' and n_samples >= 20")
    figure = plt.figure(figsize=(10.0, 4.6), facecolor="white")
    draw_cube(figure.add_axes((0.0, 0.02, 0.42, 0.84), projection="3d"))
    draw_ranks(figure.add_axes((0.49, 0.13, 0.35, 0.70)), summary)
    save(path, dpi=160)
