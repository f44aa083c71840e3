"""Read a post: which topics it is about, and of which it says that they are the author's."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from sottovoce.assess.disclosure._context import (
    I,
    IF,
    KIN,
    MY,
    NOT,
    OTHERS,
    THEY,
    WOULD,
    YOU,
    Reading,
    is_doubt,
    is_fiction,
    is_one_person,
    is_opinion,
    is_professional,
    is_soon,
    only_met,
    other_subject,
    own_subject,
    reading_of,
    takes,
    why_not,
    works_with,
)
from sottovoce.assess.disclosure._frames import load_frames
from sottovoce.assess.disclosure._levels import Disclosure, Level
from sottovoce.assess.disclosure._terms import BARRED, TERM, CompiledPhrase, CompiledTopic
from sottovoce.assess.disclosure._tokens import lowered, sentences, without_quotations, words_of

_FRAMES = load_frames()
_ROLE_LETTERS = frozenset("SMCTA")
_OWN_WORDS = frozenset(("i", "me", "my", "we", "our", "us", "myself"))
_I_OR_ME = frozenset(("i", "me", "we", "us", "myself"))
# Rules that a denial elsewhere in the post outweighs.
_WEAK = frozenset(("near", "sign", "leads", "with me", "with a verb", "subjectless", "taken", "done"))
# Fragments that are the author's, whoever else is named after them.
_CERTAIN = frozenset(("numbered sign", "speaks as one", "as someone", "from one", "life as one"))
# Rules whose verb decides.
_BY_VERB = frozenset(("takes", "did", "on it", "went"))
_AND = _FRAMES.letters["and"]
_LISTED = frozenset(("S", "M", "C", "_", _FRAMES.letters["the"], ""))
# How far a subject may be, and what stands between it and another's term.
_REACH = 8
_PARTS = frozenset((*OTHERS, NOT, IF, WOULD, ",", "Q", _FRAMES.letters["about"], _FRAMES.letters["my"]))
_EARLY = 5
# "My sat nav has ..."
_THING = re.compile(f"{MY}[^{I}]*[{_FRAMES.letters['is']}{_FRAMES.letters['has']}]")
_OF = frozenset(_FRAMES.letters[name] for name in ("of", "about", "the"))
_DENIED = frozenset((NOT, IF, WOULD))
_APART = frozenset((NOT, IF, WOULD, _FRAMES.letters["about"], _FRAMES.letters["on"], "Q"))
_NAMED = frozenset((*OTHERS, I))
_VERBS = frozenset((_FRAMES.letters["is"], _FRAMES.letters["has"]))
_IS_MY = _FRAMES.letters["is"] + MY
_ARE = frozenset(("is", "are", "was", "were", "has", "have", "will", "should", "could"))


Index: TypeAlias = dict[str, set[tuple[int, int, tuple[frozenset[str], ...]]]]
"""By a word: a topic, which of its phrases (or ``TERM``), and what else a post must have for it."""
# Words that a post may hold within others ("I'm", "don't") or as digits.
_WRITTEN_OUT = frozenset(
    ("i", "am", "is", "are", "have", "had", "would", "will", "not", "and", "can", "do", "did", "does")
    + ("was", "were", "could", "should", "has", "us", "to", "want", "got", "going", "positive", "he")
    + ("she", "they", "you", "we", "it", "that", "who", "what", "there", "here", "'s", "must", "let")
)


class _Finding(NamedTuple):
    """Words from ``first`` up to ``last`` that say it, or why they do not."""

    first: int
    last: int
    rule: str
    refused: str


class _Marked(NamedTuple):
    """A sentence in letters, with the roles of one topic's terms; a term is one letter."""

    letters: str
    places: list[tuple[int, int]]
    """The words of each letter."""
    terms: list[tuple[int, int]]


@dataclass(eq=False)
class Post:
    """A post, made ready for any topic."""

    text: str
    """In lower case."""
    written: str
    """As it was written."""
    mended: Mapping[str, str]
    """What misspelt words of it mean."""
    professional: bool = False
    """Whether the topic at hand is the author's work; set for each topic."""

    @cached_property
    def readings(self) -> list[Reading]:
        own = without_quotations(self.text)
        return [reading_of(each, self.written) for each in sentences(own, self.mended)]

    @cached_property
    def all_readings(self) -> list[Reading]:
        """Quotations included: what a post is about, it may also quote."""
        whole = self.text.replace(">", " ")
        if whole == without_quotations(self.text):
            return self.readings
        return [reading_of(each, self.written) for each in sentences(whole, self.mended)]

    @cached_property
    def has_profession(self) -> bool:
        """Whether the author writes as somebody of a profession that meets such topics."""
        return is_professional(self.readings)

    @cached_property
    def own(self) -> bool:
        return any(reading.own or reading.elided for reading in self.readings)

    @cached_property
    def nobody(self) -> bool:
        """Whether no person at all is named in it."""
        return all(OTHERS.isdisjoint(reading.letters) for reading in self.readings)


def read_post(
    text: str, topics: Sequence[CompiledTopic], index: Index, misspelt: Mapping[str, str]
) -> Iterator[Disclosure]:
    """What ``text`` says about each of ``topics`` that it is about."""
    low = lowered(text)
    words = set(words_of(low))
    mended = {wrong: misspelt[wrong] for wrong in misspelt.keys() & words}
    words.update(mended.values())
    found = index.keys() & words
    if not found:
        return
    post = Post(low, text, mended)
    for number, phrases in sorted(_met_topics(found, words, index).items()):
        told = _of_topic(post, topics[number], phrases)
        if told is not None:
            yield told


def _met_topics(found: set[str], words: set[str], index: Index) -> dict[int, list[int]]:
    """The topics of which a post may have a term or phrase, by its words alone; which phrases."""
    words |= _WRITTEN_OUT
    met: dict[int, set[int]] = {}
    for word in found:
        for number, phrase, others in index[word]:
            if not any(need.isdisjoint(words) for need in others):
                met.setdefault(number, set()).add(phrase)
    return {number: sorted(phrases - {TERM}) for number, phrases in met.items()}


def _of_topic(post: Post, topic: CompiledTopic, phrases: Sequence[int]) -> Disclosure | None:
    said: list[tuple[Reading, _Finding]] = []
    refused: list[str] = []
    post.professional = post.has_profession or any(
        works_with(reading, _mark(reading, topic).terms) for reading in post.readings
    )
    for place, reading in enumerate(post.readings):
        found = list(_findings(post, topic, phrases, place, reading))
        refused += [finding.refused for finding in found if finding.refused]
        open_ = [(reading, finding) for finding in found if not finding.refused]
        if open_ and _has(topic.harmless, reading):
            refused.append("metaphor")
        else:
            said += open_
    if "negation" in refused:
        said = [each for each in said if each[1].rule not in _WEAK]
    if said and any(_has(topic.denials, reading) for reading in post.readings):
        return _about(post, topic, ["negation"])
    if said:
        spans = [_spans(reading, [finding[:2]])[0] for reading, finding in said]
        return Disclosure(topic.name, Level.OUTRIGHT, _merged(spans), said[0][1].rule)
    return _about(post, topic, refused)


def _about(post: Post, topic: CompiledTopic, refused: list[str]) -> Disclosure | None:
    spans = [
        span
        for reading in post.all_readings
        for span in _spans(reading, _mark(reading, topic).terms)
    ]
    if not spans:
        return None
    return Disclosure(topic.name, Level.ABOUT, _merged(spans), refused[0] if refused else "")


def _merged(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Spans in order, those that overlap as one."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(set(spans)):
        if merged and first < merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return tuple(merged)


def _spans(reading: Reading, words: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    spans = reading.sentence.spans
    return tuple((spans[max(first, 0)][0], spans[last - 1][1]) for first, last in words)


def _findings(
    post: Post, topic: CompiledTopic, phrases: Sequence[int], place: int, reading: Reading
) -> Iterator[_Finding]:
    for number in phrases:
        yield from _phrases(post, topic.phrases[number], reading)
    marked = _mark(reading, topic)
    if _ROLE_LETTERS.isdisjoint(marked.letters):
        return
    yield from _frames(post, marked, reading)
    yield from _fragments(post, marked, place, reading)
    yield from _signs(post, marked, reading)
    yield from _near(post, marked, reading)
    yield from _done(post, marked, reading)
    yield from _subjectless(post, marked, place, reading)
    if topic.illness and (reading.own or post.nobody) and OTHERS.isdisjoint(marked.letters):
        yield from _led(post, marked, reading)


def _has(phrases: Iterable[CompiledPhrase], reading: Reading) -> bool:
    words = reading.word_set
    return any(
        not any(need.isdisjoint(words) for need in phrase.needs)
        and phrase.pattern.search(reading.text) is not None
        for phrase in phrases
    )


def _phrases(post: Post, phrase: CompiledPhrase, reading: Reading) -> Iterator[_Finding]:
    # A sentence that has lost its "I" is read as if it had it.
    before = f" i{BARRED}" if reading.elided else ""
    text = before + reading.text
    for match in phrase.pattern.finditer(text):
        first = text.count(" ", 0, match.start()) - 1 - bool(before)
        last = first + match.group().count(" ")
        first = max(first, 0)
        spoken = frozenset(match.group().replace(BARRED, "").split())
        named = phrase.own or not _OWN_WORDS.isdisjoint(spoken) or own_subject(reading, first)
        refused = why_not(reading, first, last, own=first)
        refused = refused or _not_own(post, reading, first, last, named)
        if not refused and post.professional and _I_OR_ME.isdisjoint(spoken):
            refused = "" if own_subject(reading, first) else "work"
        yield _Finding(first, last, "phrase", refused)


def _not_own(post: Post, reading: Reading, first: int, last: int, named: bool) -> str:
    """Why a phrase is not the author's, who is ``named`` in it or not."""
    if reading.letters[first] == MY and reading.letters[last : last + 1] == [KIN]:
        return "third person"
    if named:
        return ""
    if other_subject(reading, first):
        return "third person"
    if reading.sentence.question:
        return "question"
    told = post.own or post.nobody or first <= 1 or _ARE.isdisjoint(reading.sentence.words)
    return "" if told else "nobody"


def _mark(reading: Reading, topic: CompiledTopic) -> _Marked:
    words, letters = reading.sentence.words, reading.letters
    if topic.terms.keys().isdisjoint(words):
        return _Marked("".join(letters), [], [])
    marked: list[str] = []
    places: list[tuple[int, int]] = []
    terms: list[tuple[int, int]] = []
    place = 0
    while place < len(words):
        length, role = _term_at(words, place, topic)
        if length:
            terms.append((place, place + length))
        length = length or 1
        marked.append(role or letters[place])
        places.append((place, place + length))
        place += length
    return _Marked("".join(marked), places, terms)


def _term_at(words: list[str], place: int, topic: CompiledTopic) -> tuple[int, str]:
    for form, role in topic.terms.get(words[place], ()):
        if tuple(words[place : place + len(form)]) == form:
            return len(form), role
    return 0, ""


def _frames(post: Post, marked: _Marked, reading: Reading) -> Iterator[_Finding]:
    letters, shift = marked.letters, 0
    if reading.elided and letters[0] != I:
        letters, shift = I + letters, 1
    for name, pattern in _FRAMES.frames.items():
        for match in pattern.finditer(letters):
            first, own, last = _words(marked, match, shift)
            refused = why_not(reading, first, last, own=own)
            if not refused and name in _BY_VERB and only_met(
                reading, first, own, did=name == "did"
            ):
                refused = "work"
            if not refused and name == "is, after a list" and post.professional:
                refused = "work"
            if not refused and name in {"takes", "on it"} and post.professional:
                refused = "" if takes(reading) else "work"
            if not refused and match.group()[-1] in "SM" and is_fiction(reading):
                refused = "fiction"
            if not refused and name == "does to me" and _before_kin(letters, match.end()):
                refused = "third person"
            yield _Finding(first, last, name, refused)


def _before_kin(letters: str, place: int) -> bool:
    return letters[place : place + 1] == KIN


def _words(marked: _Marked, match: re.Match[str], shift: int) -> tuple[int, int, int]:
    """The first word, the first one of the term, and the one after the last."""
    first, last = max(match.start() - shift, 0), max(match.end() - shift, 1)
    # A rule may look one letter past the term; what follows a term is looked at from its end.
    while last - 1 > first and marked.letters[last - 1] not in _ROLE_LETTERS:
        last -= 1
    return marked.places[first][0], *marked.places[last - 1]


def _fragments(post: Post, marked: _Marked, place: int, reading: Reading) -> Iterator[_Finding]:
    refused = ""
    if post.professional:
        refused = "work"
    elif reading.sentence.question:
        refused = "question"
    elif _about_others(post, marked, place, reading):
        refused = "third person"
    for name, pattern in _FRAMES.fragments.items():
        match = pattern.search(marked.letters)
        if match is None:
            continue
        first, own, last = _words(marked, match, 0)
        if name == "one" and not is_one_person(reading.sentence.words[last]):
            continue
        if name == "being it" and not OTHERS.isdisjoint(marked.letters[: match.start()]):
            continue
        if refused == "third person" and name in _CERTAIN:
            refused = ""
        alone = refused or ("" if post.own or _stands_alone(post, marked, match, name, reading) else "nobody")
        yield _Finding(first, last, name, alone or why_not(reading, first, last, own=own))


def _stands_alone(post: Post, marked: _Marked, match: re.Match[str], name: str, reading: Reading) -> bool:
    """Whether a post that names nobody can only be about its author: "Autistic, and tired"."""
    if name in _CERTAIN or name in {"did so", "diagnosed so", "a sufferer here"}:
        return True
    if name in {"what, numbered", "what", "being it", "is back", "diagnosed so"}:
        return post.nobody
    if name == "taken":
        return post.nobody and _ARE.isdisjoint(reading.sentence.words)
    after = marked.letters[match.end() - 1]
    if name in {"who", "one", "numbered who"} and after == ",":
        return True
    # "Gay and proud", but not "gay and lesbian" or "Labour and the Greens".
    listed = marked.letters[match.end() : match.end() + 1] in _LISTED
    closed = match.end() == len(marked.letters) or after != _AND or not listed
    alone = name in {"who", "one"} and closed
    clause = " ".join(reading.sentence.words).split(",")[0].split()
    return alone and (after == _AND or _ARE.isdisjoint(clause))


def _about_others(post: Post, marked: _Marked, place: int, reading: Reading) -> bool:
    if not reading.own and not {YOU, THEY}.isdisjoint(marked.letters):
        return True
    before = post.readings[place - 1] if place else None
    others = {KIN, THEY}
    return before is not None and not others.isdisjoint(before.letters) and I not in before.letters


def _near(post: Post, marked: _Marked, reading: Reading) -> Iterator[_Finding]:
    """A term to which "I" is the nearest subject, where no verb or preposition speaks against."""
    if post.professional or is_fiction(reading):
        return
    for place, letter in enumerate(marked.letters):
        if letter in _ROLE_LETTERS:
            start = _own_subject(marked.letters, place, owned=letter in "CT")
            if start is not None:
                first, last = marked.places[start][0], marked.places[place][1]
                refused = why_not(reading, first, last, own=marked.places[place][0])
                noun = marked.letters[place + 1 : place + 2] in ("_", KIN) and letter in "SM"
                if not refused and (only_met(reading, first, last) or is_opinion(reading) or noun):
                    refused = "work"
                yield _Finding(first, last, "near", refused)


def _own_subject(letters: str, place: int, *, owned: bool) -> int | None:
    """Where the author is named before ``place``, with nothing between that parts the two."""
    for start in range(place - 1, max(place - _REACH, 0) - 1, -1):
        if letters[start] == I:
            return start
        if letters[start] == MY:
            between = set(letters[start:place])
            return start if owned and between.isdisjoint(_VERBS) else None
        if letters[start] in _PARTS:
            return None
    return None


def _done(post: Post, marked: _Marked, reading: Reading) -> Iterator[_Finding]:
    """Something that was done, in a post of the author's, and by nobody else that is named."""
    if post.professional or reading.sentence.question or not post.own:
        return
    for place, letter in enumerate(marked.letters):
        first, last = marked.places[place] if letter == "A" else (0, 0)
        if letter == "A" and not other_subject(reading, first) and not _of_it(marked.letters, place):
            clause = marked.letters[:place].rpartition(",")[2]
            refused = why_not(reading, first, last, own=first)
            if not _DENIED.isdisjoint(clause):
                refused = "negation"
            met = only_met(reading, first - len(clause), first, did=True)
            yield _Finding(first, last, "done", refused or ("work" if met else ""))


def _of_it(letters: str, place: int) -> bool:
    return letters[place - 1 : place] in _OF


def _subjectless(
    post: Post, marked: _Marked, place: int, reading: Reading
) -> Iterator[_Finding]:
    """A term near the beginning of a sentence that names nobody, in a post of the author's."""
    if post.professional or reading.sentence.question or not post.own:
        return
    if not _NAMED.isdisjoint(marked.letters) or _about_others(post, marked, place, reading):
        return
    for at, letter in enumerate(marked.letters[:_EARLY]):
        if letter in _ROLE_LETTERS and _PARTS.isdisjoint(marked.letters[:at]):
            first, last = marked.places[at]
            refused = why_not(reading, first, last, own=first)
            titled = letter in "SM" and marked.letters[0] == _FRAMES.letters["the"]
            fits = _ARE.isdisjoint(reading.sentence.words) and not (is_opinion(reading) or titled)
            yield _Finding(first, last, "subjectless", refused or ("" if fits else "nobody"))


def _led(post: Post, marked: _Marked, reading: Reading) -> Iterator[_Finding]:
    """An illness that a sentence begins with, where the author is named and nobody else."""
    if post.professional or reading.sentence.question:
        return
    place = marked.letters.find("C")
    if place >= 0 and reading.own and _APART.isdisjoint(marked.letters[:place]):
        first, last = marked.places[place]
        refused = why_not(reading, first, last, own=first)
        met = is_opinion(reading) or is_doubt(reading, first)
        met = met or bool(_THING.search(marked.letters[:place]))
        met = met or only_met(reading, 0, len(reading.sentence.words))
        yield _Finding(first, last, "with me", refused or ("work" if met else ""))
    for name, pattern in _FRAMES.illness.items():
        match = pattern.search(marked.letters)
        if match is not None:
            first, own, last = _words(marked, match, 0)
            refused = why_not(reading, first, last, own=own)
            if NOT in marked.letters[: match.start()]:
                refused = "negation"
            yield _Finding(first, last, name, refused or ("work" if is_opinion(reading) else ""))


def _signs(post: Post, marked: _Marked, reading: Reading) -> Iterator[_Finding]:
    for place in [k for k, letter in enumerate(marked.letters) if letter == "T"]:
        before = marked.letters[:place]
        refused = ""
        named = _ARE.isdisjoint(reading.sentence.words) or is_soon(reading)
        alone = post.own or (post.nobody and named)
        if post.professional or not alone or reading.sentence.question:
            refused = "nobody"
        elif not OTHERS.isdisjoint(before) or (YOU in marked.letters and not reading.own):
            refused = "third person"
        elif NOT in before[-4:] or IF in before:
            refused = "negation"
        elif _FRAMES.letters["about"] in before[-2:]:
            refused = "work"
        elif before[-2:] == _IS_MY:
            refused = "metaphor"
        first, last = marked.places[place]
        if not refused and only_met(reading, 0, first):
            refused = "work"
        yield _Finding(first, last, "sign", refused or why_not(reading, first, last, own=first))
