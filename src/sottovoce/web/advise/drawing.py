"""The strip: a community from its most exposed member to the least, and where she is on it."""

from dataclasses import dataclass
from math import sqrt

from sottovoce.advisor.standing import BANDS, Standing

WIDTH = 400.0
NARROWEST = 7.0


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
    pairs = zip(borders, borders[1:], strict=False)
    return [Band(high, _between(low / 100, high / 100)) for low, high in pairs]


def place(standing: Standing) -> Span | None:
    """Where she is on the strip: from her first possible place to the last."""
    if standing.low is None or standing.high is None:
        return None
    low, high = standing.low, standing.high
    if standing.uncertainty is not None:
        low, high = min(low, standing.uncertainty.low), max(high, standing.uncertainty.high)
    span = _between((low - 1) / standing.users, high / standing.users)
    missing = max(0.0, NARROWEST - span.width)
    return Span(max(0.0, min(span.x - missing / 2, WIDTH - NARROWEST)), span.width + missing)


def _between(low: float, high: float) -> Span:
    return Span(along(low), along(high) - along(low))
