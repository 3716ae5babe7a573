"""The paper's sets on this machine, and files as their public sources have them."""

import io
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

_BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data" / "paper"
# Read before any test takes the variable away.
PAPER_DATA = Path(os.environ.get("COVMIN_DATA") or _BESIDE)
needs_paper_data = pytest.mark.skipif(
    not (PAPER_DATA / "glass.npz").exists(),
    reason="set COVMIN_DATA to a folder with the paper's sets as <name>.npz",
)


def stored(name):
    with np.load(PAPER_DATA / f"{name}.npz", allow_pickle=False) as arrays:
        return arrays["X"], arrays["y"]


def mat_bytes(**variables):
    content = io.BytesIO()
    savemat(content, variables, do_compression=True)
    return content.getvalue()


def source_bytes(record, X, y, newline="\n"):
    """Write a set as its public source has it."""
    labels = np.array([int(name) for name in record["target_names"]])[y]
    if record["source_file"].endswith(".mat"):
        return mat_bytes(X=X, Y=labels[:, None].astype(np.uint8))
    rows = [
        ", ".join(["0"] * record["skip_columns"] + [repr(v) for v in values] + [str(label)])
        for values, label in zip(X.tolist(), labels.tolist(), strict=True)
    ]
    return (newline.join(rows) + newline).encode()
