"""Help shows commands in groups, in the order of work."""

import re

from typer.main import get_command
from typer.testing import CliRunner

from sottovoce.cli._app import GROUPS, app


def test_every_command_is_in_one_group() -> None:
    grouped = [name for names in GROUPS.values() for name in names]
    assert len(grouped) == len(set(grouped))
    assert set(grouped) == set(getattr(get_command(app), "commands", {}))


def test_help_shows_the_groups_in_the_order_of_work() -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80"}).output
    panels = re.findall(r"╭─ (\w+) ─", shown)
    assert panels == ["Options", *GROUPS]
    named = re.findall(r"│ ([a-z]+(?:-[a-z]+)?) {2,}\S", shown)
    assert named == [name for names in GROUPS.values() for name in names]
