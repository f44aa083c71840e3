"""Both signals in a sentence, and guidance: what a person could do, why, and what it would change.

The signals are what posts say outright, and how soon a ranking comes to them.

Neither is concluded from the other: a place that stays the same says nothing about what a reader
of one post learns, and who says it outright may be far down a list. "No sign" is said only where
neither is there, with how much was read. Sentences say what an adversary sees, never what the
person is; guidance is options with reasons, never orders.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from sottovoce.advisor.evidence import Evidence, heaviest_post
from sottovoce.advisor.person_values import TopicSaid
from sottovoce.advisor.standing import Standing
from sottovoce.assess.disclosure.levels import DisclosureLevel
from sottovoce.corpus.words.rules import ENGLISH, TokenRules

if TYPE_CHECKING:
    from sottovoce.advisor.person import Person

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
    for ids, one, many, rest in (
        (said.outright, "says", "say", "it outright"),
        (said.about, "is", "are", "about it, and none says it outright"),
    ):
        if ids:
            which = f"{len(ids):,} of {whole}" if said.posts != 1 else whole
            return f"{which} {one if len(ids) == 1 else many} {rest}"
    return f"no word of it was found in {whole}, {said.words:,} words in all"


def how_soon(standing: Standing) -> str:
    """Where a ranking lists them."""
    if standing.low is None or standing.high is None:
        return "a ranking would not list you"
    if standing.users == 1:
        return "nobody else is known, so there is no ranking yet"
    if not standing.evident:
        return f"a ranking of {_whom(standing)} finds nothing about you"
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
        late = f"{_capital(soon)}, but a reader of those words needs no ranking."
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
    telling = bytearray(len(text))
    for start, end in spans:
        telling[start:end] = b"\1" * (min(end, len(text)) - start)
    found, at = [], 0
    for told, run in groupby(telling):
        length = len(list(run))
        found.append(TextPiece(text[at : at + length], telling=bool(told)))
        at += length
    return found


NOT_A_DIAGNOSIS = (
    "This is exposure: how early you come when somebody ranks everybody by how close their posts "
    "are to the topic, rightly or wrongly. It says nothing about who you are, and it is not a "
    "diagnosis."
)
NOTHING = "Leave things as they are"
REMOVE = "Remove some posts"
REMOVE_OUTRIGHT = "Remove what says it outright"
REPHRASE = "Say it in other words"
ANONYMOUS = "Post about it under another name"

NOTHING_REASON = (
    "{where}, and no post of yours was found to say it outright. Speaking openly can be worth it."
)
NOTHING_REASON_FLAGGED = (
    "You may want to be seen: to help others, or to find help. Only you can decide that."
)
REMOVE_REASON = (
    "These posts raise your place more than any others. Copies and archives that others made stay."
)
OUTRIGHT_REASON = (
    "Anyone who reads one of these posts knows it, whatever your place. Copies and archives that "
    "others made stay."
)
REPHRASE_REASON = (
    "These words tie your posts to the topic. A program that ranks people looks for such words; a "
    "reader will understand you without some of them."
)
ANONYMOUS_REASON = (
    "Posts under another name do not count towards yours, as long as nothing connects the two: the "
    "same phrases, hours, places or friends may."
)


def place(standing: Standing) -> str:
    """``place 12 of 500``, or a range where several share it or it is not known exactly."""
    if standing.low is None or standing.high is None:
        return "nowhere: you would have no post here"
    if standing.low == standing.high:
        return f"place {standing.low:,} of {standing.users:,}"
    return f"places {standing.low:,} to {standing.high:,} of {standing.users:,}"


def effect_of_anonymity(standing: Standing) -> str:
    """What posting elsewhere does from now on."""
    return f"Your own place would stay where it is: {place(standing)}."


Kind = Literal["nothing", "remove", "rephrase", "anonymous"]
MOST_POSTS = 5
MOST_WORDS = 3


@dataclass(frozen=True)
class Suggestion:
    """One thing they could do."""

    kind: Kind
    title: str
    reason: str
    effect: str | None = None
    """What it would change, computed exactly; None where nothing can be computed."""
    posts: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    standing: Standing | None = None
    """Where they would stand."""


def guidance(standing: Standing, evidence: Evidence, person: "Person") -> list[Suggestion]:
    """What they could do about one topic, and what it would change.

    Who neither stands out nor says it outright is told their place, and gets no other option.
    """
    outright = person.disclosures.of_topic(evidence.topic).outright
    if not standing.present or (standing.users == 1 and not outright):
        return []
    if not outright and not stands_out(standing, person):
        # The place is known, not its worth.
        where = _capital(how_soon(standing))
        return [Suggestion("nothing", NOTHING, NOTHING_REASON.format(where=where))]
    alone = standing.users == 1
    elsewhere = None if alone else effect_of_anonymity(standing)
    place_kept = None if alone else standing
    found = [Suggestion("anonymous", ANONYMOUS, ANONYMOUS_REASON, elsewhere, standing=place_kept)]
    if words := tuple(word.word for word in evidence.words[:MOST_WORDS]):
        found.append(_rephrase(standing, words, person))
    if outright:
        found.append(_remove(standing, outright, person, REMOVE_OUTRIGHT, OUTRIGHT_REASON))
    early = not alone and stands_out(standing, person)
    if early and (posts := decisive_posts(person, standing.topic)):
        found.append(_remove(standing, posts, person, REMOVE, REMOVE_REASON))
    return [*found, Suggestion("nothing", NOTHING, NOTHING_REASON_FLAGGED)]


def stands_out(standing: Standing, person: "Person") -> bool:
    """Whether they are, as far as is known, in the widest band that raises an alert.

    Where a histogram leaves it open they are not told that they do not stand out.
    """
    return any(standing.may_be_within(percent) for percent in person.setting.thresholds)


def decisive_posts(person: "Person", topic: str, most: int = MOST_POSTS) -> tuple[int, ...]:
    """Few posts without which they would not stand out, found one after another; at most ``most``.

    Each step leaves out the post without which their score falls most. The steps are greedy, so
    fewer posts may do; where they stand without them is exact.
    """
    gone: list[int] = []
    left = person
    while len(gone) < min(most, len(person.posts) - 1):
        leading = heaviest_post(left, topic)
        if leading is None:
            break
        gone.append(leading)
        left = person.lacking(gone)
        if not stands_out(left.standing(topic), person):
            break
    return tuple(gone)


def _remove(
    standing: Standing, posts: tuple[int, ...], person: "Person", title: str, reason: str
) -> Suggestion:
    """Nobody else may be known: then there is no effect on a place."""
    if standing.users == 1:
        return Suggestion("remove", title, reason, posts=posts)
    after = person.standings_without(posts)[person.column(standing.topic)]
    which = "this post" if len(posts) == 1 else f"these {len(posts)} posts"
    then = f"be at {place(after)}" if after.present else "have no post here at all"
    effect = f"Without {which} you would {then}."
    return Suggestion("remove", title, reason, effect, posts=posts, standing=after)


def _rephrase(standing: Standing, words: tuple[str, ...], person: "Person") -> Suggestion:
    if standing.users == 1:
        return Suggestion("rephrase", REPHRASE, REPHRASE_REASON, words=words)
    after = person.without_words(words)[person.column(standing.topic)]
    quoted = ", ".join(f"“{word}”" for word in words)
    effect = f"Had your posts done without {quoted}, you would be at {place(after)}."
    return Suggestion("rephrase", REPHRASE, REPHRASE_REASON, effect, words=words, standing=after)
