"""Disclosure is no tool for outing: nothing of it stands by user in what ``assess`` gives out."""

import ast
from pathlib import Path

import sottovoce
from sottovoce.assess.alerts import CHANGES, MEMBERS
from sottovoce.assess.disclosure.disclosures import TopicCounts, disclosure_counts
from sottovoce.assess.ranking import RANKS

SOURCE = Path(sottovoce.__file__).parent
COMMANDS = SOURCE / "cli"
# Which rooms may read what a post says: those that show one's own posts to oneself.
OWN_POSTS = ("advisor", "web", "assess/disclosure", "lab")


def imports_of(file: Path) -> set[str]:
    """The modules that a file imports, if it speaks of disclosure at all."""
    written = file.read_text(encoding="utf-8")
    if "disclosure" not in written:
        return set()
    tree = ast.parse(written)
    return {
        node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and not _for_types(tree, node)
    }


def _for_types(tree: ast.Module, node: ast.ImportFrom) -> bool:
    guards = [each for each in tree.body if isinstance(each, ast.If)]
    return any(node in each.body for each in guards)


def test_no_room_that_ranks_or_writes_ranks_reads_what_posts_say() -> None:
    rooms = ("assess", "cluster", "loop", "report", "federation", "release", "learn")
    found = [
        str(file.relative_to(SOURCE))
        for room in rooms
        for file in (SOURCE / room).rglob("*.py")
        if not str(file.relative_to(SOURCE)).startswith(OWN_POSTS)
        and any("assess.disclosure" in module for module in imports_of(file))
    ]
    assert found == []


def test_counts_over_a_community_have_no_place_for_a_user() -> None:
    assert TopicCounts._fields == ("topic", "about", "outright")
    counts = disclosure_counts(["I'm in debt, says user-7f3a."])
    assert "7f3a" not in repr(counts)


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
