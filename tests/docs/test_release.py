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
