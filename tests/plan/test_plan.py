"""What is decided for twenty-odd kinds of input, and why; and that each look is taken once."""

import dataclasses
from functools import partial

import numpy as np
import pytest

import covmin.selection.assemble
import covmin.selection.crossval
from covmin import CCMSelector, Formulation, Fourier
from covmin.core.grams import ExactOperator
from covmin.core.kernels import Mixed
from covmin.core.screening import Screening
from covmin.data import TableOptions, read
from covmin.data.standardize import prepare_columns
from covmin.datasets import make_xor
from covmin.kernels import Polynomial
from covmin.plan.rules import pair_search
from covmin.selection.assemble import problem_of as planned_problem
from covmin.selection.fit import make_plan, settings_of


def numbers(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n)


def classes(n, d, k=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    X = rng.standard_normal((n, d))
    X[:, 0] += 2 * y
    return X, y


def noise(n, d, k=2):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)), rng.integers(k, size=n)


def gene_like(n, d, flipped):
    """Two classes that six features tell, loudly, with some labels wrong."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d))
    X[:, :6] += 1.6 * y[:, None]
    X[:, 6:] *= 0.5
    wrong = rng.permutation(n)[: round(flipped * n)]
    y[wrong] = 1 - y[wrong]
    return X, y


def frame_with_levels(n=100):
    pandas = pytest.importorskip("pandas", reason="pip install pandas")
    X, y = numbers(n, 4)
    levels = np.resize(list("abcde"), n)
    return pandas.DataFrame(X, columns=list("wxyz")).assign(city=pandas.Categorical(levels)), y


def decided(selector, X, y):
    plan = selector.fit(X, y).plan_
    return {each.topic: f"{each.choice} ({each.reason})" for each in plan.decisions}


# name, data, parameters of the selector, and what the plan says on some topics
KINDS = [
    (
        "few rows of numbers",
        lambda: numbers(60, 8),
        {},
        {
            "approximation": "exact kernel matrix (60 samples, at most 2000)",
            "interactions": "all 154 sets of up to 4 columns, by products of 4 functions of each "
            "column, and features that affect the spread of y, on 60 rows (all of them)",
            "kernel": "mixed, 30% additive (8 features, 60 samples)",
            "ridge": r"~^0\.01 \(all features together leave \d\d% of the.*, 60 samples\)$",
            "features": "3 of 8 (as requested)",
        },
    ),
    (
        "more rows of numbers",
        lambda: numbers(900, 8),
        {},
        {"ridge": r"~^0\.003 \(all features together leave \d\d% of the.*, 900 samples\)$"},
    ),
    (
        "two classes",
        lambda: classes(120, 10),
        {},
        {
            "kernel": "mixed, 30% additive (10 features, 120 samples)",
            "ridge": r"~unpredicted, 120 samples\)$",
        },
    ),
    (
        "several classes of few samples",
        lambda: classes(30, 10, 3),
        {},
        {"ridge": r"~unpredicted, 30 samples\)$"},
    ),
    (
        "classes by an interaction alone",
        lambda: make_xor(60, random_state=3, return_X_y=True),
        {},
        {
            "ridge": "0.00167 (all features together predict nothing; "
            "small enough for interactions)",
        },
    ),
    (
        "wide, with labels that can be learnt",
        lambda: classes(60, 300),
        {},
        {"kernel": "mixed, 42% additive (300 features, 60 samples)"},
    ),
    (
        "wide, with noisy labels",
        lambda: gene_like(60, 100, flipped=0.15),
        {"standardize": False},
        {"ridge": r"~^0\.01 .*unpredicted, 60 samples\)$"},
    ),
    (
        "categories beside numbers",
        frame_with_levels,
        {},
        {"ridge": "0.04 (categories, groups or missing values of different sizes)"},
    ),
    (
        "groups",
        lambda: numbers(100, 6),
        {"feature_groups": [0, 0, 0, 0, 1, 2]},
        {
            "ridge": "0.03 (categories, groups or missing values of different sizes)",
            "features": "3 of 3 (as requested)",
        },
    ),
    (
        "given columns",
        lambda: numbers(100, 6),
        {"given": [0]},
        {"features": "3 of 5 (as requested)"},
    ),
    (
        "a number of features to be chosen",
        lambda: numbers(100, 4),
        {"n_features_to_select": "auto"},
        {"features": "~ of 4 \\(the smallest set that is not clearly worse than the best, by"},
    ),
    (
        "several ridges",
        lambda: numbers(60, 5),
        {"epsilon": [0.1, 0.001]},
        {"ridge": r"~^0\.0?0?1 \(lowest cross-validated error among 0.001, 0.1\)"},
    ),
    (
        "the paper's formulation",
        lambda: classes(60, 5),
        {"formulation": "paper"},
        {
            "kernel": "gaussian (the paper's kernel, for a single solve)",
            "ridge": "0.001 (the paper's value for classification)",
            "interactions": "not searched for (a single solve)",
        },
    ),
    (
        "the inverse-free form",
        lambda: numbers(60, 5),
        {"formulation": Formulation(inverse="free")},
        {"ridge": "0.01 (the inverse-free form on a path)"},
    ),
    (
        "the additive kernel",
        lambda: numbers(60, 5),
        {"kernel": "additive"},
        {
            "kernel": "additive (as requested)",
            "interactions": "~the additive kernel cannot represent them",
        },
    ),
    (
        "interactions turned off",
        lambda: numbers(60, 5),
        {"interactions": False},
        {"interactions": "not searched for (as requested)"},
    ),
    (
        "tall",
        lambda: numbers(2001, 5),
        {},
        {
            "approximation": "512 random Fourier features (2001 samples, more than 2000)",
            "interactions": "all 26 sets of up to 5 columns, by products of 4 functions of each "
            "column, and features that affect the spread of y, on 2001 rows (all of them)",
            "kernel": "mixed, 30% additive (5 features, 512 Fourier features)",
            "ridge": r"~^0\.003 \(all features together leave \d+% of the.*, 2001 samples\)$",
        },
    ),
    (
        "components asked for, of many columns",
        lambda: numbers(100, 20),
        {"approximation": Fourier(64)},
        {
            "approximation": "64 random Fourier features (as requested)",
            "kernel": "mixed, 30% additive (20 features, 64 Fourier features)",
        },
    ),
    (
        "a linear kernel",
        lambda: numbers(60, 5),
        {"kernel": "linear"},
        {"approximation": "~an exact feature map"},
    ),
    (
        "a kernel without components",
        lambda: numbers(2001, 3),
        {"kernel": Polynomial(degree=1), "n_features_to_select": 1},
        {
            "approximation": "exact kernel matrix (the polynomial kernel has no random "
            "Fourier features)",
            "interactions": "not searched for (the polynomial kernel cannot represent them)",
        },
    ),
]


@pytest.mark.parametrize(
    ("data", "parameters", "expected"),
    [kind[1:] for kind in KINDS],
    ids=[kind[0] for kind in KINDS],
)
def test_what_is_decided_and_why(data, parameters, expected):
    import re

    said = decided(CCMSelector(**{"n_features_to_select": 3, **parameters}), *data())
    for topic, words in expected.items():
        if words.startswith("~"):
            assert re.search(words[1:], said[topic]), said[topic]
        else:
            assert said[topic] == words


def test_no_memory_for_the_matrix_means_components(monkeypatch):
    from covmin.runtime import machine

    needed = machine.exact_bytes(1900, 5, mixed=True)
    monkeypatch.setattr(machine, "available_bytes", lambda: needed)
    X, y = numbers(1900, 5)
    said = decided(CCMSelector(2), X, y)
    assert said["approximation"] == (
        "512 random Fourier features (not enough memory for the kernel matrix)"
    )


def test_a_plan_is_frozen_and_reads_as_lines():
    plan = CCMSelector(2).fit(*numbers(60, 5)).plan_
    assert isinstance(plan.kernel, Mixed)
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.approximation = "fourier"
    assert str(plan).splitlines()[0] == "regression: 60 samples, 5 columns"
    assert len(str(plan).splitlines()) == 1 + len(plan.decisions)


def test_verbose_tells_the_plan(capsys):
    CCMSelector(2, verbose=1).fit(*numbers(60, 5))
    assert "exact kernel matrix (60 samples, at most 2000)" in capsys.readouterr().err


class Counted:
    """A function that counts how often it is called."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.function(*args, **kwargs)

    def __get__(self, owner, kind):
        return partial(self, owner)


@pytest.fixture
def counted(monkeypatch):
    def count(module, name):
        counter = Counted(getattr(module, name))
        monkeypatch.setattr(module, name, counter)
        return counter

    return count


def test_each_look_is_taken_once(counted):
    """Noise: the error of all features is asked for twice, and two paths are tried."""
    pairs = counted(Screening, "interactions")
    errors = counted(ExactOperator, "leave_one_out")
    problems = counted(covmin.selection.fit, "problem_of")
    CCMSelector(3).fit(*noise(80, 10))
    assert problems.calls == 1
    assert pairs.calls == 2  # before the path, and in the residuals of what it found
    assert errors.calls == 1  # of the largest ridge; of noise, smaller ones predict no better


def test_folds_are_standardised_once_whatever_the_number_of_ridges(counted):
    prepared = counted(covmin.selection.crossval, "prepare_columns")
    looks = counted(Screening, "spread")  # before a path, but not after it
    CCMSelector("auto", epsilon=[0.01, 0.1, 1.0]).fit(*numbers(60, 5))
    assert prepared.calls == 5
    assert looks.calls == 6  # and once for the fit itself


@pytest.mark.slow
def test_a_pair_that_needs_five_thousand_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 40))
    y = 0.1 * X[:, 3] * X[:, 17] + rng.standard_normal(5000)
    few, many = (
        CCMSelector(2, approximation=Fourier(32)).fit(X[:n], y[:n]).interactions_
        for n in (1000, 5000)
    )
    assert few.features.tolist() == []
    assert many.features.tolist() == [[3, 17]]


def problem_of(selector, X, y):
    table = read(X, y, TableOptions())
    plan = make_plan(table, table.columns(True), settings_of(selector))
    return planned_problem(plan, prepare_columns(X), (y - y.mean())[:, None])


@pytest.mark.parametrize(
    ("parameters", "dtype"),
    [
        ({}, "float32"),
        ({"approximation": "fourier"}, "float32"),
        ({"approximation": "exact"}, "float64"),
        ({"formulation": "paper"}, "float64"),
        ({"formulation": Formulation(constraint="soft")}, "float64"),
        ({"formulation": Formulation(inverse="free")}, "float64"),
        ({"epsilon": 0.001}, "float32"),
        ({"epsilon": 1e-5}, "float64"),  # a small ridge needs more digits
        ({"epsilon": 1e6}, "float64"),  # a large one is out of range
    ],
)
def test_where_rows_and_precision_are_saved(parameters, dtype):
    """By default; what is asked for as exact is on all rows in double precision."""
    problem = problem_of(CCMSelector(2, **parameters), *numbers(60, 5))
    assert problem.sample.X.dtype == dtype
    assert (problem.effort is not None) == (dtype == "float32")
    assert problem.for_stage(np.arange(5), whole=True)[-1].rows.shape[0] == 60


def test_exact_asked_for_is_on_all_rows_of_a_table_that_is_seen_in_parts_otherwise():
    X, y = numbers(6000, 5)
    rows = [
        [
            level.rows.shape[0]
            for level in problem_of(CCMSelector(2, **each), X, y).for_stage(np.arange(5))
        ]
        for each in ({}, {"approximation": "exact"})
    ]
    assert rows == [[1000], [6000]]


@pytest.mark.parametrize(
    ("shape", "parameters", "words"),
    [
        ((60, 8), {}, "all rows, single precision (at most 3e+10 multiplications per step)"),
        ((4000, 2000), {}, r"~^\d+ rows, and single effects on all rows, single precision"),
        ((60, 8), {"approximation": "exact"}, None),
        ((60, 8), {"formulation": Formulation("single")}, None),
    ],
)
def test_what_is_said_of_the_first_stage(shape, parameters, words):
    import re

    X = np.random.default_rng(0).standard_normal(shape)
    table = read(X, np.arange(shape[0]) + 0.5, TableOptions())
    plan = make_plan(table, table.columns(True), settings_of(CCMSelector(**parameters)))
    said = {each.topic: f"{each.choice} ({each.reason})" for each in plan.decisions}
    if words is not None and words.startswith("~"):
        assert re.search(words[1:], said["first stage"])
    else:
        assert said.get("first stage") == words


def test_a_plan_does_not_change_with_what_it_was_made_from():
    kernel, formulation = Polynomial(degree=2), Formulation(constraint="soft")
    selector = CCMSelector(2, kernel=kernel, formulation=formulation).fit(*numbers(60, 5))
    said = str(selector.plan_)
    selector.set_params(kernel__degree=3, formulation__tol=0.5)
    assert (kernel.degree, formulation.tol) == (3, 0.5)
    assert str(selector.plan_) == said
    assert selector.plan_.kernel.degree == 2


def test_pairs_on_few_rows_are_told(monkeypatch):
    """Of 50,000 columns, the pairs are searched on 60 of 500 rows."""
    X, y = numbers(200, 30)
    CCMSelector(2).fit(X, y)  # all warnings are errors
    assert pair_search((500, 50_000, 1))[0] == 60
    monkeypatch.setattr("covmin.constants.WORK", (3e10, 1.5e5))
    with pytest.warns(UserWarning, match="Pairs of 30 columns are searched on 66 of 200 samples"):
        CCMSelector(2).fit(X, y)
