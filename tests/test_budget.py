"""The package stays small: each number below may only be lowered."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import covmin

PACKAGE = Path(covmin.__file__).parent

#: Lines of all modules (to get down to: 18,500), and their number.
MOST_LINES = 18_476
MOST_MODULES = 106
#: Parameters of CCMSelector.
MOST_PARAMETERS = 20
#: Numbers that change an answer.
MOST_CONSTANTS = 35
#: What a reader of a default fit has to follow, without comprehensions and lambdas; functions to
#: get down to: 200.
MOST_FUNCTIONS = 227
MOST_FILES = 38

# In a process of its own: a second fit finds much of what the first one has cached.
COUNT = """
import json, sys, threading
import numpy as np, pandas as pd
from covmin import CCMSelector

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.standard_normal((200, 10)), columns=list("abcdefghij"))
y = X.a * X.b + X.c + 0.1 * rng.standard_normal(200)
seen = set()

def note(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(sys.argv[1]):
        seen.add((code.co_filename, code.co_qualname, code.co_firstlineno))

selector = CCMSelector(3)
threading.setprofile(note)
sys.setprofile(note)
selector.fit(X, y)
sys.setprofile(None)
print(json.dumps(sorted(seen)))
"""


@pytest.fixture(scope="module")
def modules():
    return sorted(PACKAGE.rglob("*.py"))


def test_lines_and_modules(modules):
    lines = sum(len(module.read_text(encoding="utf-8").splitlines()) for module in modules)
    assert lines <= MOST_LINES
    assert len(modules) <= MOST_MODULES


def test_parameters_of_the_selector():
    assert len(inspect.signature(covmin.CCMSelector).parameters) <= MOST_PARAMETERS


def test_constants_that_change_an_answer():
    tree = ast.parse((PACKAGE / "constants.py").read_text(encoding="utf-8"))
    found = [node for node in tree.body if isinstance(node, ast.AnnAssign)]
    assert all(ast.unparse(node.annotation) == "Final" for node in found)
    assert 0 < len(found) <= MOST_CONSTANTS


def test_functions_of_a_default_fit():
    command = [sys.executable, "-c", COUNT, str(PACKAGE)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    names = [
        (file, name)
        for file, name, _ in json.loads(printed.stdout)
        if "<" not in name.replace("<locals>", "")
    ]
    assert 0 < len(names) <= MOST_FUNCTIONS
    assert len({file for file, _ in names}) <= MOST_FILES
