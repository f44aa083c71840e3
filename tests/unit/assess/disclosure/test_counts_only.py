"""Over a community disclosure is counts: no table of ranks or alerts has it."""

import ast
from pathlib import Path

import sottovoce
from sottovoce.assess.alerts import CHANGES, MEMBERS
from sottovoce.assess.ranking import RANKS

COMMANDS = Path(sottovoce.__file__).parent / "cli"


def test_of_all_commands_explain_and_a_report_s_counts_alone_read_what_posts_say() -> None:
    """One is about a user's posts, which whoever runs it has; the other counts over all posts."""
    reading = {
        str(file.relative_to(COMMANDS))
        for file in COMMANDS.rglob("*.py")
        if "disclosure" in file.read_text(encoding="utf-8")
    }
    assert reading == {"explain.py", "_community_report.py"}


def test_what_a_community_s_report_reads_of_posts_is_counts() -> None:
    source = (COMMANDS / "_community_report.py").read_text(encoding="utf-8")
    imported = [
        name.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and "disclosure" in (node.module or "")
        for name in node.names
    ]
    assert imported == ["disclosure_counts"]


def test_what_names_users_has_columns_of_rank_and_no_other() -> None:
    assert RANKS.names == ["measure", "user", "topic", "score", "rank", "band"]
    assert MEMBERS.names == ["measure", "topic", "percent", "user"]
    assert CHANGES.names == [*MEMBERS.names, "entered"]
