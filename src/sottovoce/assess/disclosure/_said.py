"""Rules that name the author: a topic's whole phrases, and frames such as "I have ..."."""

from collections.abc import Iterable, Iterator

from sottovoce.assess.disclosure._context import (
    AUTHOR,
    FRAMES,
    KIN,
    MY,
    WORD_SETS,
    SentenceReading,
    find_objection,
    is_fiction,
    is_now,
    only_met,
    other_subject,
    own_subject,
    takes,
)
from sottovoce.assess.disclosure._post import (
    ARE,
    Marked,
    ReadPost,
    RuleMatch,
    is_advice,
    is_news,
    of_a_thing,
    words_of_match,
)
from sottovoce.assess.disclosure._terms import BARRED, CompiledPhrase

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
        named = phrase.own or not _OWN_WORDS.isdisjoint(spoken) or own_subject(reading, first)
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
        "third person": my_kin or (not named and other_subject(reading, first)),
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
    if name in _BY_VERB and only_met(reading, *words, did=name == "did"):
        return "work"
    if name == "is, after a list" and post.professional:
        return "work"
    return "work" if name in _OF_WORK and post.professional and not takes(reading) else ""


def _on_the_body(reading: SentenceReading, first: int) -> bool:
    """Whether "my ..." after a term names a part of the body."""
    words = reading.sentence.words
    return any(
        word == "my" and words[place + 1 : place + 2] and words[place + 1] in WORD_SETS["body"]
        for place, word in enumerate(words[: first + 6])
        if place >= first
    )
