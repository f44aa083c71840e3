"""The guide to the command line names every option that a command cannot do without."""

import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from sottovoce.cli._app import app

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "command-line.md"


def found(words: list[str]) -> tuple[object, list[str]]:
    """The command that ``words`` begin with, and the rest of them."""
    command: object = typer.main.get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words[0]]  # type: ignore[attr-defined] # a group
        words = words[1:]
    return command, words


def test_a_command_shown_with_arguments_has_all_it_needs() -> None:
    shown = re.findall(r"`sottovoce ([^`]+)`", PAGE.read_text(encoding="utf-8"))
    parsed = [found(line.replace("\\|", "|").split()) for line in shown]
    with_arguments = [(command, rest) for command, rest in parsed if rest]
    assert len(with_arguments) > 10
    for command, rest in with_arguments:
        for parameter in command.params:  # type: ignore[attr-defined] # a command
            if parameter.param_type_name == "option" and parameter.required:
                assert set(parameter.opts) & set(rest), (command, parameter.opts)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["evaluate"], "Each measure is compared with each baseline: a paired t-test"),
        (["ledger", "show"], "remaining ones down. JSON has the exact ratios too."),
    ],
)
def test_help_breaks_lines_only_where_the_screen_ends(command: list[str], sentence: str) -> None:
    shown = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200"}).output
    assert sentence in shown
