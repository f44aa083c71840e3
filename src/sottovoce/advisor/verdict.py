"""Both signals in a sentence: what posts say outright, and how soon a ranking comes to them.

Neither is concluded from the other: a place that stays the same says nothing about what a reader
of one post learns, and who says it outright may be far down a list. "No sign" is said only where
neither is there, with how much was read.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from sottovoce.advisor.person_values import Post
from sottovoce.advisor.standing import Standing
from sottovoce.assess.disclosure.disclosures import DisclosureReader
from sottovoce.assess.disclosure.levels import Disclosure, DisclosureLevel
from sottovoce.corpus.vocabulary import SHARE
from sottovoce.corpus.words.rules import ENGLISH, TokenRules


@dataclass(frozen=True)
class TopicSaid:
    """What a person's posts say of one topic, and how much was read to find it.

    ``outright``: the ids of posts that say it of their author; ``about``: those that speak of the
    topic without saying so; both in the order of their times.
    """

    topic: str
    outright: tuple[int, ...]
    about: tuple[int, ...]
    posts: int
    words: int

    @property
    def level(self) -> DisclosureLevel:
        """How plainly the plainest post speaks."""
        if self.outright:
            return DisclosureLevel.OUTRIGHT
        return DisclosureLevel.ABOUT if self.about else DisclosureLevel.NONE


@dataclass(frozen=True, eq=False)
class SaidByPosts:
    """What each of some posts says of each topic of a catalogue; read when it is first asked."""

    reader: DisclosureReader
    posts: tuple[Post, ...]

    @cached_property
    def _by_post(self) -> dict[int, dict[str, Disclosure]]:
        found = {post.id: self.reader.read(post.text) for post in self.posts}
        return {number: {each.topic: each for each in told} for number, told in found.items()}

    def select(self, posts: tuple[Post, ...]) -> "SaidByPosts":
        """The same of some of the posts, nothing read again."""
        fewer = SaidByPosts(self.reader, posts)
        fewer.__dict__["_by_post"] = {post.id: self._by_post[post.id] for post in posts}
        return fewer

    @cached_property
    def words(self) -> int:
        """How many words were read."""
        return sum(len(post.text.split()) for post in self.posts)

    def of_post(self, number: int, topic: str) -> Disclosure | None:
        """What one post says of a topic; None where it has no word of it."""
        return self._by_post[number].get(topic)

    def of_topic(self, topic: str) -> TopicSaid:
        """What all of them say of a topic."""
        told = [
            (number, each[topic].level) for number, each in self._by_post.items() if topic in each
        ]
        outright = tuple(number for number, level in told if level is DisclosureLevel.OUTRIGHT)
        about = tuple(number for number, level in told if level is DisclosureLevel.ABOUT)
        return TopicSaid(topic, outright, about, len(self.posts), self.words)


HOW_PLAINLY = {
    DisclosureLevel.OUTRIGHT: "says it outright",
    DisclosureLevel.ABOUT: "is about it",
    DisclosureLevel.NONE: "does not name it",
}
"""What one post or draft does with a topic."""
HALF = 50


@dataclass(frozen=True)
class Signs:
    """The two signals of one topic; ``edge``: the widest band in which one stands out, percent."""

    standing: Standing
    disclosures: TopicSaid
    edge: int

    @property
    def topic(self) -> str:
        """The topic's name."""
        return self.standing.topic

    @property
    def stands_out(self) -> bool:
        """Whether a ranking lists them among the first."""
        return self.standing.is_within(self.edge)

    @property
    def is_named(self) -> bool:
        """Whether any post has a word of it."""
        return self.disclosures.level is not DisclosureLevel.NONE

    @property
    def shows(self) -> bool:
        """Whether a post names it, or a ranking lists them among the first.

        Among made-up people a place by other words than the topic's is no sign: neither their
        words nor what was learnt from them are those of real people.
        """
        return self.is_named or (self.stands_out and not self.standing.simulated)

    @property
    def outright(self) -> bool:
        """Whether any post says it of its author."""
        return self.disclosures.level is DisclosureLevel.OUTRIGHT

    @property
    def absent(self) -> bool:
        """Whether neither signal is there: no word of it, and a ranking surely comes to half first.

        A measure that weighs everyday words gives everybody some score, so that a score alone is
        no sign.
        """
        late = self.standing.simulated or not self.standing.may_be_within(HALF)
        return not self.is_named and late

    @property
    def order(self) -> tuple[int, int, float]:
        """What is said outright first, then what a ranking finds soonest, then what is about it."""
        early = self.shows and self.stands_out
        grades = (self.outright, early, self.disclosures.level is DisclosureLevel.ABOUT, True)
        place = self.standing.percent if self.standing.evident else None
        return (
            grades.index(True),
            -len(self.disclosures.outright),
            100.0 if place is None else place,
        )


def posts_in_words(count: int) -> str:
    """``1 post``, ``2,000 posts``."""
    return f"{count:,} {'post' if count == 1 else 'posts'}"


def how_plainly(said: TopicSaid) -> str:
    """How many posts say it outright, how many are about it, or that none has a word of it."""
    whole = f"your {posts_in_words(said.posts)}" if said.posts != 1 else "your only post"
    if said.outright:
        count = len(said.outright)
        which = f"{count:,} of {whole}" if said.posts != 1 else whole
        return f"{which} {'says' if count == 1 else 'say'} it outright"
    if said.about:
        count = len(said.about)
        which = f"{count:,} of {whole}" if said.posts != 1 else whole
        return f"{which} {'is' if count == 1 else 'are'} about it, and none says it outright"
    return f"no word of it was found in {whole}, {said.words:,} words in all"


def how_soon(standing: Standing) -> str:
    """Where a ranking lists them."""
    if standing.low is None or standing.high is None:
        return "a ranking would not list you"
    if standing.users == 1:
        return "nobody else is known, so there is no ranking yet"
    if not standing.evident:
        return f"a ranking of {_whom(standing)} finds nothing to list you by"
    low, high = f"{standing.low:,}", f"{standing.high:,}"
    place = f"at place {low}" if low == high else f"between place {low} and {high}"
    return f"a ranking of {_whom(standing)} would list you {place}"


def _whom(standing: Standing) -> str:
    """Who is ranked; that others do not exist is said wherever a place is."""
    if standing.simulated:
        return f"you and {standing.users - 1:,} made-up people"
    return f"{standing.users:,} people"


def verdict(signs: Signs) -> str:
    """One topic in one sentence, or two where the signals differ."""
    plainly, soon = how_plainly(signs.disclosures), how_soon(signs.standing)
    if not signs.is_named and signs.standing.simulated:
        by_others = f"; by words that do not name it, {soon}" if signs.standing.evident else ""
        return f"{_capital(signs.topic)}: {plainly}{by_others}."
    if signs.absent:
        return f"No sign of {signs.topic}: {plainly}."
    if signs.outright and not signs.stands_out:
        late = f"{_capital(soon)}, but a reader of that needs no ranking."
        return f"{_capital(signs.topic)}: {plainly}. {late}"
    return f"{_capital(signs.topic)}: {plainly}; {soon}."


def verdict_of_all(found: Sequence[Signs]) -> str:
    """The topic that tells most, or that there is no sign of any."""
    first = min(found, key=lambda each: each.order)
    if not first.absent:
        return verdict(first)
    said = first.disclosures
    if first.standing.simulated:
        return (
            f"No word of any of the {len(found)} topics was found in your "
            f"{posts_in_words(said.posts)}: {said.words:,} words were read."
        )
    return (
        f"No sign of any of the {len(found)} topics in your {posts_in_words(said.posts)}: "
        f"{said.words:,} words were read."
    )


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


_WORD = re.compile(r"[^\W_]+")
SHORTEST = 2
Span = tuple[int, int]


@dataclass(frozen=True)
class TextPiece:
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
    for start, end in _merge_spans(spans):
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


def _merge_spans(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


FEWEST_WORDS = 15
"""Fewer do not tell. Of 1,667 posts of ours in English with so many, none seems foreign."""
_FUNCTION_WORDS = ENGLISH | {"a", "i"}
# A letter that is not Latin counts as a word: not all scripts leave gaps between words.
_WORD_OR_LETTER = re.compile(r"[^\W\u0000-\u024f]|\w+")
_BUILT_IN = (
    "The built-in topics and the reading of posts are for English only. What is written in another "
    "language is not found, so that finding nothing means nothing."
)
_GIVEN = "What a post says outright is read in English only, so that finding nothing means nothing."


def seems_foreign(texts: Sequence[str]) -> bool:
    """Whether so few are function words of English that it is another language.

    Fewer than ``FEWEST_WORDS`` words do not tell.

    >>> seems_foreign(["Ich habe Depressionen und nehme Tabletten."] * 3)
    True
    >>> seems_foreign(["Relapse, heroin, detox."]), seems_foreign(["I went to the sea again."] * 9)
    (False, False)
    """
    words = [word for text in texts for word in _WORD_OR_LETTER.findall(text.casefold())]
    known = sum(word in _FUNCTION_WORDS for word in words)
    return len(words) >= FEWEST_WORDS and known < SHARE * len(words)


def posts_warning(texts: Sequence[str], *, built_in: bool) -> str | None:
    """What to say above a verdict; ``built_in``: by the built-in topics. None for English."""
    if seems_foreign(texts):
        return _warning("These posts do not seem", built_in=built_in)
    foreign = sum(seems_foreign([text]) for text in texts)
    if not foreign:
        return None
    seem = "post does not seem" if foreign == 1 else "posts do not seem"
    return _warning(f"Of your {len(texts):,} posts, {foreign:,} {seem}", built_in=built_in)


def draft_warning(text: str, *, built_in: bool) -> str | None:
    """The same of a draft."""
    return _warning("The draft does not seem", built_in=built_in) if seems_foreign([text]) else None


def _warning(which: str, *, built_in: bool) -> str:
    return f"{which} to be in English. {_BUILT_IN if built_in else _GIVEN}"
