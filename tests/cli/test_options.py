"""Options: their values, their defaults, and parameters set by --set."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys

import pytest

from covmin import CCMSelector, Formulation
from covmin.cli.app import select
from covmin.cli.errors import ExitCode
from covmin.cli.options import OPTION_OF, parse_value
from covmin.core.kernels import KERNELS
from covmin.kernels import Gaussian, Mixed, Polynomial, RationalQuadratic

PARAMETERS = {
    "gaussian": ({"bandwidth": 1.5}, Gaussian(bandwidth=1.5)),
    "mixed": ({"mixing": 0.25, "bandwidth": "median"}, Mixed(mixing=0.25)),
    "rational-quadratic": ({"alpha": 2.0}, RationalQuadratic(alpha=2.0)),
    "polynomial": ({"degree": 2, "coef0": 0.5}, Polynomial(degree=2, coef0=0.5)),
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("auto", "auto"),
        ("7", 7),
        ("0.5", 0.5),
        ("20%", 0.2),
        ("0.1,1", [0.1, 1]),
        ("no", False),
        ("None", None),
        ("__import__('os')", "__import__('os')"),
    ],
)
def test_values(text, value):
    assert parse_value(text) == value


def test_defaults_are_those_of_the_selector():
    """The help shows them without importing the selector."""
    ours, theirs = (inspect.signature(each).parameters for each in (select, CCMSelector))
    names = {"column_types": "kinds"}
    own = {"random_state": 0, "column_types": None}  # repeatable, and for people who rerun
    for parameter in OPTION_OF:
        default = ours[names.get(parameter, parameter)].default
        value = parse_value(default) if isinstance(default, str) else default
        expected = theirs[parameter].default if "__" not in parameter else None
        assert value == own.get(parameter, expected), parameter


def test_the_help_names_every_kernel(run):
    shown = " ".join(run("select", "--help", env={"COLUMNS": "300"}).stdout.split())
    assert all(name in shown for name in KERNELS)


@pytest.mark.parametrize("words", ["--help", "select --help"])
def test_help_does_without_scikit_learn(words):
    code = (
        "import sys\nfrom covmin.cli.app import app\n"
        f"app({words.split()}, standalone_mode=False)\n"
        "print({'sklearn', 'pandas', 'scipy', 'matplotlib'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == "set()"
    assert "Usage" in done.stdout


@pytest.fixture
def same(table, csv, run):
    """Check that words and arguments give one ranking."""

    def check(words, **arguments):
        result = run("select", csv, "-t", "group", "-m", 2, *words, "--json")
        assert result.exit_code == 0, result.output
        answer = json.loads(result.stdout)
        X, y = table.drop(columns="group"), table["group"]
        fitted = CCMSelector(2, random_state=0, **arguments).fit(X, y)
        rows = {row["name"]: row for row in answer["features"]}
        assert [rows[name]["rank"] for name in X] == list(fitted.ranking_)
        assert [rows[name]["weight"] for name in X] == pytest.approx(fitted.weights_, abs=1e-5)
        return answer

    return check


def settings(**values):
    return [word for name, value in values.items() for word in ("--set", f"{name}={value}")]


@pytest.mark.parametrize(("word", "value"), [("yes", True), ("no", False), ("rank", "rank")])
def test_ways_to_scale(word, value, same):
    same(settings(standardize=word), standardize=value)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_numbers_of_a_formulation(same):
    values = {"constraint": "soft", "lambda1": 0.5, "inverse": "free", "lambda2": 80.0}
    values |= {"tol": 0.01, "max_step": 0.3, "max_iter": 30}
    words = settings(**{f"formulation__{name}": value for name, value in values.items()})
    same(words, formulation=Formulation(**values))


@pytest.mark.parametrize("name", PARAMETERS)
def test_kernels_and_their_parameters(name, same):
    values, kernel = PARAMETERS[name]
    words = settings(**{f"kernel__{key}": value for key, value in values.items()})
    same(
        ["--kernel", name, *words, *settings(formulation="paper")],
        kernel=kernel,
        formulation="paper",
    )


def test_other_parameters(same, tmp_path):
    words = ["--feature-groups", "pair=x3,4", "--jobs", 2]
    words += settings(class_weight="balanced", epsilon="0.05,0.1")
    same(
        [*words, *settings(long_run__checkpoint=tmp_path / "fit.jsonl")],
        class_weight="balanced",
        feature_groups={"pair": ["x3", "x4"]},
        epsilon=[0.05, 0.1],
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("-m 0", "-m 0 is not a number of features. Use a count from 1, a fraction"),
        ("-m many", "-m many is not a number"),
        ("-m 2.5", "-m 2.5 is not a number"),
        ("-m 1,2", "-m 1,2 is not a number"),
        ("--set epsilon=-1", "'epsilon' parameter"),
        ("--task magic", "magic"),
        ("--kernel gausian", "The option for this is --kernel."),
        ("--seed -1", "--seed"),
        ("--jobs many", "--jobs"),
        ("--seconds 0", "seconds must be a number > 0"),
        ("--set formulation__max_iter=0", "'max_iter' parameter of Formulation must be an int"),
        ("--set formulation__lamda1=1", "Did you mean formulation__lambda1"),
        ("--set kernel__degree=2 --kernel gaussian", "degree"),
        ("--set device", "--set device is not of the form NAME=VALUE"),
        ("--feature-groups x1,x2", "--feature-groups size=width,height"),
        ("--feature-groups a=x1,group", "--feature-groups names 'group', which is the target"),
        ("--drop x1 --feature-groups a=x1,x2", "not among the remaining features"),
        ("--drop group", "--drop names 'group', which is the target"),
        ("--fdr 0", "not between 0 and 1"),
        ("--fdr 1", "not between 0 and 1"),
    ],
)
def test_what_makes_no_fit_is_refused(words, says, csv, run):
    result = run("select", csv, "-t", "group", *words.split())
    assert result.exit_code == ExitCode.USAGE, result.output
    assert says in " ".join(result.stderr.split())


def test_a_device_that_is_not_there(csv, run):
    pytest.importorskip("torch")
    result = run("select", csv, "-t", "group", "--set", "device=nonsense")
    assert result.exit_code == ExitCode.DATA
    assert "device='nonsense' cannot be used" in result.stderr


def test_an_error_of_the_fit_names_the_option(csv, run):
    result = run("select", csv, "-t", "group", "-m", 99)
    assert result.exit_code == ExitCode.DATA
    assert "99" in result.stderr
    assert "The option for this is -m." in result.stderr


def test_a_range_of_numbers_of_features(csv, run):
    found = json.loads(run("select", csv, "-t", "group", "-m", "2-4", "--json").stdout)
    assert found["cv_results"]["n_features"] == [2, 3, 4]
    assert 2 <= found["n_selected"] <= 4
    assert "two integers" in run("select", csv, "-t", "group", "-m", "4-2").output
