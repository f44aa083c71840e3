"""Both signals in a sentence: what posts say outright, and how soon a ranking comes to them.

Neither is concluded from the other: a place that stays the same says nothing about what a reader
of one post learns, and who says it outright may be far down a list. "No sign" is said only where
neither is there, with how much was read.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce.advisor._said import TopicSaid
from sottovoce.advisor.standing import Standing
from sottovoce.assess.disclosure.levels import DisclosureLevel

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
    said: TopicSaid
    edge: int

    @property
    def topic(self) -> str:
        """The topic's name."""
        return self.standing.topic

    @property
    def stands_out(self) -> bool:
        """Whether a ranking lists them among the first."""
        return self.standing.within(self.edge)

    @property
    def named(self) -> bool:
        """Whether any post has a word of it."""
        return self.said.level is not DisclosureLevel.NONE

    @property
    def shows(self) -> bool:
        """Whether a post names it, or a ranking lists them among the first.

        Among made-up people a place by other words than the topic's is no sign: neither their
        words nor what was learnt from them are those of real people.
        """
        return self.named or (self.stands_out and not self.standing.simulated)

    @property
    def outright(self) -> bool:
        """Whether any post says it of its author."""
        return self.said.level is DisclosureLevel.OUTRIGHT

    @property
    def absent(self) -> bool:
        """Whether neither signal is there: no word of it, and a ranking surely comes to half first.

        A measure that weighs everyday words gives everybody some score, so that a score alone is
        no sign.
        """
        late = self.standing.simulated or not self.standing.may_be_within(HALF)
        return not self.named and late

    @property
    def order(self) -> tuple[int, int, float]:
        """What is said outright first, then what a ranking finds soonest, then what is about it."""
        early = self.shows and self.stands_out
        grades = (self.outright, early, self.said.level is DisclosureLevel.ABOUT, True)
        place = self.standing.percent if self.standing.evident else None
        return grades.index(True), -len(self.said.outright), 100.0 if place is None else place


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
        return f"a ranking of {_whom(standing)} has nothing to list you by"
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
    plainly, soon = how_plainly(signs.said), how_soon(signs.standing)
    if not signs.named and signs.standing.simulated:
        by_others = f"; by words that do not name it, {soon}" if signs.standing.evident else ""
        return f"{_capital(signs.topic)}: {plainly}{by_others}."
    if signs.absent:
        return f"No sign of {signs.topic}: {plainly}."
    if signs.outright and not signs.stands_out:
        late = f"{_capital(soon)}, but whoever reads that does not need one."
        return f"{_capital(signs.topic)}: {plainly}. {late}"
    return f"{_capital(signs.topic)}: {plainly}; {soon}."


def verdict_of_all(found: Sequence[Signs]) -> str:
    """The topic that tells most, or that there is no sign of any."""
    first = min(found, key=lambda each: each.order)
    if not first.absent:
        return verdict(first)
    said = first.said
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
