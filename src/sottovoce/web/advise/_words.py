"""A standing as a person sees it: in sentences, and drawn; the templates only put it down.

The strip is a community from its most exposed member to the least, and where one of them is on it.
The timeline has what each time bucket holds, the score so far, and the lines of alerts.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from sottovoce.advisor.evidence import Timeline
from sottovoce.advisor.standing import BANDS, REST, Standing
from sottovoce.assess.measures.catalogue import MEASURES

_TEN, _A_MILLION = math.log(10), math.log(10**6)
LEARNT_FROM_MADE_UP = (
    " This ranking learnt from made-up texts which words count: do not trust it on real posts."
)


def count_of(number: int, one: str, many: str) -> str:
    """``1 post``, ``2 posts``."""
    return f"{number:,} {one if number == 1 else many}"


def measure_in_words(measure: str) -> str:
    """A measure in a few words."""
    return MEASURES[measure].wording or measure


def factor_in_words(epsilon: float) -> str:
    """How many times likelier an outcome becomes: e to the epsilon."""
    if epsilon > _A_MILLION:
        return "more than a million"
    factor = math.exp(epsilon)
    return f"{factor:.1f}" if epsilon < _TEN else f"{factor:,.0f}"


def place_sentence(standing: Standing) -> str:
    """Where a reader of the whole community would list them, in one sentence."""
    if standing.low is None or standing.high is None:
        return "Without these posts you would not be in the community, and nobody could list you."
    if standing.users == 1:
        return f"Nobody else is known for {standing.topic} yet, so you have no place."
    if not standing.evident:
        return (
            f"The ranking finds nothing about {standing.topic} in your posts, so you have no place."
        )
    whom = "this community by how much its members write"
    if standing.simulated:
        whom = f"you and {standing.users - 1:,} made-up people by how much each writes"
    return (
        f"Someone who ranked {whom} about {standing.topic} would list you {places(standing)} of "
        f"{standing.users:,}{_ending(standing)}."
    )


def crowd(standing: Standing) -> str:
    """Whom the strip shows, and that they do not exist where they do not."""
    order = "from the one a ranking finds first, on the left, to the last"
    if not standing.simulated:
        return f"The whole community, {order}; the first few percent are drawn wider."
    return (
        f"You and {standing.users - 1:,} made-up people, who do not exist, {order}; the first "
        "few percent are drawn wider. Among real people your place may be very different."
        f"{LEARNT_FROM_MADE_UP if MEASURES[standing.measure].is_voice else ''}"
    )


def doubt(standing: Standing) -> str | None:
    """How far their place is uncertain; None when there is nothing to say."""
    found = standing.uncertainty
    if found is None or not standing.evident or standing.users == 1:
        return None
    if standing.unsure:
        return (
            "Too little is known of the others to say more: you may be "
            f"{in_words(standing.best_band)}"
            f" or only {in_words(standing.band)}."
        )
    if found.posts == 1:
        return "That rests on a single post."
    if (found.low, found.high) == (standing.low, standing.high):
        return "It would be the same without any one of your posts."
    return f"Without one of your posts it would be between place {found.low:,} and {found.high:,}."


def _ending(standing: Standing) -> str:
    """The band, as far as it is known."""
    if not standing.unsure:
        return f": {in_words(standing.band)}"
    if standing.band == REST:
        return "; nobody can tell which band that is"
    return f", surely {in_words(standing.band)}"


def in_words(band: str) -> str:
    """``in the first 5%`` for ``top 5%``."""
    if band == REST:
        return "in the lower half, among those least exposed"
    return "in the first " + band.removeprefix("top ")


def chip(standing: Standing) -> str:
    """The band in a few words."""
    if not standing.present:
        return "not listed"
    if standing.users == 1:
        return "nobody else known"
    if not standing.evident:
        return "not seen by the ranking"
    if standing.unsure:
        wide = standing.band == REST
        return "cannot be told" if wide else "within " + in_words(standing.band).removeprefix("in ")
    return standing.band if standing.band == REST else "first " + standing.band.removeprefix("top ")


def change(before: Standing, after: Standing) -> str:
    """What would change, in one sentence."""
    if before.low is None or before.high is None or after.low is None or after.high is None:
        return place_sentence(after)
    if (before.low, before.high) == (after.low, after.high):
        return f"Your place for {after.topic} would stay the same: {places(after)}."
    way = "less" if after.high > before.high or after.low > before.low else "more"
    bands = "" if before.band == after.band else _then(after)
    return (
        f"For {after.topic} you would be {way} exposed: {places(after)} instead of "
        f"{places(before)} of {after.users:,}{bands}."
    )


def _then(standing: Standing) -> str:
    if standing.unsure:
        known = standing.band != REST
        return f", and you would surely be {in_words(standing.band)}" if known else ""
    return f", and you would be {in_words(standing.band)}"


def places(standing: Standing) -> str:
    """``at place 12``, or between which ones those who score alike are."""
    low, high = standing.low or 0, standing.high or 0
    return f"at place {low:,}" if low == high else f"between place {low:,} and {high:,}"


def short_places(standing: Standing) -> str:
    """``12``, or ``12 to 15``, for a table."""
    if standing.low is None or standing.high is None:
        return "-"
    low, high = f"{standing.low:,}", f"{standing.high:,}"
    return low if low == high else f"{low} to {high}"


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


def bands() -> list[tuple[int, Span]]:
    """The bands of the strip, the most exposed first, each by its percent; the last is the rest."""
    borders = [0, *BANDS, 100]
    return [(high, _make_span(low / 100, high / 100)) for low, high in pairwise(borders)]


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
    if span.width >= NARROWEST:
        return span
    left = span.x + span.width / 2 - NARROWEST / 2
    return Span(max(0.0, min(left, WIDTH - NARROWEST)), NARROWEST)


def _make_span(low: float, high: float) -> Span:
    """Between two shares of the community; square roots give the small bands room."""
    left, right = (WIDTH * math.sqrt(min(1.0, max(0.0, share))) for share in (low, high))
    return Span(left, right - left)


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
    starts, posts = timeline.starts[first:], timeline.posts[first:]
    scores = [_finite(score) for score in timeline.scores[first:]]
    strengths = [
        _finite(strength) for strength in (timeline.strengths or (0.0,) * len(timeline.starts))
    ][first:]
    lines = {line.percent: _finite(line.enter) for line in timeline.lines if line.enter is not None}
    scale = _Scale.around([*scores, *strengths, *lines.values()])
    step = shape.width / len(scores)
    every = -(-len(scores) // shape.dates)
    bars = [
        Bar(
            start=start,
            posts=number,
            strength=strength,
            score=score,
            x=at * step + step * 0.15,
            width=step * 0.7,
            y=scale.y(strength),
            height=max(0.0, scale.y(0.0) - scale.y(strength)),
            # The last one would reach beyond the drawing.
            label=f"{start.day} {start:%b %y}"
            if at % every == 0 and (at == 0 or at + every / 2 <= len(scores))
            else None,
        )
        for at, (start, number, strength, score) in enumerate(
            zip(starts, posts, strengths, scores, strict=True)
        )
    ]
    path = " ".join(
        f"{at * step:.1f},{scale.y(score):.1f} {(at + 1) * step:.1f},{scale.y(score):.1f}"
        for at, score in enumerate(scores)
    )
    return TimelineDrawing(
        shape, scale.ticks(), bars, _name_lines(lines, scale), path, scale.y(0.0), first
    )


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


def _name_lines(lines: Mapping[int, float], scale: _Scale) -> list[BandLine]:
    """The widest band first; it is the lowest line."""
    found: list[BandLine] = []
    below = TIMELINE_HEIGHT + LABEL_HEIGHT
    for percent, score in sorted(lines.items(), reverse=True):
        y = scale.y(score)
        below = min(y + LABEL_HEIGHT / 3, below - LABEL_HEIGHT)
        found.append(BandLine(percent, score, y, below))
    return found


def _finite(value: float) -> float:
    # The only user of a word scores infinity, which no drawing holds.
    return max(-2.0, min(2.0, value)) if not math.isfinite(value) else value


OVER_TIME = (
    "Bars: how close your closest post of each week or other stretch of time comes to the topic. "
    "Line: your score with all posts up to then. Dashed: above such a line you are in the first "
    "percent that it names."
)


def over_time(drawn: TimelineDrawing) -> str:
    """What the timeline shows, for who does not see it."""
    said = [OVER_TIME]
    if drawn.lines:
        widest = drawn.lines[0]
        line = f"above the alert line of the first {widest.percent}%"
        above = next((bar for bar in drawn.bars if bar.score > widest.score), None)
        said.append(
            f"It never rose {line}."
            if above is None
            else f"It first rose {line} in the time that begins on {above.start}."
        )
    if drawn.left_out:
        said.append(f"{drawn.left_out:,} earlier stretches of time are not drawn.")
    return " ".join([*said, "Other people count as they are today."])
