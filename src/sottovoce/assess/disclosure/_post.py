"""A post and its sentences, made ready for rules: letters of words, roles of a topic's terms."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from sottovoce.assess.disclosure._context import (
    AUTHOR,
    FRAMES,
    KIN,
    ME,
    MY,
    OTHER,
    OTHERS,
    THEY,
    WORD_SETS,
    YOU,
    SentenceReading,
    read_sentence,
)
from sottovoce.assess.disclosure._terms import BARRED, CompiledPhrase, CompiledTopic
from sottovoce.assess.disclosure._tokens import sentences, without_quotations

_LETTERS = FRAMES.letters
_ADVERB, _THE, _IS = (_LETTERS[name] for name in ("adverb", "the", "is"))
_SMALL = f"[{_ADVERB}{_LETTERS['quality']}]*"
# "The seagulls are", "my sat nav has": what follows is said of a thing.
_THING = re.compile(
    f"[{MY}{_THE}]{_SMALL}[{OTHER}{_LETTERS['found']}][{OTHER}{_LETTERS['preposition']}{_THE}]{{0,3}}"
    f"[{_IS}{_LETTERS['has']}{_LETTERS['get']}]+[{OTHER}V]?{_SMALL}[{_THE}]?{_SMALL}$"
)
# "It's the cat's", "it's my best friend's".
_NOT_MINE = re.compile(
    f"(?:^|,)[{_ADVERB}{_LETTERS['and']}]*(?:{_LETTERS['it']}|{_THE})[{_IS}]"
    f"[{_ADVERB}{_THE}{MY}{_LETTERS['quality']}]*{KIN}{_LETTERS['of']}"
)
_BREAK = r"(?:$|, )"
_DENIED = re.compile(
    rf" (?:(?:not|never)\x01? (?:mine |me {_BREAK})|i\x01? do not\x01? have it {_BREAK}|"
    rf"i\x01? am not\x01? one (?:of them|myself|{_BREAK})|"
    rf"i\x01? have never\x01? had (?:it|one) {_BREAK})"
)


def is_news(reading: SentenceReading) -> bool:
    """Whether the sentence reports: it names no author, and has a word of the news."""
    return not reading.own and not WORD_SETS["news"].isdisjoint(reading.sentence.words)


def is_advice(reading: SentenceReading) -> bool:
    """Whether the sentence advises or greets: "Go to one meeting", "my tip for ..."."""
    words = reading.sentence.words
    if any(
        word in WORD_SETS["tips"] and words[k - 1 : k] == ["my"] for k, word in enumerate(words)
    ):
        return True
    if reading.own and YOU not in reading.letters:
        return False
    first = next((k for k, letter in enumerate(reading.letters) if letter != _ADVERB), 0)
    orders = words[first] in WORD_SETS["orders"] or words[first : first + 2] in (
        ["do", "not"],
        ["please", "do"],
        ["let", "us"],
    )
    return orders and not reading.own


def of_a_thing(letters: str) -> bool:
    """Whether ``letters``, which stand before a term, make a thing its subject."""
    return _THING.search(letters) is not None


def is_anothers(reading: SentenceReading) -> bool:
    """Whether the sentence says whose it is: not the author's."""
    return _NOT_MINE.search("".join(reading.letters)) is not None or bool(
        _DENIED.search(reading.text)
    )


_NEAR = 3
_AFTER_JOB = frozenset(
    (",", "here", "and", "for", "at", "in", "on", "of", "since", "who", "by", "speaking")
)
_JOB_ENDINGS = ("er", "or", "ist", "ian", "eer", "vet", "clerk", "academic")
_SHORTEST_JOB = 5
_AM = frozenset(("am", "was", "been", "be", "as"))
_LASTED = frozenset(("years", "decades", "year", "decade"))
_OFF = frozenset(("off", "of", "at", "from", "to", "my", "missed", "miss"))
_ONE = frozenset(("a", "an"))
_AT = frozenset(("at", "for", "with", "on"))
_SERVED = frozenset(("patient", "inpatient", "outpatient", "client", "regular", "user", "member"))
_OURS = frozenset(("our", "my"))


def is_professional(readings: list[SentenceReading]) -> bool:
    """Whether the author writes as somebody of a profession that meets such topics."""
    return any(
        " for a living " in reading.text
        or _profession(reading)
        or _in_care(reading)
        or _serves(reading)
        or _offers(reading)
        or _years_of_it(reading)
        for reading in readings
    )


def _profession(reading: SentenceReading) -> bool:
    """A profession that the author names as theirs: "Midwife here", "as a nurse", "I'm a GP"."""
    words, letters = reading.sentence.words, reading.letters
    for place, word in enumerate(words):
        if word not in WORD_SETS["professions"]:
            continue
        left = words[max(0, place - 5) : place]
        if any(letters[k] in (MY, THEY) for k in range(max(0, place - 3), place)):
            continue
        if place < _NEAR and (place + 1 == len(words) or words[place + 1] in _AFTER_JOB):
            return True
        if "as" in left or ("i" in left and not _AM.isdisjoint(left)):
            return True
    return False


def _serves(reading: SentenceReading) -> bool:
    """Whom the author serves: "I knit for patients"."""
    words = reading.sentence.words
    for place, word in enumerate(words):
        if word == "i":
            after = words[place + 1 : place + 8]
            if not WORD_SETS["served"].isdisjoint(after) and WORD_SETS["told"].isdisjoint(after):
                return True
    return False


def _in_care(reading: SentenceReading) -> bool:
    """Those in the author's care, or where the work is done: "my clients", "in my practice"."""
    letters, words = reading.letters, reading.sentence.words
    for place, word in enumerate(words):
        near = range(max(0, place - 2), place)
        if word in WORD_SETS["in_care"] and any(letters[k] == MY for k in near):
            return True
        if word in WORD_SETS["workplaces"] and words[max(0, place - 2) : place] == ["in", "my"]:
            return True
    return False


def _offers(reading: SentenceReading) -> bool:
    """A service that speaks of itself: "Our refuge has one free room"."""
    words, letters = reading.sentence.words, reading.letters
    if AUTHOR in letters or ME in letters:
        return False
    for place, word in enumerate(words[:-1]):
        if word in WORD_SETS["services"] and not _OURS.isdisjoint(words[:place][-4:]):
            return words[place + 1] in WORD_SETS["offers"]
    return False


def _years_of_it(reading: SentenceReading) -> bool:
    """Years of work: "fifteen years as a counsellor", "two decades of liver clinics"."""
    words = reading.sentence.words
    for place, word in enumerate(words):
        if word in _LASTED and not WORD_SETS["served_at"].isdisjoint(words[place + 1 : place + 6]):
            return True
    return False


def works_with(reading: SentenceReading, terms: Iterable[tuple[int, int]]) -> bool:
    """Whether the author says that they work with one of ``terms``, or where such work is done."""
    words = reading.sentence.words
    places = [first for first, _ in terms]
    if places and _has_job(reading, terms):
        return True
    for place, word in enumerate(words):
        if word == "i" and _works(words[place + 1 : place + 4]):
            if any(first in range(place + 2, place + 10) for first in places):
                return True
            if not WORD_SETS["institutions"].isdisjoint(words[place + 2 : place + 9]):
                return True
    return False


def _works(after: list[str]) -> bool:
    """Whether the words after "I" hold a verb of work; "I was off work" and "I don't" hold none."""
    off = any(word == "work" and before in _OFF for before, word in pairwise(after))
    return not (off or "not" in after or WORD_SETS["work"].isdisjoint(after))


def _has_job(reading: SentenceReading, terms: Iterable[tuple[int, int]]) -> bool:
    """Whether some job is named as the author's in this sentence: "as a driving examiner I ..."."""
    words, letters = reading.sentence.words, reading.letters
    named = {k for first, last in terms for k in range(first, last)}
    for place, word in enumerate(words):
        if letters[place] != OTHER or place in named or not _is_job(word):
            continue
        left = words[max(0, place - 5) : place]
        said = "as" in left and "i" in words[place:]
        said = said or ("i" in left and not _AM.isdisjoint(left))
        if said and not _ONE.isdisjoint(left):
            return True
    return _at_a_service(words)


def _at_a_service(words: list[str]) -> bool:
    """Whether the author is something at a place of such work: "I was an escort at a clinic"."""
    for place, word in enumerate(words):
        if word in _AM and words[place + 1 : place + 2] in (["a"], ["an"], ["the"]):
            after = words[place + 2 : place + 10]
            held = not _AT.isdisjoint(after) and not WORD_SETS["services"].isdisjoint(after)
            if held and "i" in words[max(0, place - 3) : place] and _SERVED.isdisjoint(after):
                return True
    return False


def _is_job(word: str) -> bool:
    return (
        len(word) >= _SHORTEST_JOB
        and word.endswith(_JOB_ENDINGS)
        and word not in WORD_SETS["not_jobs"]
    )


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
        return [read_sentence(each, self.written) for each in sentences(own, self.mended)]

    @cached_property
    def spoken(self) -> list[str]:
        """Its sentences as text; one that has lost its "I" is read as if it had it."""
        return [f" i{BARRED}" * each.is_elided + each.text for each in self.readings]

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
        return [read_sentence(each, self.written) for each in sentences(whole, self.mended)]

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
        return any(reading.own or reading.is_elided for reading in self.readings)

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
