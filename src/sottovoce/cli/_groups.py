"""Groups of options: a command takes one object, and its help and parser see its fields.

A group is a frozen dataclass whose fields are typer options, `Annotated` as in a command; all are
shown in the panel that the class names. A command takes a group by a keyword, whole or by `Only`
some of its fields; the others keep their defaults:

    def describe(posts: ..., *, reading: ReadingOptions, as_json: AsJson = False) -> None: ...
    def study(*, reading: Annotated[ReadingOptions, Only("file_format", "fields")]) -> None: ...
"""

import re
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import MISSING, Field, fields
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

from rich.markup import escape
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

if TYPE_CHECKING:
    from typer._click.core import Context
    from typer._click.formatting import HelpFormatter


class Only:
    """Fields of a group that a command takes, by their names."""

    def __init__(self, *names: str) -> None:
        self.names = names


class OptionGroup:
    """What groups inherit from."""

    panel: ClassVar[str | None] = None


def expand_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The same command with each group's options in place of the group."""
    groups: dict[str, tuple[type[OptionGroup], list[Parameter]]] = {}
    shown: list[Parameter] = []
    for name, given in signature(command).parameters.items():
        kind, *extra = get_args(given.annotation) or (given.annotation,)
        if isinstance(kind, type) and issubclass(kind, OptionGroup):
            groups[name] = kind, list(_options(kind, extra))
            shown += groups[name][1]
        else:
            shown.append(given.replace(kind=Parameter.KEYWORD_ONLY))
    if not groups:
        return command

    @wraps(command)
    def run(**given: Any) -> None:  # noqa: ANN401 - whatever was parsed
        for name, (kind, options) in groups.items():
            given[name] = kind(**{each.name: given.pop(each.name) for each in options})
        command(**given)

    seen: Any = run
    seen.__signature__ = signature(command).replace(parameters=shown)
    seen.__annotations__ = {each.name: each.annotation for each in shown} | {"return": None}
    return run


def _options(group: type[OptionGroup], extra: list[object]) -> Iterator[Parameter]:
    """A group's fields as parameters."""
    only = next((each.names for each in extra if isinstance(each, Only)), None)
    hints = get_type_hints(group, include_extras=True)
    parts: tuple[Field[Any], ...] = fields(group)  # type: ignore[arg-type] # a dataclass
    for part in parts:
        if only is None or part.name in only:
            yield Parameter(
                part.name,
                Parameter.KEYWORD_ONLY,
                default=Parameter.empty if part.default is MISSING else part.default,
                annotation=_in_panel(hints[part.name], group.panel),
            )


def _in_panel(hint: object, panel: str | None) -> object:
    """An option's type, with the panel that shows it."""
    if get_origin(hint) is not Annotated:
        raise TypeError(f"a group's field must be an Annotated option, got {hint}.")
    kind, option = get_args(hint)
    placed = copy(option)
    placed.rich_help_panel = placed.rich_help_panel or panel
    return Annotated[kind, placed]


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
