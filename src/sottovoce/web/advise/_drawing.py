"""The page's two drawings, laid out: the strip and the timeline. The templates only draw.

The strip is a community from its most exposed member to the least, and where one of them is on it.
The timeline has what each time bucket holds, the score so far, and the lines of alerts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from sottovoce.advisor.evidence import AlertLine, Timeline
from sottovoce.advisor.standing import BANDS, Standing

WIDTH = 400.0
NARROWEST = 5.0
TIMELINE_HEIGHT = 150.0
MOST_BUCKETS = 104
LABEL_HEIGHT = 13.0
MOST_TICKS = 4


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


def place_share(share: float) -> float:
    """Where a share of the community lies; square roots give the small bands room."""
    return WIDTH * math.sqrt(min(1.0, max(0.0, share)))


def bands() -> list[Band]:
    """The bands of the strip, from left to right; the last holds the rest."""
    borders = [0, *BANDS, 100]
    return [Band(high, _make_span(low / 100, high / 100)) for low, high in pairwise(borders)]


@dataclass(frozen=True)
class StandingMark(Span):
    """A place, and how far single posts or a histogram would move it."""

    doubt: Span | None = None


def place(standing: Standing) -> StandingMark | None:
    """Where they are on the strip: the places of all who score as they do."""
    if standing.low is None or standing.high is None:
        return None
    found = _places(standing.low, standing.high, standing.users)
    rough = standing.uncertainty
    doubt = None if rough is None else _places(rough.low, rough.high, standing.users)
    return StandingMark(found.x, found.width, doubt)


def _places(low: int, high: int, users: int) -> Span:
    span = _make_span((low - 1) / users, high / users)
    middle, width = span.middle, max(span.width, NARROWEST)
    if span.width < NARROWEST:
        return Span(max(0.0, min(middle - width / 2, WIDTH - width)), width)
    return span


def _make_span(low: float, high: float) -> Span:
    return Span(place_share(low), place_share(high) - place_share(low))


@dataclass(frozen=True)
class TimelineShape:
    """How wide a timeline is drawn, and how many dates fit below it."""

    name: str
    width: float
    dates: int


WIDE = TimelineShape("wide", 600.0, 6)
NARROW = TimelineShape("narrow", 224.0, 3)
"""For a phone, on which the wide one would be too small to read."""


@dataclass(frozen=True)
class Bar:
    """One time bucket: how close its closest post comes, and the score with all posts so far."""

    start: date
    posts: int
    strength: float
    score: float
    x: float
    width: float
    y: float
    height: float
    label: str | None


@dataclass(frozen=True)
class BandLine:
    """From this score on they are in the first ``percent``."""

    percent: int
    score: float
    y: float
    name_y: float
    """Where its name stands: beside it, but clear of the others."""


@dataclass(frozen=True)
class Tick:
    """A value on the axis at the left."""

    label: str
    y: float


@dataclass(frozen=True)
class TimelineDrawing:
    """Everything with its place; the templates only draw."""

    shape: TimelineShape
    ticks: list[Tick]
    bars: list[Bar]
    lines: list[BandLine]
    path: str
    """The score so far, as points."""
    zero: float
    left_out: int
    """So many earlier buckets are not drawn."""


def draw(timeline: Timeline, shape: TimelineShape = WIDE) -> TimelineDrawing:
    """Lay out the latest buckets."""
    first = max(0, len(timeline.starts) - MOST_BUCKETS)
    scores = [_finite(score) for score in timeline.scores[first:]]
    strengths = _strengths(timeline)[first:]
    lines = [line for line in timeline.lines if line.enter is not None]
    scale = _Scale.around([*scores, *strengths, *(_finite(line.enter or 0.0) for line in lines)])
    step = shape.width / len(scores)
    every = -(-len(scores) // shape.dates)
    bars = [
        Bar(
            start=timeline.starts[first + place],
            posts=timeline.posts[first + place],
            strength=strength,
            score=score,
            x=place * step + step * 0.15,
            width=step * 0.7,
            y=scale.y(strength),
            height=max(0.0, scale.y(0.0) - scale.y(strength)),
            label=_date(timeline.starts[first + place])
            if _has_date(place, every, len(scores))
            else None,
        )
        for place, (strength, score) in enumerate(zip(strengths, scores, strict=True))
    ]
    path = " ".join(
        f"{place * step:.1f},{scale.y(score):.1f} {(place + 1) * step:.1f},{scale.y(score):.1f}"
        for place, score in enumerate(scores)
    )
    return TimelineDrawing(
        shape, scale.ticks(), bars, _name_lines(lines, scale), path, scale.y(0.0), first
    )


def _date(start: date) -> str:
    return f"{start.day} {start:%b %y}"


def _has_date(place: int, every: int, count: int) -> bool:
    # The last one would reach beyond the drawing.
    return place % every == 0 and (place == 0 or place + every / 2 <= count)


@dataclass(frozen=True)
class _Scale:
    low: float
    high: float

    @classmethod
    def around(cls, values: Sequence[float]) -> "_Scale":
        low, high = min(0.0, *values, 0.0), max(0.0, *values, 0.0)
        room = (high - low or 1.0) * 0.06
        return cls(low - room if low < 0 else low, high + room)

    def y(self, value: float) -> float:
        return TIMELINE_HEIGHT * (self.high - value) / (self.high - self.low)

    def ticks(self) -> list[Tick]:
        """A few round values."""
        span = (self.high - self.low) / MOST_TICKS
        power = 10.0 ** math.floor(math.log10(span))
        step = next(power * each for each in (1, 2, 5, 10) if power * each >= span)
        places = range(math.ceil(self.low / step), math.floor(self.high / step) + 1)
        return [Tick(f"{place * step:.3g}", self.y(place * step)) for place in places]


def _name_lines(lines: Sequence[AlertLine], scale: _Scale) -> list[BandLine]:
    """The widest band first; it is the lowest line."""
    found: list[BandLine] = []
    below = TIMELINE_HEIGHT + LABEL_HEIGHT
    for line in sorted(lines, key=lambda one: -one.percent):
        score = _finite(line.enter or 0.0)
        y = scale.y(score)
        below = min(y + LABEL_HEIGHT / 3, below - LABEL_HEIGHT)
        found.append(BandLine(line.percent, score, y, below))
    return found


def _strengths(timeline: Timeline) -> list[float]:
    if timeline.strengths is None:
        return [0.0] * len(timeline.starts)
    return [_finite(strength) for strength in timeline.strengths]


def _finite(value: float) -> float:
    # The only user of a word scores infinity, which no drawing holds.
    return max(-2.0, min(2.0, value)) if not math.isfinite(value) else value
