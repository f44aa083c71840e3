"""Options and parameters that messages name and that do not exist where they are named."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import typer

from sottovoce.cli._groups import OptionGroup
from support.reachable_code import Place, Sources, walked

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")
_KEYWORD = re.compile(r"(?<![\w.-])([a-z_]+)=(?!=)")
_VALUE_OF_AN_OPTION = re.compile(r"--[a-z-]+ \S+")
_ENDS_A_COMMAND_LINE = re.compile(r"(and|or|with|.*[.,;:)`])$")
OTHER_TOOLS = {"--output-state": "MALLET"}
"""Options that are not ours, with the tool that a message must name beside them."""
TAKEN_AS_OPTIONS = (
    Place("sottovoce.learn.training_terms", "Recipe"),
    Place("sottovoce.learn.features", "TextRecipe"),
    Place("sottovoce.release.job", "ReleaseRequest"),
)
"""Classes whose fields a public function takes by name: ``learn.train(way=..., width=...)``."""


@dataclass(frozen=True)
class Command:
    """The function that runs a command, and the options it takes."""

    function: Place
    options: frozenset[str]


Commands = Mapping[str, Command]
"""By the words that follow ``sottovoce``; the root is the empty string."""


class Wrong(NamedTuple):
    """An option in a message that can be read at commands which do not take it."""

    place: Place
    option: str
    lacking: tuple[str, ...]
    nowhere: bool
    """None of the commands that the message can be about takes the option."""


def commands_of(app: typer.Typer) -> dict[str, Command]:
    """All commands of a command line, those of its groups included."""
    return dict(_walked("", typer.main.get_command(app)))


def wrong_options(sources: Sources, commands: Commands) -> list[Wrong]:
    """Every option in a message, at every command that can show the message and lacks it.

    Where the text shows a command line (``topics train --out``) it is about that command; else
    about those that can reach the code. An option that stands alone may be any command's.
    """
    reach = {name: sources.reachable(each.function) for name, each in commands.items()}
    wrong = []
    for place, text in _messages(sources, commands):
        reaching = [name for name in commands if place in reach[name]]
        for option, line in _named_options(text, commands):
            about = _meant(line, commands) if line else reaching
            meant = list(commands) if text == option else about
            lacking = tuple(name for name in meant if option not in commands[name].options)
            nowhere = len(lacking) == len(meant)
            if nowhere or (lacking and meant is reaching):
                wrong.append(Wrong(place, option, lacking, nowhere))
    return wrong


def wrong_keywords(sources: Sources, commands: Commands) -> list[tuple[Place, str]]:
    """Every ``name=`` in an error or warning of the library that is no parameter within reach.

    It must be one of a function or class of the same module, or of a package's public names.
    """
    front = tuple(each.function.module.rpartition(".")[0] for each in commands.values())
    public = _public_parameters(sources)
    wrong = []
    for place, text in _raised(sources):
        named = set(_KEYWORD.findall(_VALUE_OF_AN_OPTION.sub("", text))) - public
        if named and not place.module.startswith(front):
            unknown = named - _parameters(sources.trees[place.module])
            wrong += [(place, name) for name in sorted(unknown)]
    return wrong


def _walked(name: str, command: Any) -> Iterator[tuple[str, Command]]:  # noqa: ANN401 - a command or a group
    options = [each for own in command.params for each in (*own.opts, *own.secondary_opts)]
    if command.callback is not None:
        function = Place(command.callback.__module__, command.callback.__qualname__)
        yield name, Command(function, frozenset({"--help", *options}))
    for each, below in getattr(command, "commands", {}).items():
        yield from _walked(f"{name} {each}".strip(), below)


def _messages(sources: Sources, commands: Commands) -> Iterator[tuple[Place, str]]:
    """All texts but those docstrings that are not shown as a command's help."""
    shown = {each.function for each in commands.values()} | set(_groups(OptionGroup))
    for place, statements in sources.statements.items():
        for statement in statements:
            texts = _texts(statement, shown=place in shown)
            yield from ((place, text) for text in texts)


def _groups(kind: type[OptionGroup]) -> Iterator[Place]:
    for each in kind.__subclasses__():
        yield Place(each.__module__, each.__qualname__)
        yield from _groups(each)


def _raised(sources: Sources) -> Iterator[tuple[Place, str]]:
    """Texts in errors and warnings, and in the names that these mention."""
    for place, statements in sources.statements.items():
        nodes = [node for statement in statements for node in walked(statement)]
        for node in filter(_is_raised, nodes):
            yield from ((place, text) for text in _texts(node))
            for named in sources.named_in(place.module, [node]):
                for statement in sources.statements[named]:
                    if isinstance(statement, ast.Assign):
                        yield from ((named, text) for text in _texts(statement))


def _is_raised(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return called in {"warn", "warning"}
    return isinstance(node, ast.Raise)


def _texts(node: ast.AST, *, shown: bool = True) -> Iterator[str]:
    """String literals, those of f-strings whole: each value in them is shown as ``{}``.

    ``shown``: with those that stand alone, which are there to be read in the source.
    """
    nodes = walked(node)
    hidden = {
        id(part)
        for each in nodes
        if isinstance(each, ast.JoinedStr) or (isinstance(each, ast.Expr) and not shown)
        for part in ast.iter_child_nodes(each)
    }
    for each in nodes:
        if isinstance(each, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in each.values
            )
        elif isinstance(each, ast.Constant) and id(each) not in hidden:
            yield from [each.value] if isinstance(each.value, str) else []


def _named_options(text: str, commands: Commands) -> Iterator[tuple[str, str]]:
    """Each option in a text, with the command in whose line it stands, or an empty string."""
    words, line, at = text.split() if "--" in text else [], "", 0
    while at < len(words):
        if begun := _command_at(words, at, commands):
            line, at = begun, at + len(begun.split())
            continue
        for option in _OPTION.findall(words[at]):
            if option not in OTHER_TOOLS or OTHER_TOOLS[option] not in text:
                yield option, line
        line = "" if _ENDS_A_COMMAND_LINE.fullmatch(words[at]) else line
        at += 1


def _command_at(words: list[str], at: int, commands: Commands) -> str:
    """The command that begins here: after ``sottovoce``, or right before an option."""
    follows = words[at - 1].endswith("sottovoce") if at else False
    for end in range(at + 3, at, -1):
        name = " ".join(words[at:end]).lstrip("`(")
        if _meant(name, commands) and (follows or _OPTION.match("".join(words[end : end + 1]))):
            return name
    return ""


def _meant(line: str, commands: Commands) -> list[str]:
    """The command of that name, or those of the group that has it."""
    return [name for name in commands if f"{name} ".startswith(f"{line} ")]


def _public_parameters(sources: Sources) -> frozenset[str]:
    """Parameters of all that doors offer, and fields that they take as options."""
    taken = (each for place in TAKEN_AS_OPTIONS for each in sources.statements.get(place, ()))
    found = set[str]().union(*map(_parameters, taken))
    for module, tree in sources.trees.items():
        listed = sources.statements.get(Place(module, "__all__"), ())
        for name in {*_reexported(tree), *(name for each in listed for name in _texts(each))}:
            target = sources.found(module, name)
            if isinstance(target, Place):
                found.update(*map(_parameters, sources.statements[target]))
    return frozenset(found)


def _reexported(tree: ast.AST) -> set[str]:
    """Names that are imported under themselves: what a lazy door offers."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return {each.name for node in nodes for each in node.names if each.asname == each.name}


def _parameters(tree: ast.AST) -> frozenset[str]:
    """Names of parameters, and of the fields of classes that make them of these."""
    nodes = list(walked(tree))
    taken = {node.arg for node in nodes if isinstance(node, ast.arg)}
    bodies = [part for node in nodes if isinstance(node, ast.ClassDef) for part in node.body]
    fields = [part.target for part in bodies if isinstance(part, ast.AnnAssign)]
    return frozenset(taken | {field.id for field in fields if isinstance(field, ast.Name)})
