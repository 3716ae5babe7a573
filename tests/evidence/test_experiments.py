"""The experiments: rivals, splits, runs that resume, and tables."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from experiments import known, provenance, quick, regression, truth
from experiments.registry import STUDIES
from experiments.rivals import selectors
from experiments.study import Study

from covmin.evaluation.selectors import feature_order


def two_effects(n=150, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, 2.0 * X[:, 1] - X[:, 4] + 0.1 * rng.standard_normal(n)


@pytest.mark.parametrize("name", ["rfe-trees", "mrmr-8", "permutation"])
def test_rivals_find_two_effects(name):
    X, y = two_effects()
    for response in (y, y > 0.0):
        order = feature_order(selectors()[name](2).fit(X, response))
        assert set(order[:2]) == {1, 4}


def test_every_unit_names_a_selector_that_there_is():
    for study in STUDIES.values():
        units = study.units()
        assert units
        assert all(study.by in unit for unit in units[:50] if "task" not in unit)
        if study.by == "selector":
            assert {unit["selector"] for unit in units} <= set(selectors())


# Runs ----------------------------------------------------------------------------------------


def test_results_of_others_stay_and_a_run_resumes(tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.study.RESULTS", tmp_path)
    seen = []

    def work(unit):
        seen.append(unit["selector"])
        return [{"value": unit["k"]}, {"value": 10 + unit["k"]}]

    def units():
        return [{"selector": name, "k": k} for name in ("a", "b") for k in range(2)]

    study = Study("tiny", units, work, 0.1)
    study.run()
    assert provenance.read(study.path)["value"].tolist() == [0, 10, 1, 11] * 2
    study.run(["b"])
    assert seen == ["a", "a", "b", "b"]  # the log has them
    assert provenance.read(study.path)["value"].tolist() == [0, 10, 1, 11] * 2
    assert provenance.made(study.path).command == "python -m experiments tiny"


def test_runs_of_rivals_leave_what_the_file_says_of_ours(tmp_path, monkeypatch):
    """A line of results has the answers behind our rows; rivals do not depend on them."""
    monkeypatch.setattr("experiments.study.RESULTS", tmp_path)
    monkeypatch.setattr(provenance, "version", lambda part: f"{part}1")

    def units():
        return [{"selector": name} for name in ("ccm", "ccm-single", "mi")]

    study = Study("tiny", units, lambda unit: {"value": 1}, 0.1)
    study.run(["ccm", "ccm-single"])
    monkeypatch.setattr(provenance, "version", lambda part: part + "12"[part == "fit"])
    study.run(["mi"])
    assert provenance.made(study.path).parts == {"fit": "fit1", "evaluation": "evaluation1"}
    study.run(["ccm"])
    assert provenance.made(study.path).parts["fit"] == provenance.MIXED
    study.run(["ours"])
    assert provenance.made(study.path).parts == {"fit": "fit2", "evaluation": "evaluation1"}
    assert len(provenance.read(study.path)) == 3


def test_a_rival_that_is_not_installed_is_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("experiments.study.RESULTS", tmp_path)
    monkeypatch.setattr("experiments.rivals.find_spec", lambda package: None)
    study = Study("tiny", lambda: [{"selector": "ccm"}, {"selector": "xrfm"}], dict, 0.1)
    study.run()
    assert "not installed, left out: xrfm" in capsys.readouterr().out
    assert provenance.read(study.path)["selector"].tolist() == ["ccm"]


# Where results come from ---------------------------------------------------------------------


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A small project: golden answers and sources, whose checksums nobody has asked for."""
    for folder, answers in (("selection", {"xor": [0, 1]}), ("inference", {"test": 1, "p": 2})):
        (tmp_path / "tests" / folder).mkdir(parents=True)
        (tmp_path / "tests" / folder / "golden.json").write_text(json.dumps(answers))
    (tmp_path / "src" / "covmin" / "core").mkdir(parents=True)
    (tmp_path / "src" / "covmin" / "core" / "a.py").write_text(
        '"""A module."""\n\ndef f(x):\n    return x + 1\n'
    )
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    provenance.version.cache_clear()
    yield tmp_path
    provenance.version.cache_clear()


@pytest.mark.parametrize(
    ("part", "file", "text", "is_current"),
    [
        ("fit", "tests/selection/golden.json", '{"xor":\n[0, 1]}', True),
        ("fit", "tests/selection/golden.json", '{"xor": [1, 0]}', False),
        (
            "fit",
            "src/covmin/core/a.py",
            "def f(x):\n    return 1 + x\n",
            True,
        ),  # the answers are the same
        ("test", "tests/inference/golden.json", '{"test": 1, "p": 3}', True),  # of another tool
        ("test", "tests/inference/golden.json", '{"test": 2, "p": 2}', False),
        ("times", "tests/selection/golden.json", '{"xor": [1, 0]}', True),
        (
            "times",
            "src/covmin/core/a.py",
            '"""Words."""\n\n# why\ndef f(x):\n    return x + 1\n',
            True,
        ),
        ("times", "src/covmin/core/a.py", "def f(x):\n    return x + 2\n", False),
        ("times", "src/covmin/core/b.py", "x = 1\n", False),
        ("pictures", "src/covmin/data/b.py", "x = 1\n", True),
        ("pictures", "src/covmin/core/b.py", "x = 1\n", False),
        ("pictures", "src/covmin/plotting/a.py", "# why\n", True),
        ("pictures", "src/covmin/plotting/a.py", "x = 1\n", False),
        ("pictures", "src/covmin/report/assets/a.css", "p {}\n", False),
    ],
)
def test_a_result_is_of_earlier_code_when_its_answers_change(project, part, file, text, is_current):
    path = project / "r.csv"
    provenance.write(path, pd.DataFrame({"x": [1.0]}), "python -m experiments r", [part])
    assert provenance.is_current(path, [part])
    (project / file).parent.mkdir(parents=True, exist_ok=True)
    (project / file).write_text(text)
    provenance.version.cache_clear()
    assert provenance.is_current(path, [part]) == is_current


def test_every_study_names_parts_that_have_a_version():
    for study in STUDIES.values():
        assert all(len(provenance.version(part)) == 8 for part in study.parts)


def test_a_number_is_repeated_from_its_units_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.study.RESULTS", tmp_path)
    factor = 1.0

    def units():
        return [{"selector": name, "k": k} for name in ("a", "b") for k in range(3)]

    def work(unit):
        assert factor == 1.0 or unit["selector"] == "b"
        return {"score": factor * unit["k"]}

    study = Study("tiny", units, work, 0.1, cell={"selector": "b"}, value="score")
    study.run()
    factor = 2.0
    assert quick.of_study(study) == (2.0, 1.0, 0.02)


def test_every_cell_that_is_repeated_is_one_of_its_table():
    for study in STUDIES.values():
        if study.cell and study.path.exists():
            assert len(quick.chosen(provenance.read(study.path), study.cell))
            assert study.value in provenance.read(study.path)


def test_probes_leave_the_split_as_it_is(tmp_path, monkeypatch):
    X, y = two_effects(200)
    np.savez(tmp_path / "effects.npz", X=X, y=y)
    monkeypatch.setattr(regression, "FOLDER", tmp_path)
    for probes in (0, 100):
        unit = {"dataset": "effects", "selector": "anova", "split": 0, "probes": probes}
        found = regression.work(unit)
        assert all(0.7 < found[judge] < 1.0 for judge in regression.JUDGES)
    Z, *_ = regression.split("effects", 0)
    assert Z.shape == (160, 8 + regression.N_PROBES)


@pytest.mark.parametrize("name", truth.ROWS)
def test_truth_is_in_the_first_columns(name):
    """The function of the table changes with each of its true columns, and with no other."""
    n, d, n_true, function, _ = truth.ROWS[name]
    X, y = truth.draw(name, 0)
    assert X.shape == (n, d)
    assert len(y) == n
    rng = np.random.default_rng(1)
    x = rng.integers(2, size=(d, n)) * 1.0 if "bits" in name else rng.standard_normal((d, n))
    for j in (*range(n_true + 1), d - 1):
        changed = x.copy()
        changed[j] = rng.permutation(x[j])
        assert (function(changed) != function(x)).any() == (j < n_true)


@pytest.mark.parametrize("task", known.FUNCTIONS)
def test_relevant_columns_of_a_published_function_come_first(task):
    """The function changes with each of its columns, and both classes are common."""
    p, function = known.FUNCTIONS[task]
    rng = np.random.default_rng(0)
    x, noise = rng.random((p + 1, 2000)), rng.standard_normal(2000)
    y = function(x, noise)
    assert 0.35 < y.mean() < 0.65
    for j in range(p + 1):
        changed = x.copy()
        changed[j] = rng.permutation(x[j])
        assert (function(changed, noise) != y).any() == (j < p)


def test_a_blanket_has_the_other_parents_of_children():
    of = {"a": set(), "b": {"a"}, "c": {"b", "d"}, "d": set(), "e": {"c"}}
    assert known.blanket(of, "b") == ({"a", "c"}, {"d"})
    assert known.blanket(of, "e") == ({"c"}, set())


def test_without_its_folder_a_study_is_skipped(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("experiments.study.RESULTS", tmp_path)
    Study("tiny", lambda: [{}], lambda unit: 1 / 0, 0.1, folder=tmp_path / "no").run()
    assert "tiny: skipped" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
