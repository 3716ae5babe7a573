"""The pictures of README and guide, which ``make evidence`` draws.

Each function draws one, from results or from a small fit, and writes it to a path. ``report`` and
``report_top`` are photographs of a real report and need chromium; where it is missing they stay as
they are. All others take about a minute together.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from sklearn.datasets import load_wine

from covmin import CCMSelector, Formulation, StabilitySelector
from covmin.datasets import make_additive, make_shell, make_xor
from covmin.plotting import ErrorCurveDisplay, PathDisplay, RankingDisplay, StabilityDisplay

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
    """Weights of the wine's features at the chosen number."""
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
    StabilityDisplay.from_estimator(selector, n_features=12, ax=ax)
    save(path)


def messy_table(path: Path) -> None:
    """A table as it comes, and what each column is read as."""
    cells = [
        ["1001", "Oslo", "$1,204.50", "2024-01-03", "12 kg", "called twice"],
        ["1002", "Rome", "$88.00", "2024-01-04", "", "asked for invoice"],
        ["1003", "Oslo", "", "2024-01-05", "7 kg", ""],
        ["1004", "Bonn", "$640.10", "2024-01-05", "9 kg", "moved house"],
    ]
    names = ["order", "city", "price", "day", "weight", "comment"]
    kinds = ["row number:\nleft out", "category", "number", "date", "number"]
    kinds += ["free text:\nleft out"]
    _, ax = plt.subplots(figsize=(9, 2.7), layout="constrained")
    ax.axis("off")
    shown = ax.table(cells, colLabels=names, bbox=(0, 0.28, 1, 0.72), cellLoc="left")
    shown.auto_set_font_size(False)
    shown.set_fontsize(10)
    for (row, column), cell in shown.get_celld().items():
        cell.set_edgecolor("0.85")
        cell.set_text_props(weight="bold" if row == 0 else "normal")
        if row == 0:
            cell.set_facecolor("#e7f1f2")
        elif not cells[row - 1][column]:
            cell.set_facecolor("#fbe9df")
    for column, kind in enumerate(kinds):
        left = "left out" in kind
        ax.text((column + 0.5) / 6, 0.12, kind, ha="center", va="center", fontsize=11,
                color="0.5" if left else TEAL, weight="normal" if left else "bold",
                transform=ax.transAxes)  # fmt: skip
    save(path)


def weights_path(path: Path) -> None:
    """Weights along the path of shrinking budgets."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    _, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
    PathDisplay.from_estimator(CCMSelector(4).fit(X, y), n_features=10, ax=ax)
    save(path)


def kernels(path: Path) -> None:
    """Kernels of one column, as functions of the difference of two samples."""
    x = np.linspace(0, 4, 400)
    frequencies, shares = np.array([0.5, 1.5, 2.8, 4.5]), np.array([0.75, 0.15, 0.06, 0.04])
    curves = {
        "Gaussian": np.exp(-(x**2) / 2),
        "rational quadratic": (1 + x**2) ** -0.5,
        "Laplacian": np.exp(-x),
        "one column of the additive kernel": np.cos(x[:, None] * frequencies) @ shares,
    }
    _, ax = plt.subplots(figsize=(7, 3), layout="constrained")
    for (name, curve), colour in zip(curves.items(), (TEAL, ORANGE, "0.5", "#6a4fa3"), strict=True):
        ax.plot(x, curve, label=name, color=colour, linewidth=2)
    ax.set(xlabel="distance between two samples, in bandwidths", ylabel="kernel", xlim=(0, 4))
    ax.spines[["top", "right"]].set_visible(False)
    ax.axhline(0, color="0.8", linewidth=0.8)
    ax.legend(frameon=False)
    save(path)


def formulations(path: Path) -> None:
    """Weights found by the paper's eight formulations on the same samples."""
    shell = make_shell(150, random_state=0)
    names, rows = [], []
    for constraint, inverse, approximation in product(
        ("hard", "soft"), ("exact", "free"), ("exact", "fourier")
    ):
        formulation = Formulation(strategy="single", constraint=constraint, inverse=inverse)
        selector = CCMSelector(4, formulation=formulation, approximation=approximation)
        rows.append(selector.fit(shell.data, shell.target).weights_)
        names.append(f"{constraint}, {inverse}, {approximation}")
    figure, ax = plt.subplots(figsize=(7.5, 3.4), layout="constrained")
    shown = ax.pcolormesh(np.array(rows), cmap="GnBu", vmin=0, vmax=1, edgecolors="white")
    ax.set_yticks(np.arange(8) + 0.5, names)
    ax.set_xticks(np.arange(10) + 0.5, [f"$x_{{{j + 1}}}$" for j in range(10)])
    ax.invert_yaxis()
    figure.colorbar(shown, ax=ax, label="weight")
    save(path)


def migration(frame: pd.DataFrame, path: Path) -> None:
    """True features found by each method, share over four tasks."""
    n_true = {"XOR": 3, "shell": 4, "additive": 4, "look-alikes": 4}
    share = frame["true"] / frame["task"].map(n_true)
    wide = share.groupby([frame["method"], frame["task"]]).mean().unstack()[list(n_true)]
    wide = wide.loc[list(dict.fromkeys(frame["method"]))]
    figure, axes = plt.subplots(1, 4, figsize=(9.5, 3.4), sharey=True, layout="constrained")
    for ax, task in zip(axes, n_true, strict=True):
        own = [name.startswith("covmin") for name in wide.index]
        ax.barh(range(len(wide)), wide[task], color=[TEAL if o else GREY for o in own], height=0.7)
        ax.set(title=task, xlim=(0, 1.02), xticks=[0, 0.5, 1])
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(range(len(wide)), wide.index)
    axes[0].invert_yaxis()
    figure.supxlabel("share of the true features found", fontsize=10)
    save(path)


def few_samples(frame: pd.DataFrame, path: Path) -> None:
    """Median rank against samples: where covmin is no better than chance."""
    frame = frame[frame["selector"] == "ccm"]
    _, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
    for (task, rows), colour in zip(
        frame.groupby("task", sort=False), (TEAL, ORANGE, "#6a4fa3"), strict=True
    ):
        ax.plot(rows["n_samples"], rows["mean_rank"], "o-", label=task, color=colour)
    ax.axhline(5.5, color="0.4", linestyle=":", label="chance")
    ax.set(xlabel="samples", ylabel="median rank of\nthe true features", ylim=(1.5, 6))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, ncols=2)
    save(path)


def guarantees(
    knockoffs: pd.DataFrame, columns: pd.DataFrame, verdicts: pd.DataFrame, path: Path
) -> None:
    """False discoveries and true features found on each design, by knockoffs and by verdicts."""
    knockoffs = knockoffs.query("method == 'ccm'")
    features = knockoffs["rho"].map({0.0: "independent", 0.5: "AR(0.5)"})
    knockoffs = knockoffs.assign(design=knockoffs["response"] + ", " + features)
    knockoffs = pd.concat([knockoffs, columns])
    verdicts = verdicts.query("method == 'covmin'")
    verdicts = verdicts.set_index("design").loc[:"wide"]  # after it: real tables
    _, axes = plt.subplots(2, 2, figsize=(9, 7), sharex="col", sharey="row", layout="constrained")
    for (level, rates), colour in zip(knockoffs.groupby("level"), (TEAL, ORANGE), strict=True):
        rates = rates.set_index("design")[["fdr", "fdr_se", "power"]]
        _draw_rates(axes[0], rates, f"fdr={level}", colour)
        axes[0, 0].axvline(level, color=colour, linestyle=":")
    kinds = {"needed": "needed", "relevant": "needed or relevant"}
    for (kind, label), colour in zip(kinds.items(), (TEAL, ORANGE), strict=True):
        rates = verdicts[[f"false {kind}", f"false {kind}, s.e.", f"{kind} found"]]
        _draw_rates(axes[1], rates, label, colour)
    axes[1, 0].axvline(0.1, color="0.3", linestyle=":")
    axes[0, 0].set_title("KnockoffSelector", loc="left")
    axes[1, 0].set_title("VerdictSelector, fdr=0.1", loc="left")
    axes[1, 0].set(xlabel="share of false discoveries, ± 2 standard errors", xlim=(0, 0.5))
    axes[1, 1].set(xlabel="share of the true features found", xlim=(-0.03, 1.03))
    save(path)


def _draw_rates(axes: Sequence[Axes], rates: pd.DataFrame, label: str, colour: str) -> None:
    """Left the false discoveries with their standard error, right what was found."""
    false, error, found = (rates[name] for name in rates)
    shift = 0.15 if colour == ORANGE else -0.15
    rows = np.arange(len(rates)) + shift
    axes[0].errorbar(false, rows, xerr=2 * error, fmt="o", color=colour, markersize=4.5)
    axes[0].set_yticks(np.arange(len(rates)), rates.index)
    axes[0].set_ylim(len(rates) - 0.5, -0.5)
    axes[1].plot(found, rows, "o", color=colour, markersize=4.5, label=label)
    axes[1].legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", color="0.92")
        ax.set_axisbelow(True)


def how_long(frame: pd.DataFrame, path: Path) -> None:
    """Seconds of a fit with two classes against rows: ten features, and 500 trees."""
    frame = frame.query("task == 'classes' and d in (20, 100, 500)")
    _, axes = plt.subplots(1, 3, figsize=(9, 2.9), sharey=True, layout="constrained")
    for ax, (d, rows) in zip(axes, frame.groupby("d"), strict=True):
        rows = rows.sort_values("n")
        ax.loglog(rows["n"], rows["covmin s"], "o-", color=TEAL, label="covmin")
        ax.loglog(rows["n"], rows["forest s"], "o-", color=GREY, label="500 trees")
        ax.set(title=f"{d} columns", xlabel="rows")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("seconds")
    axes[0].legend(frameon=False)
    save(path)


def photograph(path: Path, height: int) -> None:
    """A real report in a browser."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print(f"{path.name}: left as it is, chromium is missing")
        return
    X, y = load_wine(return_X_y=True, as_frame=True)
    with tempfile.TemporaryDirectory() as folder:
        page = wine().report(Path(folder) / "r.html", X, y, target_name="cultivar")
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        size = [f"--window-size=1000,{height}", "--force-device-scale-factor=1.25"]
        profile = [f"--user-data-dir={folder}/p", f"--screenshot={path}"]
        command = [chromium, *flags, *size, *profile, page.as_uri()]
        subprocess.run(command, check=True, capture_output=True)


def report(path: Path) -> None:
    """Most of a report."""
    photograph(path, 1500)


def report_top(path: Path) -> None:
    """The top of a report."""
    photograph(path, 700)


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
    figure = plt.figure(figsize=(10.0, 4.6), facecolor="white")
    draw_cube(figure.add_axes((0.0, 0.02, 0.42, 0.84), projection="3d"))
    draw_ranks(figure.add_axes((0.49, 0.13, 0.35, 0.70)), summary)
    save(path, dpi=160)
