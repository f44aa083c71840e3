"""Why a sentence that fits a rule says nothing of its author after all."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from sottovoce.assess.disclosure._frames import load_frames, table
from sottovoce.assess.disclosure._terms import BARRED
from sottovoce.assess.disclosure._tokens import QUOTE, Sentence

_LISTS = {name: str(words) for name, words in table("contexts.toml").items()}
_SETS = {name: frozenset(words.split()) for name, words in _LISTS.items()}
_NOT_DENIED = tuple(tuple(each.split()) for each in _LISTS["not_denied"].split(",") if each.split())
_FRAMES = load_frames()
_LETTERS = _FRAMES.letters
AUTHOR, MY, ME, YOU = (_LETTERS[name] for name in ("i", "my", "me", "you"))
THEY, KIN, NOT, IF, WOULD = (_LETTERS[name] for name in ("they", "kin", "not", "if", "would"))
_ADVERB, _THE, _AND = (_LETTERS[name] for name in ("adverb", "the", "and"))
_BARRED = frozenset({AUTHOR, YOU, THEY, KIN, NOT, IF, WOULD})
OTHERS = frozenset({YOU, THEY, KIN})
OWN = frozenset({AUTHOR, MY, ME})
OTHER, DOING = "_", "V"
_NEAR = 3
_AFTER_JOB = frozenset(
    (",", "here", "and", "for", "at", "in", "on", "of", "since", "who", "by", "speaking")
)
_IT = (["it"], ["that"], ["this"])
_STORY = re.compile(
    r" in (?:the|a|my|this|that|our) (?:\S+ )?"
    r"(?:film|play|novel|musical|show|game|dream|story|panto|soap|book)\W? "
)
_LONG = 4
_AFTER_NAME = frozenset(("'s", "is", "has", "was", "had", "got", "says", "said", "told", "takes"))


@dataclass(frozen=True, eq=False)
class SentenceReading:
    """A sentence and the letters of its words."""

    sentence: Sentence
    letters: list[str]

    @cached_property
    def text(self) -> str:
        """The words with a blank before and after each, marked where no gap may hold them."""
        pairs = zip(self.sentence.words, self.letters, strict=True)
        return " " + "".join(f"{w}{BARRED if a in _BARRED else ''} " for w, a in pairs)

    @cached_property
    def word_set(self) -> frozenset[str]:
        """Its words, and "i", which it may have lost."""
        return frozenset((*self.sentence.words, "i"))

    @cached_property
    def elided(self) -> bool:
        """Whether the sentence begins with a verb that has lost its "I"."""
        words = self.sentence.words
        first = next((k for k, a in enumerate(self.letters) if a not in (_ADVERB, _AND)), None)
        if first is None or not _lost_i(words[first]):
            return False
        following = self.letters[first + 1 : first + 2]
        return not following or following[0] not in (AUTHOR, YOU, THEY, KIN)

    @cached_property
    def own(self) -> bool:
        """Whether the author is named in it."""
        return any(letter in OWN for letter in self.letters)


def _lost_i(word: str) -> bool:
    verb = len(word) > _LONG and word.endswith(("ed", "ing"))
    return verb or word in _SETS["without_i"]


def reading_of(sentence: Sentence, written: str) -> SentenceReading:
    """The letters of a sentence's words; negations that deny nothing are read as adverbs.

    A word with a capital letter before a verb, as in "Dave has", is somebody's name.
    """
    known = _FRAMES.letter_of
    letters = [known.get(word) or _unknown(word) for word in sentence.words]
    for place in range(len(letters) - 1):
        if letters[place] == OTHER and sentence.words[place + 1] in _AFTER_NAME:
            start = sentence.spans[place][0]
            if (
                written[start : start + 1].isupper()
                and not written[start + 1 : start + 2].isupper()
            ):
                letters[place] = KIN
    if NOT in letters or "but" in sentence.words:
        _read_over(sentence.words, letters)
    return SentenceReading(sentence, letters)


def _unknown(word: str) -> str:
    if word[0].isdigit():
        return _LETTERS["number"]
    if word == QUOTE:
        return "Q"
    return DOING if word.endswith("ing") else OTHER


def _read_over(words: list[str], letters: list[str]) -> None:
    for place, letter in enumerate(letters):
        if letter == WOULD and words[place + 1 : place + 2] == ["be"] and "but" in words[place:]:
            letters[place] = _ADVERB
        if words[place : place + 2] == ["anything", "but"]:
            letters[place : place + 2] = [NOT, _ADVERB]
        if letter == NOT or words[place] in {"never", "have"}:
            for idiom in _NOT_DENIED:
                if tuple(words[place : place + len(idiom)]) == idiom:
                    letters[place] = _ADVERB


def is_professional(readings: list[SentenceReading]) -> bool:
    """Whether the author writes as somebody whose work it is."""
    return any(
        " for a living " in reading.text
        or _profession(reading)
        or _in_care(reading)
        or _serves(reading)
        for reading in readings
    )


def _profession(reading: SentenceReading) -> bool:
    words, letters = reading.sentence.words, reading.letters
    for place, word in enumerate(words):
        if word not in _SETS["professions"]:
            continue
        left = words[max(0, place - 5) : place]
        if any(letters[k] in (MY, THEY) for k in range(max(0, place - 3), place)):
            continue
        if place < _NEAR and (place + 1 == len(words) or words[place + 1] in _AFTER_JOB):
            return True
        if "as" in left or ("i" in left and ("am" in left or "was" in left)):
            return True
    return False


def _serves(reading: SentenceReading) -> bool:
    words = reading.sentence.words
    for place, word in enumerate(words):
        if word == "i":
            after = words[place + 1 : place + 8]
            if not _SETS["served"].isdisjoint(after) and _SETS["told"].isdisjoint(after):
                return True
    return False


def _in_care(reading: SentenceReading) -> bool:
    letters = reading.letters
    return any(
        word in _SETS["in_care"] and MY in letters[max(0, place - 2) : place]
        for place, word in enumerate(reading.sentence.words)
    )


def works_with(reading: SentenceReading, terms: Iterable[tuple[int, int]]) -> bool:
    """Whether the author says that they work with one of ``terms``, or where such work is done."""
    words = reading.sentence.words
    for place, word in enumerate(words):
        if word == "i" and not _SETS["work"].isdisjoint(words[place + 1 : place + 4]):
            if "not" in words[place + 1 : place + 4]:
                continue
            near = range(place + 2, place + 10)
            if any(first in near for first, _ in terms):
                return True
            if not _SETS["institutions"].isdisjoint(words[place + 2 : place + 9]):
                return True
    return False


def why_not(reading: SentenceReading, first: int, last: int, *, own: int) -> str:
    """The reason why the words from ``first`` up to ``last`` are no statement, "" if none is.

    From ``own`` on they are the topic's own words, whose negations and modals belong to them.
    """
    words, letters = reading.sentence.words, reading.letters
    clause = _clause_start(words, first)
    left, before = words[clause:first], letters[clause:first]
    refused = _unsaid(left, before, letters[first:own], by_author=letters[first] == AUTHOR)
    if not refused and letters[first] == AUTHOR:
        refused = _not_stated(reading, left, words[max(0, first - 6) : first])
    return refused or _followed(words, last) or _is_my(words, letters, (first, last), before, left)


def _unsaid(left: list[str], before: list[str], inside: list[str], *, by_author: bool) -> str:
    if NOT in inside or _denied(left, before, starts_with_i=by_author):
        return "negation"
    doubted = by_author and any(word in _SETS["doubted"] for word in left[-_NEAR:])
    return "hypothetical" if doubted or IF in before or IF in inside or WOULD in inside else ""


def _not_stated(reading: SentenceReading, left: list[str], before: list[str]) -> str:
    asked = bool(left) and left[-1] in _SETS["asking"]
    if asked and (reading.sentence.question or len(left) == 1):
        return "question"
    return "third person" if _claimed(before) else ""


def _followed(words: list[str], last: int) -> str:
    """Whether what follows makes it a field of work, or a joke."""
    compound = last < len(words) and (words[last] in _SETS["compounds"] or _joke(words[last:]))
    return "compound" if compound else ""


def _is_my(
    words: list[str], letters: list[str], at: tuple[int, int], before: list[str], left: list[str]
) -> str:
    """Whether something else is said to be mine: "coffee is my antidepressant"."""
    first, last = at
    if letters[first] != MY:
        return ""
    named = "called" in words[last : last + 2]
    like = before[-1:] == [_LETTERS["is"]] and left[-2:-1] not in _IT
    return "metaphor" if named or like else ""


def _joke(after: list[str]) -> bool:
    """Whether what follows names it as a joke does: "called being near cheese", say."""
    return (
        after[0] == "called"
        and len(after) > 1
        and (after[1].endswith("ing") or _FRAMES.letter_of.get(after[1]) in (_THE, MY, NOT))
    )


def _clause_start(words: list[str], first: int) -> int:
    for place in range(first - 1, -1, -1):
        if words[place] in {",", "but"}:
            return place + 1
    return 0


def _denied(left: list[str], before: list[str], *, starts_with_i: bool) -> bool:
    if NOT not in before[-4:]:
        return False
    if before[-1] == NOT:
        return True
    if not starts_with_i:
        return before[-2] == NOT and before[-1] in (_THE, _ADVERB)
    if left[-1] in _SETS["denied_after"] and before[-2] == NOT:
        return True
    return (left[-2] if left[-1] == "that" else left[-1]) in _SETS["denied_by"]


def _claimed(left: list[str]) -> bool:
    for place in range(len(left) - 1, -1, -1):
        if left[place] in _SETS["claims"]:
            before = left[:place]
            if any(word in _SETS["knows"] for word in before):
                return False
            subject = next(
                (w for w in reversed(before) if _FRAMES.letter_of.get(w) in _SUBJECTS), ""
            )
            return subject not in {"i", "we", ""}
    return False


_SUBJECTS = frozenset({AUTHOR, YOU, THEY, KIN})


def is_fiction(reading: SentenceReading) -> bool:
    """Whether the sentence speaks of a role, a game or a story."""
    return not _SETS["fiction"].isdisjoint(reading.sentence.words) or bool(
        _STORY.search(reading.text)
    )


def only_met(reading: SentenceReading, first: int, last: int, *, did: bool = False) -> bool:
    """Whether a verb between "I" and the topic's word says that the author met it, no more.

    What one loves or hates, one may well have done: ``did``.
    """
    words = reading.sentence.words[first:last]
    met = not (_SETS["met"].isdisjoint(words) and _SETS["work"].isdisjoint(words))
    return met or not (did or _SETS["feel"].isdisjoint(words))


def other_subject(reading: SentenceReading, first: int) -> bool:
    """Whether the nearest subject before ``first``, in its clause, is somebody else."""
    return _nearest_subject(reading, first) in OTHERS


def own_subject(reading: SentenceReading, first: int) -> bool:
    """Whether the nearest subject before ``first``, in its clause, is the author."""
    return _nearest_subject(reading, first) == AUTHOR


def _nearest_subject(reading: SentenceReading, first: int) -> str:
    start = _clause_start(reading.sentence.words, first)
    named = OTHERS | OWN
    return next((a for a in reversed(reading.letters[start:first]) if a in named), "")


def takes(reading: SentenceReading) -> bool:
    """Whether a verb says that something is taken, as a medicine is."""
    return not _SETS["taking"].isdisjoint(reading.sentence.words)


def is_opinion(reading: SentenceReading) -> bool:
    """Whether the sentence says what its author thinks or read."""
    return not _SETS["opinion"].isdisjoint(reading.sentence.words)


def is_one_person(word: str) -> bool:
    """Whether the word names one person."""
    return word in _SETS["one_person"]


def is_soon(reading: SentenceReading) -> bool:
    """Whether the sentence says that something is about to be."""
    return not _SETS["soon"].isdisjoint(reading.sentence.words)


def is_doubt(reading: SentenceReading, last: int) -> bool:
    """Whether a word before ``last`` makes of it a fear, a wish or a thought."""
    return not _SETS["doubted"].isdisjoint(reading.sentence.words[:last])
