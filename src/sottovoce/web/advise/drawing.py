"""The strip: a community from its most exposed member to the least, and where she is on it."""

from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

from sottovoce.advisor.standing import BANDS, Standing

WIDTH = 400.0
NARROWEST = 5.0


@dataclass(frozen=True)
class Span:
    """From where to where, along a line."""

    x: float
    width: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@dataclass(frozen=True)
class Band:
    """One band of the community, the most exposed first."""

    percent: int
    span: Span


def along(share: float) -> float:
    """Where a share of the community lies; square roots give the small bands room."""
    return WIDTH * sqrt(min(1.0, max(0.0, share)))


def bands() -> list[Band]:
    """The bands of the strip, from left to right; the last holds the rest."""
    borders = [0, *BANDS, 100]
    return [Band(high, _between(low / 100, high / 100)) for low, high in pairwise(borders)]


@dataclass(frozen=True)
class Mark(Span):
    """Her place, and how far single posts or a histogram would move it."""

    doubt: Span | None = None


def place(standing: Standing) -> Mark | None:
    """Where she is on the strip: the places of all who score as she does."""
    if standing.low is None or standing.high is None:
        return None
    found = _places(standing.low, standing.high, standing.users)
    rough = standing.uncertainty
    doubt = None if rough is None else _places(rough.low, rough.high, standing.users)
    return Mark(found.x, found.width, doubt)


def _places(low: int, high: int, users: int) -> Span:
    span = _between((low - 1) / users, high / users)
    middle, width = span.middle, max(span.width, NARROWEST)
    if span.width < NARROWEST:
        return Span(max(0.0, min(middle - width / 2, WIDTH - width)), width)
    return span


def _between(low: float, high: float) -> Span:
    return Span(along(low), along(high) - along(low))
