"""Rules for sentences without a subject: "Autistic, and tired", "Diagnosed last week"."""

import re
from collections.abc import Iterator

from sottovoce.assess.disclosure._context import OTHERS, SentenceReading, is_one_person, why_not
from sottovoce.assess.disclosure._frames import load_frames
from sottovoce.assess.disclosure._genres import is_advice, is_news
from sottovoce.assess.disclosure._post import (
    ARE,
    Marked,
    ReadPost,
    RuleMatch,
    about_others,
    words_of_match,
)

_FRAMES = load_frames()
# Fragments that are the author's, whoever else is named after them.
_CERTAIN = frozenset(
    ("numbered sign", "speaks as one", "as someone", "from one", "life as one", "tag")
)
_DONE = frozenset(("did so", "a sufferer here"))
_IF_NOBODY = frozenset(("what, numbered", "what", "being it", "is back", "diagnosed so"))
_PERSONS = frozenset(("who", "one", "numbered who"))
_AND = _FRAMES.letters["and"]
_LISTED = frozenset(("S", "M", "C", "_", _FRAMES.letters["the"], ""))


def fragments(
    post: ReadPost, marked: Marked, place: int, reading: SentenceReading
) -> Iterator[RuleMatch]:
    """What the fragments find in a sentence."""
    refused = _not_a_fragment(post, marked, place, reading)
    for name, pattern in _FRAMES.fragments.items():
        match = pattern.search(marked.letters)
        if match is None:
            continue
        first, own, last = words_of_match(marked, match, 0)
        if name == "one" and not is_one_person(reading.sentence.words[last]):
            continue
        if name == "being it" and not OTHERS.isdisjoint(marked.letters[: match.start()]):
            continue
        why = "" if refused == "third person" and name in _CERTAIN else refused
        if not why and not (post.own or _stands_alone(post, marked, match, name, reading)):
            why = "nobody"
        yield RuleMatch(first, last, name, why or why_not(reading, first, last, own=own))


def _not_a_fragment(post: ReadPost, marked: Marked, place: int, reading: SentenceReading) -> str:
    if post.professional:
        return "work"
    if reading.sentence.question:
        return "question"
    if is_news(reading) or is_advice(reading):
        return "news"
    return "third person" if about_others(post, marked, place, reading) else ""


def _stands_alone(
    post: ReadPost, marked: Marked, match: re.Match[str], name: str, reading: SentenceReading
) -> bool:
    """Whether a post that names nobody can only be about its author: "Autistic, and tired"."""
    if name in _CERTAIN or name in _DONE:
        return True
    if name in _IF_NOBODY:
        return post.nobody
    if name == "taken":
        return post.nobody and ARE.isdisjoint(reading.sentence.words)
    return name in _PERSONS and _closed(marked.letters, match.end(), name, reading)


def _closed(letters: str, end: int, name: str, reading: SentenceReading) -> bool:
    """Whether what follows leaves the term alone: "gay and proud", but not "gay and lesbian"."""
    after = letters[end - 1]
    if after == ",":
        return True
    if name == "numbered who" or (after == _AND and letters[end : end + 1] in _LISTED):
        return False
    clause = " ".join(reading.sentence.words).split(",")[0].split()
    return after == _AND or ARE.isdisjoint(clause)
