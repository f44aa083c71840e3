"""The timeline: what each time bucket holds, her score so far, and the lines of alerts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from sottovoce.advisor.timeline import AlertLine, Timeline

WIDTH, HEIGHT = 640.0, 150.0
MOST_BUCKETS = 104
MOST_DATES = 6
LABEL_HEIGHT = 13.0


@dataclass(frozen=True)
class Bar:
    """One time bucket: how close its closest post comes, and her score with all posts so far."""

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
class Line:
    """From this score on she is in the first ``percent``."""

    percent: int
    score: float
    y: float
    name_y: float
    """Where its name stands: beside it, but clear of the others."""


@dataclass(frozen=True)
class Drawing:
    """Everything with its place; the templates only draw."""

    bars: list[Bar]
    lines: list[Line]
    path: str
    """Her score so far, as points."""
    zero: float
    left_out: int
    """So many earlier buckets are not drawn."""


def draw(timeline: Timeline) -> Drawing:
    """Lay out the latest buckets."""
    first = max(0, len(timeline.starts) - MOST_BUCKETS)
    scores = [_finite(score) for score in timeline.scores[first:]]
    strengths = _strengths(timeline)[first:]
    lines = [line for line in timeline.lines if line.enter is not None]
    scale = _Scale.of([*scores, *strengths, *(_finite(line.enter or 0.0) for line in lines)])
    step = WIDTH / len(scores)
    every = -(-len(scores) // MOST_DATES)
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
            label=f"{timeline.starts[first + place]:%d %b %y}"
            if _dated(place, every, len(scores))
            else None,
        )
        for place, (strength, score) in enumerate(zip(strengths, scores, strict=True))
    ]
    path = " ".join(
        f"{place * step:.1f},{scale.y(score):.1f} {(place + 1) * step:.1f},{scale.y(score):.1f}"
        for place, score in enumerate(scores)
    )
    return Drawing(bars, _named(lines, scale), path, scale.y(0.0), first)


def _dated(place: int, every: int, count: int) -> bool:
    # The last one would reach beyond the drawing.
    return place % every == 0 and (place == 0 or place + every / 2 <= count)


@dataclass(frozen=True)
class _Scale:
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "_Scale":
        low, high = min(0.0, *values, 0.0), max(0.0, *values, 0.0)
        room = (high - low or 1.0) * 0.06
        return cls(low - room if low < 0 else low, high + room)

    def y(self, value: float) -> float:
        return HEIGHT * (self.high - value) / (self.high - self.low)


def _named(lines: Sequence[AlertLine], scale: _Scale) -> list[Line]:
    """The widest band first; it is the lowest line."""
    found: list[Line] = []
    below = HEIGHT + LABEL_HEIGHT
    for line in sorted(lines, key=lambda one: -one.percent):
        score = _finite(line.enter or 0.0)
        y = scale.y(score)
        below = min(y + LABEL_HEIGHT / 3, below - LABEL_HEIGHT)
        found.append(Line(line.percent, score, y, below))
    return found


def _strengths(timeline: Timeline) -> list[float]:
    if timeline.strengths is None:
        return [0.0] * len(timeline.starts)
    return [_finite(strength) for strength in timeline.strengths]


def _finite(value: float) -> float:
    # The only user of a word scores infinity, which no drawing holds.
    return max(-2.0, min(2.0, value)) if not math.isfinite(value) else value
