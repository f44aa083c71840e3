"""Rules that name the author, as phrases and frames such as "I have ..."; and evidence weighed.

A post that no rule fits may still leave no doubt: by who speaks, how near to the topic's words, in
which words. Each such signal has a weight, learned from the open posts of ours (logistic
regression); the sum decides. ``tables/weights.json`` says how it was made.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from sottovoce.assess.disclosure._context import (
    AUTHOR,
    FRAMES,
    IF,
    KIN,
    MY,
    NOT,
    OTHERS,
    OWN,
    WORD_SETS,
    WOULD,
    SentenceReading,
    find_objection,
    has_other_subject,
    has_own_subject,
    is_fiction,
    is_now,
    is_only_met,
    is_taking,
)
from sottovoce.assess.disclosure._post import (
    ARE,
    ROLE_LETTERS,
    Marked,
    ReadPost,
    RuleMatch,
    is_advice,
    is_news,
    of_a_thing,
    words_of_match,
)
from sottovoce.assess.disclosure._terms import BARRED, CLUE, CompiledPhrase, CompiledTopic
from sottovoce.assess.disclosure._tokens import QUOTE
from sottovoce.parsing import parse_json

_OWN_WORDS = frozenset(("i", "me", "my", "we", "our", "us", "myself"))
_I_OR_ME = frozenset(("i", "me", "we", "us", "myself"))
# Rules whose verb decides.
_BY_VERB = frozenset(("takes", "did", "on it", "went"))
_OF_WORK = frozenset(("takes", "on it"))
_HAS = frozenset(("has", "got", "suffers"))
_MINE = frozenset(("my", "my own"))
_WORKS = WORD_SETS["work"] | WORD_SETS["met"]
_PLACES = WORD_SETS["workplaces"]


def has_any(phrases: Iterable[CompiledPhrase], reading: SentenceReading) -> bool:
    """Whether one of ``phrases`` stands in a sentence."""
    words = reading.word_set
    return any(
        not any(need.isdisjoint(words) for need in phrase.needs)
        and phrase.pattern.search(reading.text) is not None
        for phrase in phrases
    )


def harmless_spans(
    phrases: Iterable[CompiledPhrase], reading: SentenceReading
) -> list[tuple[int, int]]:
    """Where words of a sentence mean something else: from which word, up to which."""
    words, found = reading.word_set, []
    for phrase in phrases:
        if any(need.isdisjoint(words) for need in phrase.needs):
            continue
        for match in phrase.pattern.finditer(reading.text):
            first = reading.text.count(" ", 0, match.start()) - 1
            found.append((first, first + match.group().count(" ")))
    return found


def phrases_in(
    post: ReadPost, phrase: CompiledPhrase, reading: SentenceReading
) -> Iterator[RuleMatch]:
    """Where a phrase stands in a sentence, and whether it is the author's."""
    # A sentence that has lost its "I" is read as if it had it.
    before = f" i{BARRED}" if reading.is_elided else ""
    text = before + reading.text
    for match in phrase.pattern.finditer(text):
        first = text.count(" ", 0, match.start()) - 1 - bool(before)
        last = first + match.group().count(" ")
        first = max(first, 0)
        spoken = frozenset(match.group().replace(BARRED, "").split())
        named = phrase.own or not _OWN_WORDS.isdisjoint(spoken) or has_own_subject(reading, first)
        refused = find_objection(reading, first, last, own=first)
        refused = refused or _find_other_owner(post, reading, first, last, named=named)
        if not refused and post.professional:
            works = not (WORD_SETS["work"] | WORD_SETS["professions"]).isdisjoint(spoken)
            refused = "work" if works or _I_OR_ME.isdisjoint(spoken) else ""
        yield RuleMatch(first, last, "phrase", refused)


def _find_other_owner(
    post: ReadPost, reading: SentenceReading, first: int, last: int, *, named: bool
) -> str:
    """Why a phrase is not the author's, who is ``named`` in it or not."""
    told = post.own or ARE.isdisjoint(reading.sentence.words)
    told = told or (post.nobody and (post.casual or is_now(reading)))
    my_kin = reading.letters[first] == MY and reading.letters[last : last + 1] == [KIN]
    reasons = {
        "third person": my_kin or (not named and has_other_subject(reading, first)),
        "advice": is_advice(reading),
        "news": not named and is_news(reading),
        "metaphor": not named and of_a_thing("".join(reading.letters[:first])),
        "question": not named and reading.sentence.question,
        "nobody": not (named or told),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def frames(post: ReadPost, marked: Marked, reading: SentenceReading) -> Iterator[RuleMatch]:
    """What the frames find in a sentence."""
    letters, shift = marked.letters, 0
    if reading.is_elided and letters[0] != AUTHOR:
        letters, shift = AUTHOR + letters, 1
    for name, pattern in FRAMES.frames.items():
        for match in pattern.finditer(letters):
            first, own, last = words_of_match(marked, match, shift)
            refused = find_objection(reading, first, last, own=own)
            refused = refused or _find_frame_objection(post, reading, name, (first, own))
            if not refused and match.group()[-1] in "SM" and is_fiction(reading):
                refused = "fiction"
            if not refused and name == "does to me" and letters[match.end() :][:1] == KIN:
                refused = "third person"
            yield RuleMatch(first, last, name, refused)


def _find_frame_objection(
    post: ReadPost, reading: SentenceReading, name: str, words: tuple[int, int]
) -> str:
    """Why what a frame finds is another's: its verb, or the author's work."""
    spoken = reading.sentence.words[slice(*words)]
    if name == "in the body":
        return "" if _on_the_body(reading, words[1]) else "nobody"
    if post.professional and name in _HAS and not _WORKS.isdisjoint(spoken):
        return "work"
    ours = reading.sentence.words[words[0]] == "our"
    if post.professional and name in _MINE and (ours or _PLACES.intersection(spoken)):
        return "work"
    if name in _BY_VERB and is_only_met(reading, *words, did=name == "did"):
        return "work"
    if name == "is, after a list" and post.professional:
        return "work"
    return "work" if name in _OF_WORK and post.professional and not is_taking(reading) else ""


def _on_the_body(reading: SentenceReading, first: int) -> bool:
    """Whether "my ..." after a term names a part of the body."""
    words = reading.sentence.words
    return any(
        word == "my" and words[place + 1 : place + 2] and words[place + 1] in WORD_SETS["body"]
        for place, word in enumerate(words[: first + 6])
        if place >= first
    )


# Classes of words that say of whom a sentence speaks, and whether it denies or supposes.
_PERSONS = OWN | OTHERS | {NOT, IF, WOULD}
_FARTHEST = 15
_STEP = 3
SCALE = 10
_PHRASE = "phrase"
# No word begins with it.
_TOPIC = "*"
_NAME = "N"
_OF_ANOTHER = "not: third person"
_TELLING = ROLE_LETTERS | {_NAME, CLUE}
FEWEST_CLUES, MOST_CLUES = 2, 6


class Signals(NamedTuple):
    """What a post has that speaks for or against: what it is like, and which words stand where."""

    traits: dict[str, float]
    words: frozenset[str]


class Weights(NamedTuple):
    """The weight of each signal, in hundredths, and how much is enough."""

    of: Mapping[str, int]
    least: float
    """Enough where a post has the topic's terms."""
    least_by_clues: float
    """Enough where it has only clues."""
    least_of_another: float
    """Enough where a rule fits, but speaks of somebody else."""

    def score(self, signals: Signals) -> float:
        """The sum of the weights; words count less the more of them there are."""
        of = self.of
        traits = sum(of.get(name, 0) * value for name, value in signals.traits.items())
        words = sum(of[name] for name in signals.words & of.keys())
        return (traits + words * SCALE / math.sqrt(len(signals.words) or 1)) / 100

    def enough(self, signals: Signals, *, named: bool) -> bool:
        """Whether it is outright; a topic that is ``named``, or has terms there, needs less."""
        if _OF_ANOTHER in signals.traits:
            return self.score(signals) >= self.least_of_another
        if named or signals.traits["terms"] > 0:
            return self.score(signals) >= self.least
        few = signals.traits["clues"] * MOST_CLUES < FEWEST_CLUES
        return not few and self.score(signals) >= self.least_by_clues


@cache
def load_weights() -> Weights:
    """The shipped weights."""
    text = (files(__package__) / "tables" / "weights.json").read_text(encoding="utf-8")
    read = parse_json(text)
    return Weights(read["weights"], read["least"], read["least_by_clues"], read["least_of_another"])


def signals_of(post: ReadPost, topic: CompiledTopic, found: Iterable[RuleMatch]) -> Signals:
    """The signals of a post for a topic, of which the rules found ``found``."""
    words: set[str] = set()
    places: set[tuple[str, ...]] = set()
    terms = length = most = 0
    for reading in post.readings:
        if reading.sentence.words == [QUOTE]:
            continue
        tokens = _tokens(reading, post.mark(reading, topic), topic)
        told = [token for token in tokens if token.kind in _TELLING]
        places.update(token.words for token in told if token.kind == CLUE)
        terms += sum(token.kind != CLUE for token in told)
        most = max(most, len(told))
        length += len(reading.sentence.words)
        words.update(_of_sentence(tokens, question=reading.sentence.question))
    traits = {
        "always": 1.0,
        "length": math.log1p(length) / 4,
        "terms": min(terms, 4) / 4,
        "clues": min(len(places), MOST_CLUES) / MOST_CLUES,
        "in a sentence": min(most, 4) / 4,
        "share": min((terms + len(places)) / (length or 1), 0.5) * 2,
        "no term": float(not terms),
        **dict.fromkeys(_traits(post, found), 1.0),
    }
    return Signals(traits, frozenset(words))


def telling(
    reading: SentenceReading, marked: Marked, topic: CompiledTopic
) -> Iterator[tuple[int, int]]:
    """The words of a sentence that are of the topic: from which, up to which."""
    yield from marked.terms
    words = reading.sentence.words
    for place in range(len(words)):
        length, letter = _hint_at(words, place, topic)
        if letter == CLUE:
            yield place, place + length


def _traits(post: ReadPost, found: Iterable[RuleMatch]) -> Iterator[str]:
    holds = {
        "own": post.own,
        "nobody": post.nobody,
        "casual": post.casual,
        "work": post.professional,
        "another's": post.anothers,
        "without I": any(reading.is_elided for reading in post.readings),
        "quotes": post.quotes,
    }
    yield from (name for name, true in holds.items() if true)
    for each in found:
        if each.rule != _PHRASE:
            yield from (f"not: {each.refused}", "refused") if each.refused else (each.rule, "said")


class Token(NamedTuple):
    """A word, or words that are the topic's, with their class."""

    shown: str
    kind: str
    words: tuple[str, ...] = ()

    @property
    def topical(self) -> bool:
        return bool(self.words)


def _tokens(reading: SentenceReading, marked: Marked, topic: CompiledTopic) -> list[Token]:
    """The words of a sentence with their classes, the topic's own as what they are of it."""
    words, letters = reading.sentence.words, reading.letters
    ends = dict(marked.terms)
    roles = {place[0]: role for place, role in zip(marked.places, marked.letters, strict=False)}
    tokens: list[Token] = []
    place = 0
    while place < len(words):
        end, kind = ends.get(place, 0), roles.get(place, "")
        if end:
            kind = kind if kind in ROLE_LETTERS else _NAME
        else:
            length, kind = _hint_at(words, place, topic)
            end = place + length
        if end > place:
            tokens.append(Token(f"{_TOPIC}{kind}", kind, tuple(words[place:end])))
        else:
            tokens.append(Token(words[place], letters[place]))
        place = max(end, place + 1)
    return tokens


def _hint_at(words: list[str], place: int, topic: CompiledTopic) -> tuple[int, str]:
    for form, letter in topic.hints.get(words[place], ()):
        if tuple(words[place : place + len(form)]) == form:
            return len(form), letter
    return 0, ""


def _of_sentence(tokens: list[Token], *, question: bool) -> Iterator[str]:
    """Words, pairs of words, classes, and how far persons are from the topic's words."""
    end = "?" if question else "."
    words = ["^", *(token.shown for token in tokens), end]
    yield from words
    yield from map(" ".join, itertools.pairwise(words))
    yield from (f"={token.kind}" for token in tokens)
    persons = [
        (place, token.kind)
        for place, token in enumerate(tokens)
        if token.kind in _PERSONS and not token.topical
    ]
    for place, token in enumerate(tokens):
        if token.topical:
            yield f"{token.shown}{end}"
            yield f"^{token.shown}{min(place, _FARTHEST) // _STEP}"
            for at, kind in persons:
                side = "<" if at < place else ">"
                yield f"{kind}{side}{token.shown}{min(abs(at - place), _FARTHEST) // _STEP}"


def ends_unsure(
    topic: CompiledTopic, marked: Marked, match: RuleMatch, reading: SentenceReading
) -> bool:
    """Whether the term that a match ends with has an everyday meaning."""
    if not topic.unsure:
        return False
    found = next((term for term in marked.terms if term[1] == match.last), None)
    return found is not None and tuple(reading.sentence.words[slice(*found)]) in topic.unsure
