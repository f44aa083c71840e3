"""What posts say of a topic, whatever others write: the signal that stands beside the rank.

A rank tells how soon somebody who orders everybody comes to a person. What a post says outright it
says to each of its readers, and no crowd hides it.
"""

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

from sottovoce.advisor._person_values import Post
from sottovoce.topics._catalogue import Catalogue


class Level(IntEnum):
    """How plainly a post speaks of a topic, whatever others write."""

    NONE = 0
    ABOUT = 1
    OUTRIGHT = 2


class Disclosure(NamedTuple):
    """What one post says of one topic; ``spans``: where the telling words stand in its text."""

    topic: str
    level: Level
    spans: tuple[tuple[int, int], ...]


class DisclosureReader:
    """Reads posts for the words of a catalogue's sensitive topics."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._patterns = {
            topic.name: re.compile(
                r"\b(?:" + "|".join(re.escape(word) for word in topic.words) + r")\b", re.IGNORECASE
            )
            for topic in catalogue.sensitive
        }

    def read(self, text: str) -> list[Disclosure]:
        """What ``text`` says of each topic that it is about."""
        found = {name: _spans(pattern, text) for name, pattern in self._patterns.items()}
        return [Disclosure(name, Level.ABOUT, spans) for name, spans in found.items() if spans]


def _spans(pattern: re.Pattern[str], text: str) -> tuple[tuple[int, int], ...]:
    return tuple(match.span() for match in pattern.finditer(text))


@dataclass(frozen=True)
class Said:
    """What a person's posts say of one topic, and how much was read to find it.

    ``outright``: the ids of posts that say it of their author; ``about``: those that speak of the
    topic without saying so; both in the order of their times.
    """

    topic: str
    outright: tuple[int, ...]
    about: tuple[int, ...]
    posts: int
    words: int

    @property
    def level(self) -> Level:
        """How plainly the plainest post speaks."""
        if self.outright:
            return Level.OUTRIGHT
        return Level.ABOUT if self.about else Level.NONE


@dataclass(frozen=True, eq=False)
class SaidByPosts:
    """What each of some posts says of each topic of a catalogue; read when it is first asked."""

    reader: DisclosureReader
    posts: tuple[Post, ...]

    @cached_property
    def _by_post(self) -> dict[int, dict[str, Disclosure]]:
        found = {post.id: self.reader.read(post.text) for post in self.posts}
        return {number: {each.topic: each for each in told} for number, told in found.items()}

    @cached_property
    def words(self) -> int:
        """How many words were read."""
        return sum(len(post.text.split()) for post in self.posts)

    def of_post(self, number: int, topic: str) -> Disclosure | None:
        """What one post says of a topic; None where it has no word of it."""
        return self._by_post[number].get(topic)

    def of_topic(self, topic: str) -> Said:
        """What all of them say of a topic."""
        told = [
            (number, each[topic].level) for number, each in self._by_post.items() if topic in each
        ]
        outright = tuple(number for number, level in told if level is Level.OUTRIGHT)
        about = tuple(number for number, level in told if level is Level.ABOUT)
        return Said(topic, outright, about, len(self.posts), self.words)
