"""Whether the author writes as somebody whose work it is: of others, then, not of themselves."""

from collections.abc import Iterable
from itertools import pairwise

from sottovoce.assess.disclosure._context import (
    AUTHOR,
    ME,
    MY,
    OTHER,
    THEY,
    WORD_SETS,
    SentenceReading,
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
