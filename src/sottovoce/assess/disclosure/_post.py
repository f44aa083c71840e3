"""A post and its sentences, made ready for rules: letters of words, roles of a topic's terms."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from sottovoce.assess.disclosure._context import (
    AUTHOR,
    KIN,
    OTHERS,
    THEY,
    YOU,
    SentenceReading,
    reading_of,
)
from sottovoce.assess.disclosure._genres import is_anothers
from sottovoce.assess.disclosure._terms import BARRED, CompiledPhrase, CompiledTopic
from sottovoce.assess.disclosure._tokens import sentences, without_quotations
from sottovoce.assess.disclosure._work import is_professional

ROLE_LETTERS = frozenset("SMCTA")
# Verbs of statements about the world.
ARE = frozenset(("is", "are", "was", "were", "has", "have", "will", "should", "could"))


class RuleMatch(NamedTuple):
    """Words from ``first`` up to ``last`` that say it, or why they do not."""

    first: int
    last: int
    rule: str
    refused: str


class Marked(NamedTuple):
    """A sentence in letters, with the roles of one topic's terms; a term is one letter."""

    letters: str
    places: list[tuple[int, int]]
    """The words of each letter."""
    terms: list[tuple[int, int]]


@dataclass(eq=False)
class ReadPost:
    """A post, made ready for any topic."""

    text: str
    """In lower case."""
    written: str
    """As it was written."""
    mended: Mapping[str, str]
    """What misspelt words of it mean."""
    professional: bool = False
    """Whether the topic at hand is the author's work; set for each topic."""
    has_terms: bool = True
    """Whether it may have a term of the topic at hand, and not phrases only; set for each topic."""
    marks: dict[tuple[int, int], Marked] = field(default_factory=dict)

    def mark(self, reading: SentenceReading, topic: CompiledTopic) -> Marked:
        """A sentence of it with the roles of the topic's terms; worked out once."""
        if not self.has_terms:
            return Marked("".join(reading.letters), [], [])
        key = id(reading), id(topic)
        if key not in self.marks:
            self.marks[key] = mark(reading, topic)
        return self.marks[key]

    @cached_property
    def readings(self) -> list[SentenceReading]:
        own = without_quotations(self.text)
        return [reading_of(each, self.written) for each in sentences(own, self.mended)]

    @cached_property
    def spoken(self) -> list[str]:
        """Its sentences as text; one that has lost its "I" is read as if it had it."""
        return [f" i{BARRED}" * each.elided + each.text for each in self.readings]

    def has(self, phrase: CompiledPhrase) -> bool:
        """Whether a phrase stands in it, whoever is meant."""
        search = phrase.pattern.search
        return any(search(text) for text in self.spoken)

    @cached_property
    def all_readings(self) -> list[SentenceReading]:
        """Quotations included: what a post is about, it may also quote."""
        whole = self.text.replace(">", " ")
        if whole == without_quotations(self.text):
            return self.readings
        return [reading_of(each, self.written) for each in sentences(whole, self.mended)]

    @cached_property
    def quotes(self) -> bool:
        """Whether it quotes others."""
        return any("Q" in reading.letters for reading in self.readings)

    @cached_property
    def has_profession(self) -> bool:
        """Whether the author writes as somebody of a profession that meets such topics."""
        return is_professional(self.readings)

    @cached_property
    def anothers(self) -> bool:
        """Whether it says that what it speaks of is somebody else's: "it's the cat's"."""
        return any(is_anothers(reading) for reading in self.readings)

    @cached_property
    def own(self) -> bool:
        """Whether the author is named in it, or has left out "I"."""
        return any(reading.own or reading.elided for reading in self.readings)

    @cached_property
    def casual(self) -> bool:
        """Whether it begins with a small letter, as notes about oneself do and news do not."""
        return self.written.lstrip()[:1].islower()

    @cached_property
    def nobody(self) -> bool:
        """Whether no person at all is named in it."""
        return all(OTHERS.isdisjoint(reading.letters) for reading in self.readings)


def mark(reading: SentenceReading, topic: CompiledTopic) -> Marked:
    """The sentence with the roles of the topic's terms."""
    words, letters = reading.sentence.words, reading.letters
    if topic.terms.keys().isdisjoint(words):
        return Marked("".join(letters), [], [])
    marked: list[str] = []
    places: list[tuple[int, int]] = []
    terms: list[tuple[int, int]] = []
    place = 0
    while place < len(words):
        length, role = _term_at(words, place, topic)
        if length:
            terms.append((place, place + length))
        length = length or 1
        marked.append(role or letters[place])
        places.append((place, place + length))
        place += length
    return Marked("".join(marked), places, terms)


def _term_at(words: list[str], place: int, topic: CompiledTopic) -> tuple[int, str]:
    for form, role in topic.terms.get(words[place], ()):
        if tuple(words[place : place + len(form)]) == form:
            return len(form), role
    return 0, ""


def words_of_match(marked: Marked, match: re.Match[str], shift: int) -> tuple[int, int, int]:
    """The first word, the first one of the term, and the one after the last."""
    first, last = max(match.start() - shift, 0), max(match.end() - shift, 1)
    # A rule may look one letter past the term; what follows a term is looked at from its end.
    while last - 1 > first and marked.letters[last - 1] not in ROLE_LETTERS:
        last -= 1
    return marked.places[first][0], *marked.places[last - 1]


def about_others(post: ReadPost, marked: Marked, place: int, reading: SentenceReading) -> bool:
    """Whether a sentence without a subject is about whom it, or the one before, names."""
    if not reading.own and not {YOU, THEY}.isdisjoint(marked.letters):
        return True
    before = post.readings[place - 1] if place else None
    others = {KIN, THEY}
    return (
        before is not None
        and not others.isdisjoint(before.letters)
        and AUTHOR not in before.letters
    )
