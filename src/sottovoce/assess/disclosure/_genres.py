"""Sentences that by their kind say nothing of their author: news, advice, what things do."""

import re

from sottovoce.assess.disclosure._context import (
    KIN,
    MY,
    OTHER,
    WORD_SETS,
    YOU,
    SentenceReading,
)
from sottovoce.assess.disclosure._frames import load_frames

_LETTERS = load_frames().letters
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
