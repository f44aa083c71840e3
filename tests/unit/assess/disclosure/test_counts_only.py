"""Over a community disclosure is counts: no table of ranks, alerts or the operator's has it."""

from pathlib import Path

import sottovoce
from sottovoce.assess._alerts import CHANGES, MEMBERS
from sottovoce.assess._ranking import RANKS
from sottovoce.web.advise._routes.operator import COLUMNS

COMMANDS = Path(sottovoce.__file__).parent / "cli"


def test_of_all_commands_explain_alone_reads_what_posts_say() -> None:
    """It is about one user's posts, which whoever runs it has."""
    reading = [
        str(file.relative_to(COMMANDS))
        for file in COMMANDS.rglob("*.py")
        if "disclosure" in file.read_text(encoding="utf-8")
    ]
    assert reading == ["explain.py"]


def test_what_names_users_has_columns_of_rank_and_no_other() -> None:
    assert RANKS.names == ["measure", "user", "topic", "score", "rank", "band"]
    assert MEMBERS.names == ["measure", "topic", "percent", "user"]
    assert CHANGES.names == [*MEMBERS.names, "entered"]
    assert COLUMNS == ["rank", "user", "score", "band"]
