"""Both signals in a sentence: what posts say outright, and how soon a ranking comes to them.

Neither is concluded from the other: a place that stays the same says nothing about what a reader
of one post learns, and who says it outright may be far down a list. "No sign" is said only where
neither is there, with how much was read.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce.advisor._said import TopicSaid
from sottovoce.advisor._standing import Standing
from sottovoce.assess.disclosure import DisclosureLevel

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
    def outright(self) -> bool:
        """Whether any post says it of its author."""
        return self.said.level is DisclosureLevel.OUTRIGHT

    @property
    def absent(self) -> bool:
        """Whether neither signal is there: no word of it, and a ranking surely comes to half first.

        A measure that weighs everyday words gives everybody some score, so that a score alone is
        no sign.
        """
        return self.said.level is DisclosureLevel.NONE and not self.standing.may_be_within(HALF)

    @property
    def order(self) -> tuple[int, int, float]:
        """What is said outright first, then what a ranking finds soonest, then what is about it."""
        grades = (self.outright, self.stands_out, self.said.level is DisclosureLevel.ABOUT, True)
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
        return f"a ranking of {standing.users:,} people has nothing to list you by"
    low, high = f"{standing.low:,}", f"{standing.high:,}"
    place = f"at place {low}" if low == high else f"between place {low} and {high}"
    return f"a ranking of {standing.users:,} people would list you {place}"


def verdict(signs: Signs) -> str:
    """One topic in one sentence, or two where the signals differ."""
    plainly, soon = how_plainly(signs.said), how_soon(signs.standing)
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
    return (
        f"No sign of any of the {len(found)} topics in your {posts_in_words(said.posts)}: "
        f"{said.words:,} words were read."
    )


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
