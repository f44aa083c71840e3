"""What is inferred without a rule: by the nearest subject, or where nobody is named."""

import re
from collections.abc import Iterator

from sottovoce.assess.disclosure._context import (
    AUTHOR,
    FRAMES,
    IF,
    KIN,
    MY,
    NOT,
    OTHERS,
    THEY,
    WOULD,
    YOU,
    SentenceReading,
    find_objection,
    has_other_subject,
    is_doubt,
    is_fiction,
    is_of_body,
    is_one_person,
    is_only_met,
    is_opinion,
    is_soon,
    is_verdict,
)
from sottovoce.assess.disclosure._post import (
    ARE,
    ROLE_LETTERS,
    Marked,
    ReadPost,
    RuleMatch,
    about_others,
    is_advice,
    is_news,
    of_a_thing,
    words_of_match,
)
from sottovoce.assess.disclosure._terms import CompiledTopic

# How far a subject may be, and what stands between it and another's term.
_REACH = 14
_PARTS = frozenset((*OTHERS, NOT, IF, WOULD, "Q", FRAMES.letters["about"], MY))
_EARLY = 5
_CALLED = re.compile(
    f",[{FRAMES.letters['adverb']}{FRAMES.letters['the']}{FRAMES.letters['quality']}_]*C"
    f"(?:,|{FRAMES.letters['and']}|$)"
)
_OF_PERSONS = "SMA"
# "My sat nav has ..."
_THING = re.compile(f"{MY}[^{AUTHOR}]*[{FRAMES.letters['is']}{FRAMES.letters['has']}]")
_OF = frozenset(FRAMES.letters[name] for name in ("of", "about", "the"))
_DENIED = frozenset((NOT, IF, WOULD))
_APART = frozenset((NOT, IF, WOULD, FRAMES.letters["about"], FRAMES.letters["on"], "Q"))
_NAMED = frozenset((*OTHERS, AUTHOR))
_VERBS = frozenset((FRAMES.letters["is"], FRAMES.letters["has"]))
_IS_MY = FRAMES.letters["is"] + MY


def infer_matches(
    post: ReadPost, topic: CompiledTopic, marked: Marked, place: int, reading: SentenceReading
) -> Iterator[RuleMatch]:
    """What may be inferred from a sentence; a denial elsewhere in the post outweighs it."""
    if is_news(reading) or is_advice(reading):
        return
    yield from _signs(post, marked, reading)
    yield from _near(post, marked, reading)
    yield from _infer_deeds(post, marked, reading)
    yield from _subjectless(post, marked, place, reading)
    yield from _infer_lone_terms(post, marked, reading)
    yield from _infer_names(post, marked, reading)
    if (reading.own or post.nobody) and OTHERS.isdisjoint(marked.letters):
        yield from _with_me(post, marked, reading)
        if topic.illness:
            yield from _infer_openings(post, marked, reading)


def _signs(post: ReadPost, marked: Marked, reading: SentenceReading) -> Iterator[RuleMatch]:
    """A medicine, an appointment, a paper: whose, if not the author's?"""
    for place, letter in enumerate(marked.letters):
        if letter == "T":
            first, last = marked.places[place]
            refused = _find_sign_objection(post, marked, place, reading)
            if not refused and is_only_met(reading, 0, first):
                refused = "work"
            refused = refused or find_objection(reading, first, last, own=first)
            yield RuleMatch(first, last, "sign", refused)


def _find_sign_objection(
    post: ReadPost, marked: Marked, place: int, reading: SentenceReading
) -> str:
    before = marked.letters[:place]
    named = ARE.isdisjoint(reading.sentence.words) or is_soon(reading)
    alone = post.own or (post.nobody and named)
    reasons = {
        "nobody": post.professional or not alone or reading.sentence.question,
        "third person": not OTHERS.isdisjoint(before)
        or (YOU in marked.letters and not reading.own),
        "negation": NOT in before[-4:] or IF in before,
        "work": FRAMES.letters["about"] in before[-2:],
        "metaphor": before[-2:] == _IS_MY,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _near(post: ReadPost, marked: Marked, reading: SentenceReading) -> Iterator[RuleMatch]:
    """A term to which "I" is the nearest subject, where no verb or preposition speaks against."""
    if post.professional or is_fiction(reading):
        return
    for place, letter in enumerate(marked.letters):
        start = _own_subject(marked.letters, place) if letter in ROLE_LETTERS else None
        if start is not None:
            first, last = marked.places[start][0], marked.places[place][1]
            refused = find_objection(reading, first, last, own=marked.places[place][0])
            noun = marked.letters[place + 1 : place + 2] in ("_", KIN) and letter in "SM"
            if not refused and (is_only_met(reading, first, last) or is_opinion(reading) or noun):
                refused = "work"
            if not refused and letter in _OF_PERSONS and of_a_thing(marked.letters[:place]):
                refused = "metaphor"
            yield RuleMatch(first, last, "near", refused)


def _own_subject(letters: str, place: int) -> int | None:
    """Where the author is named before ``place``, with nothing between that parts the two."""
    for start in range(place - 1, max(place - _REACH, 0) - 1, -1):
        if letters[start] == AUTHOR:
            return start
        if letters[start] == MY:
            owned = letters[place] in "CT" and _VERBS.isdisjoint(letters[start:place])
            return start if owned else None
        if letters[start] in _PARTS:
            return None
    return None


def _infer_deeds(post: ReadPost, marked: Marked, reading: SentenceReading) -> Iterator[RuleMatch]:
    """Something that was done, in a post of the author's, and by nobody else that is named."""
    if post.professional or reading.sentence.question or not post.own:
        return
    for place, letter in enumerate(marked.letters):
        if letter != "A" or marked.letters[place - 1 : place] in _OF:
            continue
        first, last = marked.places[place]
        if not has_other_subject(reading, first):
            clause = marked.letters[:place].rpartition(",")[2]
            refused = find_objection(reading, first, last, own=first)
            if not _DENIED.isdisjoint(clause):
                refused = "negation"
            if is_only_met(reading, first - len(clause), first, did=True):
                refused = refused or "work"
            if of_a_thing(marked.letters[:place]):
                refused = refused or "metaphor"
            yield RuleMatch(first, last, "done", refused)


def _subjectless(
    post: ReadPost, marked: Marked, place: int, reading: SentenceReading
) -> Iterator[RuleMatch]:
    """A term near the beginning of a sentence that names nobody, in a post of the author's."""
    if post.professional or reading.sentence.question or not post.own:
        return
    if not _NAMED.isdisjoint(marked.letters) or about_others(post, marked, place, reading):
        return
    for at, letter in enumerate(marked.letters[:_EARLY]):
        if letter in ROLE_LETTERS and _PARTS.isdisjoint(marked.letters[:at]):
            first, last = marked.places[at]
            refused = find_objection(reading, first, last, own=first)
            titled = letter in "SM" and marked.letters[0] == FRAMES.letters["the"]
            fits = ARE.isdisjoint(reading.sentence.words) and not (is_opinion(reading) or titled)
            yield RuleMatch(first, last, "subjectless", refused or ("" if fits else "nobody"))


def _infer_lone_terms(
    post: ReadPost, marked: Marked, reading: SentenceReading
) -> Iterator[RuleMatch]:
    """A term in a post that names its author and nobody else, and denies or doubts nothing."""
    if post.professional or reading.sentence.question or not (post.own and post.nobody):
        return
    if is_opinion(reading) or is_fiction(reading):
        return
    for place, letter in enumerate(marked.letters):
        if letter not in ROLE_LETTERS or is_doubt(reading, marked.places[place][0]):
            continue
        clause = marked.letters[:place].rpartition(",")[2]
        first, last = marked.places[place]
        refused = find_objection(reading, first, last, own=first)
        if not _DENIED.isdisjoint(clause):
            refused = refused or "negation"
        if not _APART.isdisjoint(clause):
            refused = refused or "nobody"
        if of_a_thing(marked.letters[:place]) and not is_of_body(reading):
            refused = refused or "metaphor"
        if is_only_met(reading, max(first - len(clause), 0), last):
            refused = refused or "work"
        yield RuleMatch(first, last, "alone", refused)


def _infer_names(post: ReadPost, marked: Marked, reading: SentenceReading) -> Iterator[RuleMatch]:
    """What somebody who knows has called it: "got the word today: depression"."""
    if post.professional or reading.sentence.question or not is_verdict(reading):
        return
    match = _CALLED.search(marked.letters)
    if match is not None and {KIN, THEY, IF, WOULD, NOT}.isdisjoint(marked.letters[: match.end()]):
        first, own, last = words_of_match(marked, match, 0)
        yield RuleMatch(first, last, "named", find_objection(reading, first, last, own=own))


def _with_me(post: ReadPost, marked: Marked, reading: SentenceReading) -> Iterator[RuleMatch]:
    """An illness in a sentence that names the author, and nobody else."""
    place = marked.letters.find("C")
    if place < 0 or post.professional or reading.sentence.question or not reading.own:
        return
    before = marked.letters[:place]
    if _APART.isdisjoint(before):
        first, last = marked.places[place]
        refused = find_objection(reading, first, last, own=first)
        met = is_opinion(reading) or is_doubt(reading, first) or _THING.search(before) is not None
        met = met or is_only_met(reading, 0, len(reading.sentence.words))
        yield RuleMatch(first, last, "with me", refused or ("work" if met else ""))


def _infer_openings(
    post: ReadPost, marked: Marked, reading: SentenceReading
) -> Iterator[RuleMatch]:
    """An illness that a sentence begins with, where nobody but the author is named."""
    if post.professional or reading.sentence.question:
        return
    for name, pattern in FRAMES.illness.items():
        match = pattern.search(marked.letters)
        if match is not None:
            first, own, last = words_of_match(marked, match, 0)
            refused = find_objection(reading, first, last, own=own)
            if NOT in marked.letters[: match.start()]:
                refused = "negation"
            general = name == "leads" and not ARE.isdisjoint(reading.sentence.words)
            if general and not post.own:
                refused = refused or "nobody"
            yield RuleMatch(first, last, name, refused or ("work" if is_opinion(reading) else ""))


# Fragments that are the author's, whoever else is named after them.
_CERTAIN = frozenset(
    ("numbered sign", "speaks as one", "as someone", "from one", "life as one", "tag")
)
_DONE = frozenset(("did so", "a sufferer here"))
_IF_NOBODY = frozenset(("what, numbered", "what", "being it", "is back", "diagnosed so"))
_PERSONS = frozenset(("who", "one", "numbered who"))
_AND = FRAMES.letters["and"]
_LISTED = frozenset(("S", "M", "C", "_", FRAMES.letters["the"], ""))


def fragments(
    post: ReadPost, marked: Marked, place: int, reading: SentenceReading
) -> Iterator[RuleMatch]:
    """What the fragments find in a sentence."""
    refused = _find_fragment_objection(post, marked, place, reading)
    for name, pattern in FRAMES.fragments.items():
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
        yield RuleMatch(first, last, name, why or find_objection(reading, first, last, own=own))


def _find_fragment_objection(
    post: ReadPost, marked: Marked, place: int, reading: SentenceReading
) -> str:
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
    return name in _PERSONS and _is_closed(marked.letters, match.end(), name, reading)


def _is_closed(letters: str, end: int, name: str, reading: SentenceReading) -> bool:
    """Whether what follows leaves the term alone: "gay and proud", but not "gay and lesbian"."""
    after = letters[end - 1]
    if after == ",":
        return True
    if name == "numbered who" or (after == _AND and letters[end : end + 1] in _LISTED):
        return False
    clause = " ".join(reading.sentence.words).split(",")[0].split()
    return after == _AND or ARE.isdisjoint(clause)
