"""Thousands of made-up headers: a guess with its reason, or a question; never a wrong one."""

import random
import re

import pytest

from sottovoce.corpus.read.guess import ROLES, guess_columns, named_for
from sottovoce.corpus.read.tally import ColumnSample
from sottovoce.errors import CorpusError, UnclearColumnsError

SURE = {
    "user": ("author", "UserName", "user_id", "Screen Name", "member", "autor"),
    "time": ("created_at", "Date", "timestamp", "postedAt", "created_utc", "fecha"),
    "text": ("body", "Message", "content", "full_text", "comment", "texto"),
}
OTHERS = (
    "id",
    "colour",
    "score",
    "url",
    "x1",
    "",
    "likes",
    "language",
    "n/a",
    "Größe",
    "a,b",
    "  ",
)
WORDS = "the a sea loan went home again winter bank letter two days and my sister".split()  # noqa: SIM905 - readable


def values(kind: str, rng: random.Random, rows: int) -> tuple[str, ...]:
    """What stands in a column of this kind."""
    if kind == "user":
        return tuple(f"u{rng.randrange(5)}" for _ in range(rows))
    if kind == "time":
        return tuple(f"2024-0{rng.randint(1, 9)}-1{rng.randrange(9)} 10:00:00" for _ in range(rows))
    if kind == "text":
        return tuple(" ".join(rng.choices(WORDS, k=rng.randint(6, 20))) for _ in range(rows))
    if kind == "number":
        return tuple(str(rng.randrange(1000)) for _ in range(rows))
    return tuple(rng.choice(("red", "blue", "")) for _ in range(rows))


def header(rng: random.Random) -> tuple[list[ColumnSample], dict[str, str]]:
    """Columns in any order, and the truth: what kind each is."""
    kinds = [kind for role in ROLES for kind in [role] * rng.choice((0, 1, 1, 1, 2))]
    kinds += rng.choices(("number", "category"), k=rng.randrange(4))
    rng.shuffle(kinds)
    rows = rng.randint(4, 9)
    columns = []
    for place, kind in enumerate(kinds):
        known = kind in ROLES and rng.random() < 0.7
        name = rng.choice(SURE[kind]) if known else rng.choice(OTHERS)
        columns.append(ColumnSample(place, name, values(kind, rng, rows)))
    return columns, {str(column.key): kind for column, kind in zip(columns, kinds, strict=True)}


def check(seed: int) -> str:
    """That one header is understood or asked about; which of the two."""
    columns, truth = header(random.Random(seed))
    found = asked = None
    try:
        found = guess_columns(columns, ROLES)
    except UnclearColumnsError as question:
        asked = str(question)
    if found is None:
        assert re.search("Which one is it.*--fields", str(asked))
        assert not _clear(columns, truth), (seed, asked)
        return "asked"
    keys = [column.key for column in found.columns.values()]
    assert len(set(keys)) == len(ROLES)
    for role, column in found.columns.items():
        assert truth[str(column.key)] == role, (seed, role)
        assert found.reasons[role]
    return "guessed"


def _clear(columns: list[ColumnSample], truth: dict[str, str]) -> bool:
    """Whether each role has just one column, and that has a name which says so."""
    named = {role: [c for c in columns if truth[str(c.key)] == role] for role in ROLES}
    return all(len(held) == 1 and named_for(held[0].name, role) > 1 for role, held in named.items())


def test_no_header_is_guessed_wrong_or_refused_without_need() -> None:
    outcomes = [check(seed) for seed in range(300)]
    assert 50 < outcomes.count("guessed") < 250


@pytest.mark.long
def test_no_header_of_ten_thousand_is_guessed_wrong() -> None:
    for seed in range(300, 10_300):
        check(seed)


def test_a_file_without_columns_is_a_question() -> None:
    with pytest.raises(CorpusError, match="there is none"):
        guess_columns([], ROLES)
