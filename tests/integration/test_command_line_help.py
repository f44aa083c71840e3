"""The help of every command, as a terminal of 80 columns shows it."""

import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from inspect import getdoc

import pytest
import typer

from sottovoce.cli._app import app

Run = Callable[..., tuple[int, str, str]]
COLUMNS = 80


def _commands(
    group: typer.Typer, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each command's words and its docstring."""
    for command in group.registered_commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__
        yield (*path, name), getdoc(command.callback) or ""
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


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_says_what_the_docstring_says_in_full_lines(
    run: Run, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.setenv("TERMINAL_WIDTH", str(COLUMNS))
    code, out, _ = run(*command, "--help")
    shown = "\n".join(line.strip() for line in out.splitlines())
    assert code == 0
    for paragraph in COMMANDS[command].split("\n\n"):
        flowing = " ".join(paragraph.split())
        assert textwrap.fill(flowing, COLUMNS - 2, break_on_hyphens=False) in shown
    assert f"\n\nExample: sottovoce {' '.join(command)}" in shown
    assert "--json" in shown


def test_the_package_itself_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sottovoce", "--version"], capture_output=True, check=True, text=True
    )
    assert done.stdout.startswith("sottovoce ")
