"""Which options help shows together, and in which order: what every run needs, a cluster last."""

import re
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typer._click.core import Context
    from typer._click.formatting import HelpFormatter

_Panels = dict[str, tuple[str, ...]]

_SCORES: _Panels = {
    "How people are scored": ("--model", "--topics", "-k", "-m", "--bucket", "--mode"),
}
_READING: _Panels = {
    "Reading the file": (
        "--clean", "--format", "--fields", "--header", "--delimiter", "--day-first",
        "--month-first", "--timezone", "--encoding", "--max-line-bytes",
    ),
}  # fmt: skip
_WORDS: _Panels = {
    "Which words count": (
        "--min-texts", "--max-terms", "--stop-words", "--first-person", "--second-person",
        "--stem", "--bigrams", "--shortest",
    ),
}  # fmt: skip
_KEPT: _Panels = {
    "State and checkpoints": (
        "--state", "--update", "--only-newer", "--merge", "--keep-buckets", "--keep-posts",
        "--checkpoint", "--checkpoint-every", "--resume",
    ),
}  # fmt: skip
_CLUSTER: _Panels = {
    "On a cluster": ("--engine", "--master", "--spark-conf", "--partitions", "--ranks")
}

PANELS: "Mapping[str, _Panels]" = {
    "assess": _SCORES | _KEPT | _READING | _CLUSTER,
    "explain": _SCORES | _READING,
    "alerts": _SCORES,
    "analyse": _CLUSTER,
    "study": {
        "Your own data": (
            "--data", "--documents", "--embedding", "--posts", "--truth", "--topics", "--model",
            "--half", "--labels-column", "--votes",
        ),
        "Only some studies": ("--seconds", "--rates", "--readers"),
    } | _READING,
}  # fmt: skip
"""By command, what is not among its first options."""

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


class CommandWithPanels(TyperCommand):
    """A command whose help shows its options by panel, and its arguments as POSTS."""

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
        """The same as any other, once options are in their panels."""
        panels = PANELS.get(_path(ctx), {})
        places = {option: title for title, options in panels.items() for option in options}
        for param in self.params:
            if isinstance(param, TyperOption):
                param.rich_help_panel = param.rich_help_panel or places.get(param.opts[0])
            _shorten(param)
        helping = self.get_help_option(ctx)
        if helping is not None:
            helping.metavar = ""
        order = [None, *panels]
        self.params.sort(key=lambda param: _place(param, order))
        super().format_help(ctx, formatter)


class PlainGroup(TyperGroup):
    """A group whose help names no type of what takes no value."""

    def format_help(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """The same as any other, once options are short."""
        for param in self.get_params(ctx):
            _shorten(param)
        super().format_help(ctx, formatter)


def _place(param: object, order: list[str | None]) -> int:
    panel = getattr(param, "rich_help_panel", None)
    return order.index(panel) if panel in order else len(order)


def _path(ctx: "Context") -> str:
    """The command's words, without the program's."""
    words: list[str] = []
    here = ctx
    while here.parent is not None:
        words.append(str(here.info_name))
        here = here.parent
    return " ".join(reversed(words))


def _shorten(param: object) -> None:
    """Short names of types, and brackets as they are written: Rich would take them for markup."""
    if isinstance(param, TyperOption | TyperArgument) and param.help:
        param.help = escape(param.help.replace("\\[", "["))
    if isinstance(param, TyperOption) and param.metavar is None:
        param.metavar = _SHORT_TYPES.get(param.bare_type())
