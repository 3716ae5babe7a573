import ast
import inspect

from covmin import constants


def test_every_constant_has_its_reason():
    """The documentation lists them with the comment that stands before them."""
    source = inspect.getsource(constants)
    lines = source.splitlines()
    names = [node for node in ast.parse(source).body if isinstance(node, ast.AnnAssign)]
    assert len(names) > 20
    for k, node in enumerate(names):
        before = lines[node.lineno - 2]
        follows = k > 0 and names[k - 1].end_lineno == node.lineno - 1
        assert before.startswith("#:") or follows, f"{node.target.id} has no reason"
        assert node.target.id.isupper()
