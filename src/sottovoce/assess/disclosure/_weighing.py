"""Evidence weighed together, where no rule finds that a post says it outright.

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

from sottovoce.assess.disclosure._context import IF, NOT, OTHERS, OWN, WOULD, SentenceReading
from sottovoce.assess.disclosure._post import ROLE_LETTERS, Marked, ReadPost, RuleMatch
from sottovoce.assess.disclosure._terms import CLUE, CompiledTopic
from sottovoce.assess.disclosure._tokens import QUOTE
from sottovoce.parsing import parse_json

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
