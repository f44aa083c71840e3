"""Write tests/help.txt: the help of every command, as a terminal of 80 columns shows it.

Run it when a command or its help has changed, and read what changed: `git diff tests/help.txt`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import typer
from typer.testing import CliRunner

from sottovoce.cli._app import app

FILE = Path(__file__).parents[1] / "tests" / "help.txt"
COLUMNS = 80
BEGINS = "$ sottovoce"


def paths(group: typer.Typer, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of the program, of each group and of each command."""
    yield before
    for command in group.registered_commands:
        yield (*before, str(command.name or getattr(command.callback, "__name__", "")))
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            yield from paths(inner.typer_instance, (*before, str(inner.name)))


def shown(path: tuple[str, ...]) -> str:
    """The help of one command, without blanks at the ends of lines."""
    narrow = {"COLUMNS": str(COLUMNS), "NO_COLOR": "1"}
    said = CliRunner().invoke(app, [*path, "--help"], prog_name="sottovoce", env=narrow)
    if said.exit_code != 0:
        raise RuntimeError(f"{' '.join(path)} --help ended with {said.exit_code}")
    return trimmed(said.output)


def trimmed(text: str) -> str:
    """A text without blanks at the ends of lines, and without empty lines around it."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n") + "\n"


def written() -> dict[str, str]:
    """What the file holds, by the command's words."""
    parts = re.split(rf"(?m)^{re.escape(BEGINS)}(.*) --help\n", FILE.read_text("utf-8"))
    held = zip(parts[1::2], parts[2::2], strict=True)
    return {words.strip(): trimmed(text) for words, text in held}


def main() -> None:
    """Write all of it."""
    parts = (f"{' '.join([BEGINS, *path])} --help\n{shown(path)}" for path in paths(app))
    FILE.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
