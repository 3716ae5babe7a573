"""Convert command-line options to arguments of the selector."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .errors import CommandError, ExitCode
from .options import SELECTOR_OPTIONS
from .selector_option import SelectorOption
from .words import in_words_of_options


def selector_arguments(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``CCMSelector`` for parameters named as in ``set_params``.

    Invalid combinations raise an error before any data are read.
    """
    from covmin import CCMSelector, LongRun

    arguments = {name: value for name, value in parameters.items() if "__" not in name}
    _check_needs(parameters)
    if changes := _nested("formulation", parameters):
        arguments["formulation"] = _formulation(arguments.get("formulation"), changes)
    if changes := _nested("kernel", parameters):
        arguments["kernel"] = _kernel(arguments.get("kernel", "auto"), changes)
    if changes := _nested("long_run", parameters):
        arguments["long_run"] = LongRun(**changes)
    try:
        for each in arguments.values():
            if hasattr(each, "check"):
                each.check()
        CCMSelector(**arguments)._validate_params()
    except ValueError as error:
        raise CommandError(in_words_of_options(str(error), "y"), ExitCode.USAGE) from error
    return arguments


def words_for(parameters: Mapping[str, Any]) -> list[str]:
    """Return the command-line words for these parameters."""
    options = [option for option in SELECTOR_OPTIONS if option.parameter in parameters]
    return [word for option in options for word in option.typed(parameters[option.parameter])]


def _nested(owner: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    parts = {name: name.partition("__") for name in parameters}
    return {own: parameters[name] for name, (of, _, own) in parts.items() if own and of == owner}


def _option(parameter: str) -> SelectorOption:
    return next(option for option in SELECTOR_OPTIONS if option.parameter == parameter)


def _check_needs(parameters: Mapping[str, Any]) -> None:
    """Raise an error if another option makes an option ineffective."""
    for option in SELECTOR_OPTIONS:
        if option.parameter not in parameters or not option.needs:
            continue
        name, values = option.needs.split()
        other = next(each for each in SELECTOR_OPTIONS if name in each.names.split())
        word = other.typed(parameters.get(other.parameter, other.declared.default))[-1]
        if word not in values.split("|"):
            raise CommandError(
                f"{option.name} has no effect with {name} {word}.",
                ExitCode.USAGE,
                f"Use it with {name} {values.replace('|', ' or ')}, or omit it.",
            )


def _formulation(name: str | None, changes: dict[str, Any]) -> Any:
    """Return a formulation with some options set."""
    from covmin.plan.formulation import FORMULATIONS

    # The name of a formulation already determines its strategy.
    strategy = changes.get("strategy")
    if name and strategy and strategy != (meant := FORMULATIONS[name].strategy):
        raise CommandError(
            f"--formulation {name} means --strategy {meant}, not {strategy}.",
            ExitCode.USAGE,
            "Omit one of the two.",
        )
    return replace(FORMULATIONS[name or "path"], **changes)


def _kernel(name: str, changes: dict[str, Any]) -> Any:
    """Return a kernel with some parameters set."""
    from covmin.core.kernels import KERNELS

    for key in changes:
        option = _option(f"kernel__{key}")
        owners = option.declared.kernels
        if name in owners:
            continue
        takes = [each.name for each in SELECTOR_OPTIONS if name in each.declared.kernels]
        raise CommandError(
            f"{option.name} is not a parameter of --kernel {name}"
            f"{', which sets its own' if name == 'auto' else ''}.",
            ExitCode.USAGE,
            f"It is a parameter of --kernel {' or '.join(owners)}."
            + (f" --kernel {name} has {' and '.join(takes)}." if takes else ""),
        )
    return KERNELS[name](**changes)
