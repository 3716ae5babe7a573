"""Values of options."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from covmin import CCMSelector
from covmin.cli.options import (
    SELECTOR_OPTIONS,
    complete_column,
    parse_epsilon,
    parse_size,
    parse_sizes,
)
from covmin.cli.selector_option import SelectorOption


def test_column_completion(csv):
    for params, args in (({"data": str(csv)}, []), ({}, [str(csv)])):
        assert complete_column(SimpleNamespace(params=params, args=args), "g") == ["group"]
    assert complete_column(SimpleNamespace(params={"data": "nowhere.csv"}, args=[]), "g") == []


@pytest.mark.parametrize(
    ("parsed", "value"),
    [
        (parse_size("auto"), "auto"),
        (parse_size("7"), 7),
        (parse_size("0.5"), 0.5),
        (parse_size("20%"), 0.2),
        (parse_sizes("1, 5", 10), [1, 5]),
        (parse_epsilon("auto"), "auto"),
        (parse_epsilon("0.1"), 0.1),
        (parse_epsilon("0.1,1"), [0.1, 1.0]),
    ],
)
def test_parsers(parsed, value):
    assert parsed == value


def test_a_column_that_cannot_be_typed_is_not_completed(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("good,go\x1b[1m\n1,2\n")
    ctx = SimpleNamespace(params={"data": str(path)}, args=[])
    assert complete_column(ctx, "go") == ["good"]


def test_classes_with_an_order_can_be_asked_for(table, tmp_path, run):
    path = tmp_path / "grades.csv"
    grades = table.assign(group=np.digitize(table["x0"], [-0.5, 0.5]))
    grades.to_csv(path, index=False)
    words = ("select", path, "-t", "group", "-m", 1, "--task", "ordinal")
    ranking = json.loads(run(*words, "--json").stdout)["ranking"]
    X, y = grades.drop(columns="group"), grades["group"]
    fitted = CCMSelector(1, task="ordinal", random_state=0).fit(X, y)
    weights = {row["feature"]: row["weight"] for row in ranking}
    assert [weights[name] for name in X] == pytest.approx(fitted.weights_, abs=1e-5)
    grades.assign(group=table["group"]).to_csv(path, index=False)
    assert "store them as an ordered categorical" in run(*words).stderr


def test_a_new_option_takes_one_line(csv, run, monkeypatch):
    line = SelectorOption("--write-after", "long_run__checkpoint_after", "When to begin writing.")
    SELECTOR_OPTIONS.append(line)
    try:
        shown = run("select", "--help").stdout
        assert "When to begin" in shown
        assert "[default: 60.0]" in shown
        seen, fit = [], CCMSelector.fit

        def record(self, *data):
            seen.append(self.long_run.checkpoint_after)
            return fit(self, *data)

        monkeypatch.setattr(CCMSelector, "fit", record)
        words = ("select", csv, "-t", "group", "-m", 2, "--write-after")
        assert run(*words, 5).exit_code == 0
        assert seen == [5.0]
        assert "It accepts a number" in run(*words, "soon").stderr
        assert "--write-after must be a number of seconds" in run(*words, -1).stderr
    finally:
        SELECTOR_OPTIONS.remove(line)


def test_every_parameter_of_the_selector_has_an_option():
    """Found by import here, by the source there: the two agree."""
    declared = inspect.signature(CCMSelector).parameters
    named = {option.parameter.partition("__")[0] for option in SELECTOR_OPTIONS}
    # An estimator, and what scores it, are objects of Python; --missing is an option of reading.
    assert set(declared) - named == {"verbose", "estimator", "scoring", "missing"}
    for option in SELECTOR_OPTIONS:
        if "__" not in option.parameter:
            assert option.declared.default == declared[option.parameter].default
            for word in option.declared.choices:
                CCMSelector(**{option.parameter: word})._validate_params()


def test_a_name_that_is_no_parameter_is_refused():
    with pytest.raises(LookupError, match="no parameter 'kernel__sharpness'"):
        SelectorOption("--sharpness", "kernel__sharpness", "").argument()


@pytest.mark.parametrize("words", ["--help", "select --help"])
def test_help_does_without_scikit_learn(words):
    code = (
        "import sys\nfrom covmin.cli.app import app\n"
        f"app({words.split()}, standalone_mode=False)\n"
        "print({'sklearn', 'pandas', 'matplotlib'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == "set()"
    assert "Usage" in done.stdout
