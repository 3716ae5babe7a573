"""Every kernel and formulation from the command line, and what makes no fit."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest

from covmin import CCMSelector, Formulation
from covmin.cli.errors import ExitCode
from covmin.core.kernels import KERNELS
from covmin.kernels import Gaussian, Mixed, Polynomial, RationalQuadratic

PLAIN = ("--no-interactions", "--max-iter", 20)
FORMULATIONS = list(product(("hard", "soft"), ("exact", "free"), ("exact", "fourier")))
PARAMETERS = {
    "gaussian": (["--bandwidth", 1.5], Gaussian(bandwidth=1.5)),
    "mixed": (["--mixing", 0.25, "--bandwidth", "median"], Mixed(mixing=0.25)),
    "rational-quadratic": (["--alpha", 2.0], RationalQuadratic(alpha=2.0)),
    "polynomial": (["--degree", 2, "--coef0", 0.5], Polynomial(degree=2, coef0=0.5)),
}


@pytest.fixture
def same(table, csv, run):
    """Check that words and arguments give one ranking, and so does the code that is printed."""

    def check(words, **arguments):
        result = run("select", csv, "-t", "group", "-m", 2, *words, "--json")
        assert result.exit_code == 0, result.output
        answer = json.loads(result.stdout)
        X, y = table.drop(columns="group"), table["group"]
        fitted = CCMSelector(2, random_state=0, **arguments).fit(X, y)
        ranks = {row["feature"]: row["rank"] for row in answer["ranking"]}
        assert [ranks[name] for name in X] == list(fitted.ranking_)
        weights = {row["feature"]: row["weight"] for row in answer["ranking"]}
        assert [weights[name] for name in X] == pytest.approx(fitted.weights_, abs=1e-5)
        return answer

    return check


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("constraint", "inverse", "approximation"), FORMULATIONS)
def test_the_eight_formulations(constraint, inverse, approximation, same):
    words = ["--strategy", "single", "--constraint", constraint, "--inverse", inverse]
    words += ["--approximation", approximation, *PLAIN]
    same(
        words,
        formulation=Formulation("single", constraint, inverse=inverse, max_iter=20),
        approximation=approximation,
        interactions=False,
    )


@pytest.mark.parametrize(("word", "value"), [("yes", True), ("no", False), ("rank", "rank")])
def test_ways_to_scale(word, value, same):
    same(["--standardize", word], standardize=value)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_numbers_of_a_formulation(same):
    words = ["--constraint", "soft", "--lambda1", 0.5, "--inverse", "free", "--lambda2", 80]
    words += ["--tol", 0.01, "--max-step", 0.3, "--max-iter", 30]
    switches = Formulation("path", "soft", 0.5, "free", 80.0, 30, 0.01, 0.3)
    same(words, formulation=switches)


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel(name, same):
    words, kernel = PARAMETERS.get(name, ([], name))
    same(["--kernel", name, *words, "--formulation", "paper"], kernel=kernel, formulation="paper")


def test_other_parameters(same, csv, table, tmp_path):
    words = ["--class-weight", "balanced", "--standardize", "no", "--jobs", 2]
    words += ["--groups", "pair=x3,4", "--epsilon", 0.05, "--interrupt", "keep"]
    words += ["--checkpoint", tmp_path / "fit.jsonl", "--approximation", "fourier"]
    answer = same(
        words,
        class_weight="balanced",
        standardize=False,
        feature_groups={"pair": ["x3", "x4"]},
        epsilon=0.05,
        approximation="fourier",
    )
    assert "--groups pair=x3,4 -m 2 " in answer["code"]


def test_the_code_that_is_printed_repeats_the_fit(same, csv, monkeypatch):
    monkeypatch.chdir(csv.parent)
    words = ["--kernel", "polynomial", "--degree", 2, "--constraint", "soft", *PLAIN]
    kernel, formulation = Polynomial(degree=2), Formulation(constraint="soft", max_iter=20)
    answer = same(words, kernel=kernel, formulation=formulation, interactions=False)
    scope = {}
    exec(answer["code"], scope)
    ranking = {row["feature"]: row["rank"] for row in answer["ranking"]}
    assert np.array_equal(scope["selector"].ranking_, [ranking[name] for name in scope["X"]])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            "--degree 2 --kernel gaussian",
            "It is a parameter of --kernel polynomial. --kernel gaussian has",
        ),
        ("--alpha 2 --kernel gaussian", "It is a parameter of --kernel rational-quadratic."),
        ("--kernel rational-quadratic --alpha 0", "--alpha must be"),
        ("--mixing 0.5", "not a parameter of --kernel auto, which sets its own"),
        ("--kernel gausian", "Did you mean gaussian?"),
        ("--kernel gaussian --bandwidth -1", "--bandwidth must be"),
        ("--bandwidth wide --kernel linear", "It accepts a number, median."),
        ("--lambda1 0.5", "Use it with --constraint soft"),
        ("--formulation paper --strategy path", "--formulation paper means --strategy single"),
        ("--max-iter 0", "--max-iter must be an integer ≥ 1; got 0"),
        ("--seed -1", "--seed must be an int in the range [0, 4294967295]. Got -1"),
        ("--jobs many", "It accepts an integer"),
        ("--groups x1,x2", "--groups size=width,height"),
        ("--groups a=x1,group", "--groups names the target"),
        ("--drop x1 --groups a=x1,x2", "not among the remaining features"),
    ],
)
def test_what_makes_no_fit_is_refused_in_words_of_options(words, says, csv, run):
    result = run("select", csv, "-t", "group", "-m", 2, *words.split())
    assert result.exit_code == ExitCode.USAGE, result.output
    assert says in " ".join(result.stderr.split())


def test_an_interrupted_fit_says_where_it_goes_on(csv, run, monkeypatch):
    def interrupt(self, *_):
        self.long_run.checkpoint.write_text("")
        raise KeyboardInterrupt

    monkeypatch.setattr(CCMSelector, "fit", interrupt)
    kept = csv.parent / "fit.jsonl"
    result = run("select", csv, "-t", "group", "--checkpoint", kept)
    assert result.exit_code == ExitCode.INTERRUPTED
    assert f"The same command resumes from {kept}." in result.stderr
