"""The help of every command, as a terminal of 80 columns shows it."""

import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from types import ModuleType

import pytest
import typer
from support.shown import Run
from support.tools import loaded_tool

from sottovoce.cli._app import app
from sottovoce.cli._groups import command_text

COLUMNS = 80


def _commands(
    group: typer.Typer, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each command's words and its docstring."""
    for command in group.registered_commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__
        yield (*path, name), command_text(command.callback)
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        yield from _commands(inner.typer_instance, (*path, str(inner.name)))


COMMANDS = dict(_commands(app))


def test_every_verb_and_its_parts_are_walked() -> None:
    assert {("assess",), ("ledger", "show"), ("topics", "judge", "import")} < set(COMMANDS)
    assert len(COMMANDS) > 30


def test_the_first_help_names_every_verb(run: Run) -> None:
    code, out, _ = run("--help")
    assert code == 0
    for verb, *_parts in COMMANDS:
        assert f" {verb} " in out


@pytest.fixture(scope="module")
def texts() -> ModuleType:
    return loaded_tool("help_texts")


def test_the_written_help_is_of_all_commands_and_groups(texts: ModuleType) -> None:
    groups = [path for path in texts.paths(app) if path not in COMMANDS]
    assert {" ".join(path) for path in [*groups, *COMMANDS]} == set(texts.written())
    assert len(groups) > 3
    for path in groups:
        assert texts.shown(path) == texts.written()[" ".join(path)]


def test_types_have_one_name_in_all_help_and_arguments_are_in_capitals(texts: ModuleType) -> None:
    for words, text in texts.written().items():
        assert not re.search(r"<[\w\[\]]+>|\{\w+\}", text), words
        panel = re.search("(?s)╭─ Arguments ─.*?╯", text)
        shown = re.findall(r"│ [* ]? +(\w\S*) +(\S+)  [^\s│]", panel[0]) if panel else []
        assert bool(panel) == bool(shown), words
        assert all(name == name.upper() for name, _ in shown), words
        assert {kind for _, kind in shown} <= {"PATH", "TEXT", "N", "X"}, words


def test_cluster_options_come_last(texts: ModuleType) -> None:
    for command in ("assess", "release"):
        panels = re.findall("╭─ (.+?) ─", texts.written()[command])
        assert panels[:2] == ["Arguments", "Options"]
        assert panels[-1] == "On a cluster"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_says_what_the_docstring_says_in_full_lines(
    command: tuple[str, ...], texts: ModuleType
) -> None:
    out = texts.shown(command)
    shown = "\n".join(line.strip() for line in out.splitlines())
    for paragraph in COMMANDS[command].split("\n\n"):
        flowing = " ".join(paragraph.split())
        assert textwrap.fill(flowing, COLUMNS - 2, break_on_hyphens=False) in shown
    assert f"\n\nExample: sottovoce {' '.join(command)}" in shown
    assert "--json" in shown
    # What changed on purpose is written by tools/help_texts.py, and read in the difference.
    assert out == texts.written()[" ".join(command)]


def test_the_package_itself_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sottovoce", "--version"], capture_output=True, check=True, text=True
    )
    assert done.stdout.startswith("sottovoce ")
