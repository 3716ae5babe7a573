"""Rankings of 46 problems, kept in a file: a change of these is a change of behaviour.

Every formulation, kernel, response, role of columns, source and size is there. The order of the
features kept is compared; behind them rounding may decide, which hangs on the processor.

``python tests/selection/test_golden.py`` writes the file anew.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from covmin import CCMSelector, Formulation, Fourier, open_parquet
from covmin.datasets import make_additive, make_shell, make_xor
from covmin.kernels import Gaussian, Mixed, Polynomial

FILE = Path(__file__).with_name("golden.json")


def xor(n):
    return make_xor(n, random_state=0, return_X_y=True)


def shell(n=80):
    return make_shell(n, random_state=1, return_X_y=True)


def additive(n=80):
    return make_additive(n, random_state=2, return_X_y=True)


def classes(n, d, k, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    X = rng.standard_normal((n, d))
    X[:, 0] += y
    X[:, 1] += (y % 2) * 1.5
    X[:, 2] += y == 0
    return X, y


def numbers(n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3] + 0.2 * rng.standard_normal(n)
    return X, y


def table(n, seed):
    pandas = pytest.importorskip("pandas", reason="pip install pandas")
    X, y = numbers(n, 6, seed)
    city = np.random.default_rng(seed + 100).choice(list("abcde"), n)
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(6)])
    return frame.assign(city=pandas.Categorical(city)), y + 1.0 * (city == "b")


def grades(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 8))
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.standard_normal(n)
    return X, np.digitize(score, [-0.5, 0.5, 1.5])


def labels(n, seed):
    X = np.random.default_rng(seed).standard_normal((n, 9))
    return X, np.stack([X[:, 0] > 0, X[:, 1] * X[:, 2] > 0], axis=1).astype(int)


def outputs(n, seed):
    X, y = numbers(n, 10, seed)
    return X, np.stack([y, 100 * X[:, 5] + y], axis=1)


def spread(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 8))
    return X, X[:, 0] + np.exp(X[:, 1]) * rng.standard_normal(n)


def from_parquet(X, y, folder):
    pandas = pytest.importorskip("pandas", reason="pip install pandas pyarrow")
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)
    frame.to_parquet(folder / "a.parquet")
    return open_parquet(folder, target="y")


def from_memmap(X, y, folder):
    mapped = np.memmap(folder / "X", dtype=float, mode="w+", shape=X.shape)
    mapped[:] = X
    return mapped, y


def from_dask(X, y, folder):
    arrays = pytest.importorskip("dask.array", reason="pip install 'covmin[dask]'")
    return arrays.from_array(X, chunks=(600, -1)), y


def on_torch(X, y, folder):
    pytest.importorskip("torch", reason="pip install 'covmin[torch]'")
    return X, y


ANY_CHANGE = Formulation(response_kernel="gaussian")
# name: data, features to keep, parameters, where the samples lie
PROBLEMS = {
    f"single-{constraint}-{inverse}-{approximation.replace('exact', 'kernel')}": (
        xor(90),
        3,
        {
            "formulation": Formulation("single", constraint, inverse=inverse),
            "approximation": approximation,
        },
    )
    for constraint in ("hard", "soft")
    for inverse in ("exact", "free")
    for approximation in ("exact", "fourier")
}
PROBLEMS |= {
    "path-soft": (shell(), 3, {"formulation": Formulation(constraint="soft")}),
    "path-free": (additive(100), 3, {"formulation": Formulation(inverse="free")}),
    "path-fourier": (additive(150), 3, {"approximation": "fourier"}),
    "soft-lambda1": (shell(), 3, {"formulation": Formulation("single", "soft", 0.3)}),
    "free-lambda2": (
        shell(),
        3,
        {"formulation": Formulation("single", inverse="free", lambda2=40.0)},
    ),
    **{
        f"kernel-{kernel}": (numbers(120, 12, 3), 4, {"kernel": kernel})
        for kernel in ("gaussian", "laplacian", "linear", "mixed", "additive")
    },
    "kernel-polynomial": (numbers(120, 12, 3), 4, {"kernel": Polynomial(degree=2, coef0=0.5)}),
    "kernel-laplacian-fourier": (
        numbers(200, 6, 3),
        4,
        {"kernel": "laplacian", "approximation": "fourier"},
    ),
    "kernel-mixing": (numbers(120, 12, 3), 4, {"kernel": Mixed(mixing=0.7)}),
    "bandwidth": (shell(), 3, {"kernel": Gaussian(bandwidth=1.5)}),
    "default-xor": (xor(60), 3, {}),
    "default-binary": (shell(60), 3, {}),
    "default-regression": (additive(60), 3, {}),
    "classes": (classes(150, 20, 5, 0), 3, {}),
    "ordinal": (grades(120, 4), 2, {"task": "ordinal"}),
    "labels": (labels(150, 5), 3, {}),
    "outputs": (outputs(150, 6), 4, {}),
    "response-gaussian": (
        spread(200, 7),
        2,
        {"formulation": ANY_CHANGE},
    ),
    "groups": (numbers(150, 12, 8), 2, {"feature_groups": [0, 0, 1, 2, 3, 3, 4, 5, 6, 7, 8, 8]}),
    "given": (numbers(150, 12, 9), 2, {"given": [0, 1]}),
    "categories": (table(150, 10), 3, {}),
    "weights": (numbers(150, 10, 11), 3, {}),
    "balanced": (classes(150, 10, 3, 12), 3, {"class_weight": "balanced"}),
    "parquet": (numbers(2500, 10, 13), 4, {}, from_parquet),
    "memmap": (numbers(2500, 10, 13), 4, {}, from_memmap),
    "dask": (numbers(2500, 10, 13), 4, {}, from_dask),
    "torch": (numbers(150, 10, 14), 4, {"device": "cpu"}, on_torch),
    "wide": (classes(60, 1500, 2, 15), 5, {}),
    "tall": (numbers(4000, 20, 16), 4, {}),
    "many-columns-fourier": (
        numbers(2100, 150, 17),
        4,
        {"approximation": Fourier(128)},
    ),
    "auto": (numbers(150, 10, 18), "auto", {}),
    "auto-classes": (classes(120, 15, 3, 19), "auto", {}),
    "epsilons": (numbers(120, 10, 20), 3, {"epsilon": [0.001, 0.01, 0.1]}),
    "single-wide": (classes(80, 600, 3, 21), 10, {"formulation": "paper"}),
}
SLOW = {"parquet", "memmap", "dask", "tall", "many-columns-fourier"}


def kept_in_order(name, folder):
    """Features kept, from the best on."""
    (X, y), m, parameters, *source = PROBLEMS[name]
    weight = None
    if name == "weights":
        weight = np.random.default_rng(0).integers(1, 4, size=len(y)).astype(float)
    if source:
        X, y = source[0](X, y, folder)
    selector = CCMSelector(m, **parameters).fit(X, y, sample_weight=weight)
    order = np.argsort(selector.ranking_, kind="stable")
    return order[selector.support_[order]].tolist()


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in PROBLEMS],
)
def test_the_features_kept_are_those_in_the_file(name, tmp_path):
    assert kept_in_order(name, tmp_path) == json.loads(FILE.read_text())[name]


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as empty:
        kept = {name: kept_in_order(name, Path(empty)) for name in PROBLEMS}
    lines = ",\n".join(f'"{name}": {features}' for name, features in kept.items())
    FILE.write_text(f"{{\n{lines}\n}}\n")
