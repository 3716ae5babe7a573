"""Files about a release agree with each other and with the package."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import covmin

ROOT = Path(__file__).resolve().parents[2]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_file_states_the_version():
    stated = {
        "CITATION.cff": re.search(r"^version: (\S+)$", text_of("CITATION.cff"), re.MULTILINE),
        "recipe": re.search(r'^  version: "(.+)"$', text_of("recipe/recipe.yaml"), re.MULTILINE),
        "CHANGELOG.md": re.search(r"^## (\d\S+)", text_of("CHANGELOG.md"), re.MULTILINE),
    }
    assert {name: found and found[1] for name, found in stated.items()} == dict.fromkeys(
        stated, covmin.__version__
    )


def test_the_conda_recipe_has_the_dependencies_of_the_command_line():
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["cli"]]
    for extra in re.findall(r"covmin\[([\w,]+)\]", " ".join(wanted))[0].split(","):
        wanted += extras[extra]
    wanted = {each for each in wanted if not each.startswith("covmin")}
    run = text_of("recipe/recipe.yaml").split("  run:\n")[1].split("\n\n")[0]
    listed = set(re.findall(r"^    - ([\w-]+ >=[\d.]+)$", run, flags=re.MULTILINE))
    named = {"matplotlib": "matplotlib-base"}  # as conda-forge calls it
    parts = [each.split(">=") for each in wanted]
    assert listed == {f"{named.get(name, name)} >={version}" for name, version in parts}


def test_the_hooks_have_the_versions_that_the_checks_have():
    pinned = re.findall(r'"(ruff|mypy|import-linter)==([\d.]+)"', text_of("pyproject.toml"))
    hooks = text_of(".pre-commit-config.yaml")
    names = {"ruff": "ruff-pre-commit", "mypy": "mirrors-mypy"}
    for tool, version in pinned:
        assert re.search(rf"{names.get(tool, tool)}\n    rev: v{re.escape(version)}\n", hooks), tool
    assert len(pinned) == 3


def test_every_python_that_is_named_is_tested():
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    workflow = text_of(".github/workflows/tests.yml")
    assert f"python: {named}".replace("'", '"') in workflow
    assert '"3.14t"' in workflow


def test_actions_are_pinned_by_their_commit():
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for used in re.findall(r"uses: (\S+)", path.read_text("utf-8")):
            assert re.search(r"@[0-9a-f]{40}$", used), f"{path.name}: {used}"
