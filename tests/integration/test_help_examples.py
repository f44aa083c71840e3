"""Examples in help run as they stand, in the order of work, on what a fresh install can make."""

import glob
import re
import shlex
from collections.abc import Callable, Iterator
from inspect import getdoc
from pathlib import Path
from typing import Any

import pytest
import typer
from support.own_export import write_own_export

from sottovoce.cli._app import app
from sottovoce.lab.bench import tokenize

Run = Callable[..., tuple[int, str, str]]
_EXAMPLE = re.compile(r"Example: sottovoce (.+?)(?:\n\n|\Z)", re.DOTALL)
# In this order each finds what those before it made.
RUN = (
    "simulate", "describe", "count", "assess", "evaluate", "explain", "alerts", "forget", "release",
    "ledger show", "analyse", "forecast", "statement", "topics train", "topics show",
    "topics catalogue", "topics judge export", "topics judge export-profiles",
    "bench", "learn init", "learn new", "learn forecast", "rank-server", "advise",
)  # fmt: skip
# They take long, need another process, an answer of people, or a file of another program: the tests
# of those commands run them, and here it is enough that their options are right.
PARSED = (
    "demo", "study", "loop", "rank-edges", "topics judge import", "topics judge agreement",
    "topics judge import-profiles", "topics import", "learn invite", "learn join", "learn admit",
    "learn remove", "learn roster", "learn renew", "learn rotate", "learn coordinator",
    "learn keyholder", "learn peer", "learn intermediary", "learn train", "learn evaluate",
    "learn count", "learn topics", "learn status", "learn classify", "learn transcript",
    "learn approve", "audit", "topics match",
)  # fmt: skip
STAYS_OPEN = {"--period 1w": "--period 1w --dry-run"}
_SMALLER = {
    "--users 2000 --weeks 26": "--users 60 --weeks 2",
    "u0007": "u07",
    "--vocabulary everyday": "--vocabulary few.txt",
    "tokenize --size 2": "tokenize --size 0.01",
    "--topics 50": "--topics 8 --iterations 2",
}


def _examples(group: typer.Typer, before: str = "") -> Iterator[tuple[str, list[str]]]:
    for command in group.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "")
        written = _EXAMPLE.findall(getdoc(command.callback) or "")
        yield f"{before}{name}", [" ".join(line.split()) for line in written]
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        yield from _examples(inner.typer_instance, f"{before}{inner.name} ")


EXAMPLES = dict(_examples(app))


def test_every_command_has_an_example_that_is_run_or_parsed() -> None:
    assert sorted(EXAMPLES) == sorted(RUN + PARSED)
    assert all(EXAMPLES.values())


@pytest.mark.parametrize(
    ("sizes", "commands"),
    [
        (_SMALLER | STAYS_OPEN, RUN),
        pytest.param(STAYS_OPEN, (*RUN, "audit", "topics match"), marks=pytest.mark.long),
    ],
    ids=["smaller", "as written"],
)
def test_the_examples_run_one_after_the_other(
    run: Run,
    sizes: dict[str, str],
    commands: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tokenize, "REPEATS", 1)
    monkeypatch.setattr(tokenize, "TURNS_S", 0.0)
    monkeypatch.setattr(tokenize, "_SHORT_POSTS_USERS", 60)
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    monkeypatch.setattr("sottovoce.web.advise._app.serve", lambda *_where, **_how: None)
    write_own_export(tmp_path)
    Path("few.txt").write_text("sleep\nwork\nhome\ndoctor\n", encoding="utf-8")
    for command in commands:
        for line in EXAMPLES[command]:
            code, _, err = run(*_words(line, sizes))
            assert code == 0, (line, err)


def _words(line: str, sizes: dict[str, str]) -> list[str]:
    for written, instead in sizes.items():
        line = line.replace(written, instead)
    return [each for word in shlex.split(line) for each in sorted(glob.glob(word)) or [word]]  # noqa: PTH207 - as a shell does it


@pytest.mark.parametrize("command", PARSED)
def test_the_options_of_an_example_are_those_of_its_command(command: str) -> None:
    for line in EXAMPLES[command]:
        assert _parsed(line)


def test_the_commands_on_the_page_of_advise_have_options_that_there_are() -> None:
    """They stay open until they are stopped, or ask for a password."""
    page = Path(__file__).parents[2] / "docs" / "how-to" / "advise.md"
    lines = re.findall(r"^sottovoce (advise .+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(lines) > 3
    for line in lines:
        assert _parsed(line)


def _parsed(line: str) -> dict[str, Any]:
    found: Any = typer.main.get_command(app)
    words = shlex.split(line)
    while words and words[0] in getattr(found, "commands", {}):
        found = found.commands[words.pop(0)]
    return dict(found.make_context("sottovoce", words).params)
