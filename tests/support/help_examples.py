"""The examples in the help of commands, and the stories in which tests run them as they stand."""

import glob
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from inspect import getdoc
from pathlib import Path
from typing import Any

import typer

from sottovoce.cli._app import app
from support.tools import loaded_tool
from support.warm_python import WarmPopen

Run = Callable[..., tuple[int, str, str]]
_EXAMPLE = re.compile(r"Example: sottovoce (.+?)(?:\n\n|\Z)", re.DOTALL)
_STOP_S = 60

# In this order each finds what those before it made.
COMMUNITY = (
    "simulate", "describe", "count", "assess", "evaluate", "explain", "alerts", "forget", "release",
    "ledger show", "analyse", "audit", "statement", "topics list", "topics train",
    "topics show",
    "topics catalogue", "topics match", "topics import", "bench", "study",
)  # fmt: skip
JUDGES = (
    "topics judge export", "topics judge agreement", "topics judge import",
    "topics judge export-profiles", "topics judge import-profiles",
)  # fmt: skip
SERVERS = ("rank-server", "rank-edges", "advise")
TRIAL = (
    "learn init", "learn coordinator", "learn keyholder", "learn intermediary", "learn peer",
    "learn train", "learn evaluate", "learn count", "learn status", "learn classify",
    "learn transcript", "learn approve", "learn topics", "learn audit",
)  # fmt: skip
JOINING = (
    "learn new", "learn invite", "learn join", "learn admit", "learn roster", "learn renew",
    "learn rotate", "learn remove", "learn move",
)  # fmt: skip
STORIES = {
    "community": COMMUNITY,
    "judges": JUDGES,
    "servers": SERVERS,
    "trial": TRIAL,
    "joining": JOINING,
    "lost": ("ledger forget-place", "ledger move"),
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


@cache
def _program() -> Any:  # noqa: ANN401 - of Typer's own parts
    return typer.main.get_command(app)


def parsed(line: str) -> dict[str, Any]:
    """What a command is given by a line, which is refused where it has no such option."""
    found = _program()
    words = shlex.split(line, comments=True)
    while words and words[0] in getattr(found, "commands", {}):
        found = found.commands[words.pop(0)]
    return dict(found.make_context("sottovoce", words).params)


class Story:
    """Some commands' examples, one after the other in the folder of the moment.

    ``instead`` says what is typed in place of what stands there: sizes that a test can afford, and
    what each reader has of their own (addresses, tokens).
    """

    def __init__(self, name: str, run: Run, instead: Mapping[str, str] | None = None) -> None:
        self.run, self.instead = run, dict(instead or {})
        self._left = dict.fromkeys(STORIES[name])

    def typed(self, command: str, **own: str) -> str:
        """Run all examples of a command; what they print."""
        self._left.pop(command, None)
        return "".join(self.ran(line, **own) for line in EXAMPLES[command])

    def ran(self, line: str, **own: str) -> str:
        """Run a line in this story; what it prints."""
        return ran(self.run, line, {**self.instead, **own})

    @contextmanager
    def started(self, command: str, more: str = "", **own: str) -> Iterator[str]:
        """Start what stays until it is stopped; its first line. It is ended with the block."""
        self._left.pop(command, None)
        (line,) = EXAMPLES[command]
        with kept_running(f"{line} {more}", {**self.instead, **own}) as first:
            yield first

    def end(self) -> None:
        """Every command of the story has been run."""
        assert list(self._left) == []


def ran(run: Run, line: str, instead: Mapping[str, str] | None = None) -> str:
    """Run a line, of help or of a page, with some of it replaced; what it prints."""
    code, out, err = run(*_words(line, instead or {}))
    assert code == 0, (line, err)
    return out


def _words(line: str, replaced: Mapping[str, str]) -> list[str]:
    """A line as a shell takes it apart."""
    for written, instead in replaced.items():
        line = line.replace(written, instead)
    typed = shlex.split(line, comments=True)
    return [each for word in typed for each in sorted(glob.glob(word)) or [word]]  # noqa: PTH207 - as a shell does it


@contextmanager
def kept_running(line: str, instead: Mapping[str, str] | None = None) -> Iterator[str]:
    """A command that stays until it is stopped; its first line. It is ended with the block."""
    command = [sys.executable, "-m", "sottovoce.cli", *_words(line, instead or {})]
    quiet: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with WarmPopen(command, **quiet) as process:
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            yield first or process.communicate()[1]
        finally:
            process.terminate()
            process.communicate(timeout=_STOP_S)


def address_in(line: str) -> str:
    """Where a page or server says that it is."""
    found = re.search(r"http://\S+", line)
    assert found, line
    return found[0]


def answer_sheets(pattern: str) -> None:
    """Answer every row of the judges' sheets whose names are such."""
    loaded_tool("golden_steps").answer_sheets(sorted(Path().glob(pattern)))
