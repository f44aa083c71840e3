"""Commands as plain functions: a signature says what they take, a docstring what it means.

A positional parameter is an argument, a keyword an option called like it (``--show-text``), and the
section ``Args:`` of the docstring has their help. What typer must know besides stands in the
annotation. An `OptionGroup` is a frozen dataclass of options, shown in the panel that it names; a
command takes it by a keyword, whole or by `Only` some of its fields:

    def describe(posts: Path, *, truth: Path | None = None, reading: ReadingOptions) -> None: ...
    def study(*, reading: Annotated[ReadingOptions, Only("file_format", "fields")]) -> None: ...
"""

import re
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import MISSING, Field, fields
from functools import wraps
from inspect import Parameter, cleandoc, signature
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

import typer
from rich.markup import escape
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

if TYPE_CHECKING:
    from typer._click.core import Context
    from typer._click.formatting import HelpFormatter

_ARGS = "\nArgs:\n"


class Only:
    """Fields of a group that a command takes, by their names."""

    def __init__(self, *names: str) -> None:
        self.names = names


class OptionGroup:
    """What groups inherit from."""

    panel: ClassVar[str | None] = None


def command_text(command: Callable[..., None]) -> str:
    """The help of a command, but for that of its parameters."""
    return cleandoc(command.__doc__ or "").partition(_ARGS)[0].strip()


def read_help(docstring: str | None) -> dict[str, str]:
    r"""The help of each parameter in a docstring.

    >>> read_help("What it does.\n\nArgs:\n    most: How many\n        to show.")
    {'most': 'How many to show.'}
    """
    _, _, described = cleandoc(docstring or "").partition(_ARGS)
    found = re.findall(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", described, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}


def expand_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer takes it: options in place of their groups, each with its help."""
    groups: dict[str, tuple[type[OptionGroup], list[Parameter]]] = {}
    shown: list[Parameter] = []
    described, parameters = read_help(command.__doc__), signature(command).parameters
    arguments = [each.name for each in parameters.values() if each.kind is not each.KEYWORD_ONLY]
    for name, given in parameters.items():
        kind, *extra = get_args(given.annotation) or (given.annotation,)
        if isinstance(kind, type) and issubclass(kind, OptionGroup):
            groups[name] = kind, list(_options(kind, extra))
            shown += groups[name][1]
        else:
            shown.append(_describe(given, described))

    @wraps(command)
    def run(**given: Any) -> None:  # noqa: ANN401 - whatever was parsed
        for name, (kind, options) in groups.items():
            given[name] = kind(**{each.name: given.pop(each.name) for each in options})
        command(*[given.pop(name) for name in arguments], **given)

    seen: Any = run
    seen.__signature__ = signature(command).replace(parameters=shown)
    seen.__annotations__ = {each.name: each.annotation for each in shown} | {"return": None}
    return run


def _options(group: type[OptionGroup], extra: list[object]) -> Iterator[Parameter]:
    """A group's fields as parameters."""
    only = next((each.names for each in extra if isinstance(each, Only)), None)
    hints = get_type_hints(group, include_extras=True)
    described: dict[str, str] = {}
    for each in reversed(group.__mro__):
        described |= read_help(each.__doc__)
    parts: tuple[Field[Any], ...] = fields(group)  # type: ignore[arg-type] # a dataclass
    for part in parts:
        if only is None or part.name in only:
            default = Parameter.empty if part.default is MISSING else part.default
            option = Parameter(part.name, Parameter.KEYWORD_ONLY, default=default)
            yield _describe(option.replace(annotation=hints[part.name]), described, group.panel)


def _describe(given: Parameter, described: dict[str, str], panel: str | None = None) -> Parameter:
    """A parameter with all that typer must know of it."""
    hint = given.annotation
    if get_origin(hint) is Annotated:
        hint, told = get_args(hint)
        placed = copy(told)
    elif given.kind is not Parameter.KEYWORD_ONLY:
        placed = typer.Argument()
    else:
        # A flag only sets; typer would offer to take it back as well.
        placed = typer.Option(*([f"--{given.name.replace('_', '-')}"] if hint is bool else []))
    placed.help = placed.help or described.get(given.name)
    if placed.help is None:
        raise TypeError(f"the docstring says nothing of {given.name}")
    placed.rich_help_panel = placed.rich_help_panel or panel
    return given.replace(kind=Parameter.KEYWORD_ONLY, annotation=Annotated[hint, placed])


_SHORT_TYPES = {
    "Path": "PATH",
    "list[Path]": "PATH",
    "str": "TEXT",
    "list[str]": "TEXT",
    "int": "N",
    "list[int]": "N",
    "float": "X",
    "bool": "",
}


class _PlainArgument(TyperArgument):
    """An argument whose type help names as it names those of options."""

    def display_type_rich(self, ctx: "Context") -> str | None:
        """A short name, where there is one."""
        return _SHORT_TYPES.get(self.bare_type()) or super().display_type_rich(ctx)


class PlainCommand(TyperCommand):
    """A command whose help names types shortly, and its arguments as POSTS."""

    def __init__(self, name: str | None, **settings: Any) -> None:  # noqa: ANN401 - Typer's own
        super().__init__(name, **settings)
        for param in self.params:
            if isinstance(param, TyperArgument):
                # Typer makes arguments itself, and asks for no class of ours.
                param.__class__ = _PlainArgument
                param.metavar = param.metavar or str(param.name).upper()

    def collect_usage_pieces(self, ctx: "Context") -> list[str]:
        """What must be given is plain: braces are for choices."""
        return [re.sub("[{}]", "", piece) for piece in super().collect_usage_pieces(ctx)]

    def format_help(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """The same as any other, once options are short."""
        for param in self.params:
            _shorten(param)
        helping = self.get_help_option(ctx)
        if helping is not None:
            helping.metavar = ""
        super().format_help(ctx, formatter)


class PlainGroup(TyperGroup):
    """A group whose help names no type of what takes no value."""

    def format_help(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """The same as any other, once options are short."""
        for param in self.get_params(ctx):
            _shorten(param)
        super().format_help(ctx, formatter)


def _shorten(param: object) -> None:
    """Short names of types, and brackets as they are written: Rich would take them for markup."""
    if isinstance(param, TyperOption | TyperArgument) and param.help:
        param.help = escape(param.help.replace("\\[", "["))
    if isinstance(param, TyperOption) and param.metavar is None:
        param.metavar = _SHORT_TYPES.get(param.bare_type())
