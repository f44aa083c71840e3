"""Communities whose people write sentences: afflicted, professional, supporter, curious, bystander.

Half of the sentences of each kind and topic are for posts, the other half for the adversary's
background, so that no text is in both.
"""

import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

import pyarrow as pa

from sottovoce.advisor._demo_posts import IN_PASSING, INTERESTS, ROLES, everyday, filled, sentences
from sottovoce.corpus._schema import POSTS

BYSTANDER = "bystander"
PERSONAS = (*ROLES, BYSTANDER)
MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
OF_POSTS, OF_BACKGROUND = 0, 1
FEWEST, MOST = 4, 60


@dataclass(frozen=True)
class PersonaMember:
    """Somebody, and what they have to do with which topic."""

    name: str
    topic: str
    persona: str


@dataclass(frozen=True, eq=False)
class PersonaCommunity:
    """Everybody's posts, and who they are."""

    posts: pa.Table
    members: tuple[PersonaMember, ...]


def persona_community(
    topics: Sequence[str], *, users: int, weeks: int, seed: int
) -> PersonaCommunity:
    """So many people, a few of each kind for each topic; the others are bystanders."""
    rng = random.Random(seed)  # noqa: S311 - a made-up community, the same each time
    cast = [(topic, role) for topic in topics for role in ROLES for _ in range(ROLES[role][0])]
    cast = (cast + [("", BYSTANDER)] * users)[:users]
    rng.shuffle(cast)
    members = tuple(PersonaMember(f"u{at:04}", *who) for at, who in enumerate(cast))
    rows = [
        (member.name, MONDAY + timedelta(minutes=rng.randrange(weeks * 7 * 24 * 60)), text)
        for member in members
        for text in _texts(member, rng)
    ]
    rows.sort(key=lambda row: (row[1], row[0]))
    columns = [list(column) for column in zip(*rows, strict=True)]
    return PersonaCommunity(pa.table(columns, schema=POSTS), members)


def persona_background(topics: Sequence[str], documents: int, seed: int) -> list[str]:
    """Texts of the same world by nobody in particular, of sentences that no post has."""
    rng = random.Random(seed)  # noqa: S311 - as above
    found = []
    for number in range(documents):
        topic = topics[number % len(topics)]
        role = list(ROLES)[number // len(topics) % len(ROLES)]
        lines = [*_drawn(lines_of(topic, role, OF_BACKGROUND), 3, rng), *_plain(2, rng)]
        found.append(" ".join(_filled(line, topic, rng) for line in lines))
    return found


def lines_of(topic: str, role: str, part: int) -> list[str]:
    """What people of that kind write about the topic, in posts or in the background."""
    lines = [*sentences()[topic][role], *_read()["role"][role]]
    return lines[part::2]


def known_topics(topics: Sequence[str]) -> list[str]:
    """Those for which there are sentences."""
    return [topic for topic in topics if topic in sentences() and topic in _read()["things"]]


@cache
def _read() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("sentences.toml").read_text("utf-8"))


def _texts(member: PersonaMember, rng: random.Random) -> list[str]:
    count = max(FEWEST, min(MOST, round(rng.lognormvariate(2.8, 0.7))))
    topical = 0
    if member.persona in ROLES:
        topical = max(2, round(ROLES[member.persona][1] * count))
    lines = (
        _drawn(lines_of(member.topic, member.persona, OF_POSTS), topical, rng) if topical else []
    )
    texts = [_filled(line, member.topic, rng) for line in lines]
    texts += [_in_passing(rng) for _ in range(count - topical) if rng.random() < IN_PASSING]
    return texts + [filled(line, rng) for line in _plain(max(0, count - len(texts)), rng)]


def _in_passing(rng: random.Random) -> str:
    topic = rng.choice(sorted(_read()["things"]))
    return _filled(rng.choice(lines_of(topic, "curious", OF_POSTS)), topic, rng)


def _plain(count: int, rng: random.Random) -> list[str]:
    interests = rng.sample(sorted(everyday()), INTERESTS)
    return _drawn([line for name in interests for line in everyday()[name]], count, rng)


def _drawn(lines: Sequence[str], count: int, rng: random.Random) -> list[str]:
    """All lines once before any comes again."""
    found: list[str] = []
    while len(found) < count:
        found += rng.sample(list(lines), min(len(lines), count - len(found)))
    return found


def _filled(line: str, topic: str, rng: random.Random) -> str:
    return filled(line.replace("{thing}", rng.choice(_read()["things"][topic])), rng)
