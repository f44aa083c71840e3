"""What a post says about a topic: how plainly, by which words."""

from enum import IntEnum
from typing import NamedTuple


class DisclosureLevel(IntEnum):
    """How plainly a post speaks of a topic, whatever others write.

    >>> DisclosureLevel.ABOUT < DisclosureLevel.OUTRIGHT
    True
    """

    NONE = 0
    """None of the topic's words is in the post."""
    ABOUT = 1
    """The topic's words are there, but nothing says that they are true of the author."""
    OUTRIGHT = 2
    """The post says of its author that the topic applies to them, now or in the past."""

    @property
    def words(self) -> str:
        """The level as people read it."""
        return ("says nothing of it", "is about it", "says it outright")[self]


class Disclosure(NamedTuple):
    """What one post says about one topic.

    >>> Disclosure("debt", DisclosureLevel.OUTRIGHT, ((0, 9),), "phrase").level.words
    'says it outright'
    """

    topic: str
    level: DisclosureLevel
    spans: tuple[tuple[int, int], ...]
    """Where the telling words stand in the text: characters from, up to; in order."""
    rule: str
    """By which rule it is outright, or why it is not ("negation", say); "" when only words are."""
