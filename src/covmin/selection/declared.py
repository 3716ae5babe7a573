"""Read the parameters of the selector from its source code.

Importing the class would import scikit-learn, and ``--help`` on the command line would take
seconds.
"""

import ast
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.util import find_spec
from typing import Any


@dataclass(frozen=True)
class Parameter:
    """The declaration of a parameter; ``kernels`` lists the kernels that have it."""

    annotation: str
    default: Any = None
    choices: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()


@cache
def declared(name: str) -> Parameter:
    """Return the declaration of a parameter, by its name in ``set_params``.

    >>> declared("interactions")
    Parameter(annotation='bool', default=True, choices=(), kernels=())
    >>> declared("formulation__constraint").choices, declared("kernel__degree").kernels
    (('hard', 'soft'), ('polynomial',))
    """
    from covmin.core.constraints import CONSTRAINTS
    from covmin.core.kernels import KERNELS
    from covmin.core.objectives import OBJECTIVES
    from covmin.plan.formulation import FORMULATIONS, Formulation
    from covmin.runtime.run import LongRun

    registries: dict[str, Any] = {
        "kernel": ("auto", *KERNELS),
        "formulation": FORMULATIONS,
        "formulation__strategy": [each.strategy for each in FORMULATIONS.values()],
        "formulation__constraint": CONSTRAINTS,
        "formulation__inverse": OBJECTIVES,
    }
    nested: dict[str, Any] = {
        "formulation": [Formulation],
        "long_run": [LongRun],
        "kernel": KERNELS.values(),
    }
    owner, _, own = name.rpartition("__")
    homes = [_of_dataclass(each) for each in nested[owner]] if owner else [_of_selector()]
    found = next((home[own] for home in homes if own in home), None)
    if found is None:
        raise LookupError(f"The selector has no parameter {name!r}.")
    kernels = tuple(k for k, each in KERNELS.items() if own in _of_dataclass(each))
    choices = tuple(registries.get(name, found.choices))
    return replace(found, choices=choices, kernels=kernels if owner == "kernel" else ())


def _of_dataclass(cls: type[Any]) -> dict[str, Parameter]:
    return {
        each.name: Parameter(str(getattr(each.type, "__name__", each.type)), each.default)
        for each in fields(cls)
    }


@cache
def _of_selector() -> dict[str, Parameter]:
    """Return the annotations and defaults of the fields, and the words their constraints allow."""
    module = "covmin.selection.selector"
    loader: Any = getattr(find_spec(module), "loader", None)
    cls = next(x for x in ast.parse(loader.get_source(module)).body if isinstance(x, ast.ClassDef))
    assigned = {ast.unparse(x.target): x for x in cls.body if isinstance(x, ast.AnnAssign)}
    constraints: Any = assigned.pop("_parameter_constraints").value
    words = dict(zip(map(ast.literal_eval, constraints.keys), constraints.values, strict=True))
    return {
        name: Parameter(
            ast.unparse(field.annotation),
            ast.literal_eval(field.value),
            tuple(
                ast.literal_eval(word)
                for call in ast.walk(words[name])
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "StrOptions"
                for word in getattr(call.args[0], "elts", ())
            ),
        )
        for name, field in assigned.items()
        if field.value is not None
    }
