"""Groups of options: a command takes one object, and its help and parser see its fields.

A group is a frozen dataclass whose fields are typer options, `Annotated` as in a command; all are
shown in the panel that the class names. A command takes a group by a keyword, whole or by `Only`
some of its fields; the others keep their defaults:

    def describe(posts: ..., *, reading: ReadingOptions, as_json: AsJson = False) -> None: ...
    def study(*, reading: Annotated[ReadingOptions, Only("file_format", "fields")]) -> None: ...
"""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import MISSING, Field, fields
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints


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
