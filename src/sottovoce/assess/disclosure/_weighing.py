"""Evidence weighed together, where no rule finds that a post says it outright.

A post that no rule fits may still leave no doubt: by who speaks, how near to the topic's words, in
which words. Each such signal has a weight, learned from the open posts of ours (logistic
regression); the sum decides. ``tables/weights.json`` says how it was made.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from sottovoce.assess.disclosure._context import OTHERS, OWN, SentenceReading
from sottovoce.assess.disclosure._post import ROLE_LETTERS, Marked, ReadPost, RuleMatch
from sottovoce.assess.disclosure._terms import CLUE, CompiledTopic

# Classes of words that say of whom a sentence speaks.
_PERSONS = OWN | OTHERS
_FARTHEST = 15
_STEP = 3
SCALE = 10
_PHRASE = "phrase"
# No word begins with it.
_TOPIC = "*"
Token = tuple[str, str]
"""A word, or a topic's term as its role; and its class."""


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

    def score(self, signals: Signals) -> float:
        """The sum of the weights; words count less the more of them there are."""
        of = self.of
        traits = sum(of.get(name, 0) * value for name, value in signals.traits.items())
        words = sum(of[name] for name in signals.words & of.keys())
        return (traits + words * SCALE / math.sqrt(len(signals.words) or 1)) / 100


    def enough(self, signals: Signals, *, named: bool) -> bool:
        """Whether it is outright; a topic that is ``named``, or of which terms stand, needs less."""
        by_terms = named or signals.traits["terms"] > 0
        return self.score(signals) >= (self.least if by_terms else self.least_by_clues)


@cache
def load_weights() -> Weights:
    """The shipped weights."""
    text = (files(__package__) / "tables" / "weights.json").read_text(encoding="utf-8")
    read = json.loads(text)
    return Weights(read["weights"], read["least"], read["least_by_clues"])


def signals_of(post: ReadPost, topic: CompiledTopic, found: Iterable[RuleMatch]) -> Signals:
    """The signals of a post for a topic, of which the rules found ``found``."""
    words: set[str] = set()
    terms = clues = length = 0
    for reading in post.readings:
        tokens = _tokens(reading, post.mark(reading, topic), topic)
        kinds = [kind for word, kind in tokens if word[0] == _TOPIC]
        clues += kinds.count(CLUE)
        terms += sum(kind in ROLE_LETTERS or kind == "N" for kind in kinds)
        length += len(reading.sentence.words)
        words.update(_of_sentence(tokens, question=reading.sentence.question))
    traits = {
        "always": 1.0,
        "length": math.log1p(length) / 4,
        "terms": min(terms, 4) / 4,
        "clues": min(clues, 6) / 6,
        "no term": float(not terms),
        **{name: 1.0 for name in _traits(post, found)},
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
        "without I": any(reading.elided for reading in post.readings),
        "quotes": post.quotes,
    }
    yield from (name for name, true in holds.items() if true)
    for each in found:
        if each.rule != _PHRASE:
            yield from (f"not: {each.refused}", "refused") if each.refused else (each.rule, "said")


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
            kind = kind if kind in ROLE_LETTERS else "N"
        else:
            length, kind = _hint_at(words, place, topic)
            end = place + length
        if end > place:
            tokens.append((f"{_TOPIC}{kind}", kind))
        else:
            tokens.append((words[place], letters[place]))
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
    words = ["^", *(word for word, _ in tokens), end]
    yield from words
    yield from map(" ".join, zip(words, words[1:], strict=False))
    yield from (f"={kind}" for _, kind in tokens)
    persons = [(k, kind) for k, (word, kind) in enumerate(tokens) if kind in _PERSONS and word[0] != _TOPIC]
    for place, (word, _) in enumerate(tokens):
        if word[0] == _TOPIC:
            yield f"{word}{end}"
            yield f"^{word}{min(place, _FARTHEST) // _STEP}"
            for at, kind in persons:
                side = "<" if at < place else ">"
                yield f"{kind}{side}{word}{min(abs(at - place), _FARTHEST) // _STEP}"
