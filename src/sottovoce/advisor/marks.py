"""The telling words of a text, marked where they stand."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from sottovoce.corpus.words.rules import ENGLISH, TokenRules

_WORD = re.compile(r"[^\W_]+")
SHORTEST = 2
Span = tuple[int, int]


class TextPiece(NamedTuple):
    """A piece of a text; ``telling``: it is what gives the topic away."""

    text: str
    telling: bool


def spans_of_words(text: str, terms: Collection[str], rules: TokenRules) -> list[Span]:
    """Where words of ``text`` stand whose form is one of ``terms``, or half of one of two words.

    Function words are left out: to mark them would tell a reader nothing.
    """
    form = rules.former()
    wanted = {part for term in terms for part in term.split(" ")}
    found = []
    for match in _WORD.finditer(text):
        word = match.group().casefold()
        if len(word) >= SHORTEST and word not in ENGLISH and form(word) in wanted:
            found.append(match.span())
    return found


def pieces(text: str, spans: Sequence[Span]) -> list[TextPiece]:
    """The text in pieces, in order, so that joined they are the text again."""
    found, at = [], 0
    for start, end in _merged(spans):
        last = min(end, len(text))
        if start >= last:
            continue
        if start > at:
            found.append(TextPiece(text[at:start], telling=False))
        found.append(TextPiece(text[start:last], telling=True))
        at = last
    if at < len(text):
        found.append(TextPiece(text[at:], telling=False))
    return found


def _merged(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
