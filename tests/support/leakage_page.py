"""The generated page of who learns what, read as a user reads it."""

import re
from pathlib import Path

from sottovoce.learn.wire.message import Leakage

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "reference" / "learn-leakage.md"
LINK = "](../reference/learn-leakage.md"


Rows = dict[str, set[str]]
"""The parts of what each party learns."""


def rows_of(table: str, like: Rows) -> Rows:
    """What each party learns, by a table's rows; ``as there`` is what it learns in another."""
    found = re.findall(r"^\| (.+?) \| (.+) \|$", table, re.MULTILINE)
    return {who: parts_of(what.split("; "), like.get(who, set())) for who, what in found}


def parts_of(told: list[str], there: set[str]) -> set[str]:
    """What a row tells; ``as there, but not X`` is what ``there`` has without a part of it."""
    named = re.fullmatch(r"as there(?:, but not (.+))?", told[0])
    if named is None:
        return set(told)
    gone = {named[1]} - {None}
    assert gone <= there
    return there - gone | set(told[1:])


def shown_tables() -> list[Rows]:
    """Every table of the page, with the rows of the one that it is otherwise like."""
    shown: dict[str, Rows] = {}
    for section in re.split(r"^###? ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        named = re.search(r"^Otherwise as \*(.+)\*\.$", section, re.MULTILINE)
        like = shown[named[1]] if named else {}
        shown[section.splitlines()[0].replace("`", "")] = like | rows_of(section, like)
    return list(shown.values())


def is_shown(leakage: Leakage) -> bool:
    """Whether the page has a table with exactly these rows."""
    return rows_of(leakage.table(), {}) in shown_tables()
