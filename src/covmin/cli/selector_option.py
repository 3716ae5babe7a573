"""Command-line options that set parameters of the selector."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from covmin.selection.declared import Parameter, declared

from .errors import CommandError, ExitCode

# Types, with their placeholder in the help and their converter.
_KINDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "int": ("N", int),
    "float": ("NUMBER", float),
    "PathLike[str]": ("FILE", Path),
}
_IN_WORDS = {"N": "an integer", "NUMBER": "a number"}


@dataclass(frozen=True)
class SelectorOption:
    """An option; its type, default and choices are those of the parameter."""

    # Names on the command line, such as "--jobs -j"; messages use the first.
    names: str
    # As in ``set_params``: "epsilon", "kernel__degree", "formulation__lambda1".
    parameter: str
    help: str
    # Heading in the help.
    panel: str | None = None
    # The option and values with which this one has an effect, such as "--inverse free".
    needs: str = ""
    # Accepted words, if the parameter declares none.
    choices: tuple[str, ...] = ()
    # Further words and their values.
    stands_for: Mapping[str, Any] = field(default_factory=dict)
    # Default, if it differs from that of the parameter.
    default: Any = None
    # Parser, if the type does not determine it.
    parse: Callable[[str], Any] | None = None
    metavar: str = ""
    # Completion of column names; such options are repeatable.
    complete: Callable[..., list[str]] | None = None

    @property
    def name(self) -> str:
        """Name in messages."""
        return self.names.split()[0]

    @cached_property
    def declared(self) -> Parameter:
        """The declaration of the parameter."""
        return declared(self.parameter)

    @property
    def is_flag(self) -> bool:
        """Whether the option is a flag, which toggles its parameter."""
        return self.declared.annotation == "bool"

    @cached_property
    def _kind(self) -> tuple[str, Callable[[str], Any]]:
        types = self.declared.annotation.split(" | ")
        named = next((name for name in _KINDS if name in types), type(self.default).__name__)
        return _KINDS.get(named, ("", str))

    @cached_property
    def _words(self) -> tuple[str, ...]:
        words = self.choices or self.declared.choices
        if not words and isinstance(self.declared.default, str):
            words = (self.declared.default,)
        return (*words, *self.stands_for)

    def read(self, text: str) -> Any:
        """Return the value of the text that was typed."""
        what, convert = self._kind
        if self.parse is not None:
            return self.parse(text)
        if text in self._words:
            return self.stands_for.get(text, text)
        try:
            if self._words and convert is str:
                raise ValueError
            return convert(text)
        except ValueError:
            from .columns import did_you_mean, nearest

            ways = [*([_IN_WORDS[what]] if what else []), *self._words]
            raise CommandError(
                f"{self.name} does not accept {text!r}.",
                ExitCode.USAGE,
                f"{did_you_mean(nearest(text, self._words, 0.8))}It accepts {', '.join(ways)}.",
            ) from None

    def argument(self) -> inspect.Parameter:
        """Return the option as an argument of a typer command."""
        shown = self.declared.default if self.default is None else self.default
        kernels, words = ", ".join(self.declared.kernels), "|".join(self._words)
        # With many choices, list them in the help text instead of the column of values.
        apart = self.metavar and self.parse is None and self.complete is None
        listed = ", ".join(self._words) if apart else ""
        said = f"{listed}: {self.help}" if listed else self.help
        said += f" For --kernel {kernels}." if kernels else ""
        said += f" With {self.needs}." if self.needs else ""
        value = "|".join(filter(None, [self._kind[0], words]))
        more: dict[str, Any] = {"metavar": self.metavar or value}
        kind: Any = str
        if self.is_flag:
            more, kind, shown = {}, bool, None
        elif self.complete is not None:
            more, kind, shown = more | {"autocompletion": self.complete}, list[str], None
        else:
            more |= {"parser": self.read, "autocompletion": self._completed}
        option = typer.Option(
            *self.names.split(),
            help=said,
            rich_help_panel=self.panel,
            show_default=shown is not None,
            **more,
        )
        return inspect.Parameter(
            self.parameter,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if self.is_flag else None if shown is None else self._word(shown),
            annotation=Annotated[kind | None, option],
        )

    def _completed(self, incomplete: str) -> list[str]:
        return [word for word in self._words if word.startswith(incomplete)]

    def typed(self, value: Any) -> list[str]:
        """Return the command-line words for a value."""
        if self.is_flag:
            return [self.name]
        if self.complete is not None:
            return [word for each in value for word in (self.name, each)]
        several = value if isinstance(value, list) else [value]
        return [self.name, ",".join(map(self._word, several))]

    def _word(self, value: Any) -> str:
        return next((word for word, each in self.stands_for.items() if each is value), str(value))


def extended(command: Callable[..., None], options: Sequence[SelectorOption]) -> Any:
    """Return a command with these options added; those without a heading come fifth."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())
    own = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own]

    def run(**typed: Any) -> None:
        command(**{each.name: typed[each.name] for each in own})

    common = [option.argument() for option in options if option.panel is None]
    others = [option.argument() for option in options if option.panel is not None]
    arguments = [*own[:4], *common, *own[4:], *others]
    run.__doc__ = command.__doc__
    run.__signature__ = inspect.Signature(arguments)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in arguments}
    return run


def typed_parameters(ctx: typer.Context, options: Sequence[SelectorOption]) -> dict[str, Any]:
    """Return the parameters that were typed, and those whose default differs here."""
    found = {}
    for option in options:
        source = ctx.get_parameter_source(option.parameter)
        if option.default is not None or (source is not None and source.name != "DEFAULT"):
            value = ctx.params.get(option.parameter, option.default)
            found[option.parameter] = not option.declared.default if option.is_flag else value
    return found
