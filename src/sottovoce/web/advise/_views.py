"""What the templates show of a standing, a piece of evidence, a change."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from sottovoce.advisor._alert_store import Alert
from sottovoce.advisor._evidence import PostEvidence
from sottovoce.advisor._settings import AdvisorSetting
from sottovoce.advisor._standing import Standing
from sottovoce.web.advise import _drawing as drawing
from sottovoce.web.advise import _words as words
from sottovoce.web.advise._drawing import TimelineDrawing

LONGEST_SHOWN = 1000
_UNITS = (
    (7 * 86_400, "week", "weeks"),
    (86_400, "day", "days"),
    (3600, "hour", "hours"),
    (60, "minute", "minutes"),
)
OVER_TIME = (
    "Bars: how close the closest post of each time bucket comes to the topic. Line: your score "
    "with all posts up to then. Dashed: the alert lines, above which it is in the first percents."
)


@dataclass(frozen=True)
class StandingView:
    """One topic, in words and as a mark on the strip."""

    standing: Standing
    stands_out: bool

    @property
    def topic(self) -> str:
        return self.standing.topic

    @property
    def address(self) -> str:
        return topic_address(self.topic)

    @property
    def sentence(self) -> str:
        return words.sentence(self.standing)

    @property
    def doubt(self) -> str | None:
        return words.doubt(self.standing)

    @property
    def chip(self) -> str:
        return words.chip(self.standing)

    @property
    def alone(self) -> bool:
        return self.standing.users == 1

    @property
    def places(self) -> str:
        return words.short_places(self.standing)

    @property
    def mark(self) -> drawing.StandingMark | None:
        return drawing.place(self.standing)


@dataclass(frozen=True)
class ScoreComponent:
    """Strength, breadth or persistence."""

    name: str
    value: float
    meaning: str


def _cut(text: str) -> str:
    """The text, or as much of a very long one as a list can show."""
    more = len(text) - LONGEST_SHOWN
    return f"{text[:LONGEST_SHOWN]}… ({more:,} more characters)" if more > 0 else text


def topic_address(topic: str, **more: object) -> str:
    """The page of one topic; any name can be told apart."""
    return "/topic?" + urlencode({"name": topic, **more})


def report_address(topic: str, **more: object) -> str:
    """The page on which they decide about a report."""
    return "/report?" + urlencode({"name": topic, **more})


def duration(seconds: int) -> str:
    """``1 week``, ``36 hours``."""
    for unit, one, many in _UNITS:
        if seconds % unit == 0:
            return counted(seconds // unit, one, many)
    return counted(seconds, "second", "seconds")


def edge(setting: AdvisorSetting) -> int:
    """The widest band in which one counts as standing out."""
    return max(setting.thresholds)


def standing_views(standings: Sequence[Standing], setting: AdvisorSetting) -> list[StandingView]:
    """All topics, the most exposed first."""
    ordered = sorted(standings, key=lambda one: (one.percent is None, one.percent, one.topic))
    return [StandingView(one, one.within(edge(setting))) for one in ordered]


def leaves_open(found: Sequence[StandingView], setting: AdvisorSetting) -> bool:
    """Whether they may stand out on a topic of which that is not known."""
    return any(one.standing.may_be_within(edge(setting)) for one in found if not one.stands_out)


def parts_of(standing: Standing, setting: AdvisorSetting) -> list[ScoreComponent]:
    """Strength, breadth and persistence apart, for a measure that has them."""
    if standing.strength is None:
        return []
    return [
        ScoreComponent(
            "Strength",
            standing.strength,
            "How close your closest post comes to the topic; 1 is about nothing else.",
        ),
        ScoreComponent(
            "Breadth",
            standing.breadth or 0.0,
            "How much you also write about the topic's neighbours. Someone who writes about all of "
            "them may do so by profession, and stands out less.",
        ),
        ScoreComponent(
            "Persistence",
            standing.persistence or 0.0,
            f"The mean of your {setting.m} strongest time buckets. Someone who came once may just "
            "be curious, and stands out less.",
        ),
    ]


def day(time: datetime) -> str:
    """``1 March 2026, 14:05``."""
    return f"{time.day} {time:%B %Y, %H:%M}"


def counted(number: int, one: str, many: str) -> str:
    """``1 post``, ``2 posts``."""
    return f"{number:,} {one if number == 1 else many}"


@dataclass(frozen=True)
class PostView:
    """One post in the list of evidence."""

    id: int
    time: str
    text: str
    share: str
    gone: bool

    @classmethod
    def of(cls, post: PostEvidence, *, gone: bool) -> "PostView":
        """A post and its part; who adds nothing alone may still do so together with another."""
        part = f"{post.share:.0%} of what holds your place up" if post.share else "adds nothing"
        return cls(post.id, day(post.time), _cut(post.text), part, gone)


@dataclass(frozen=True)
class WordView:
    """One word and its part."""

    word: str
    value: float

    @property
    def share(self) -> str:
        return f"{self.value:.0%}"


@dataclass(frozen=True)
class WhatIfView:
    """The result of unticking."""

    change: str
    count: str
    mark: drawing.StandingMark | None


@dataclass(frozen=True)
class AlertView:
    """One alert in words."""

    time: str
    topic: str
    what: str
    seen: bool

    @property
    def address(self) -> str:
        return topic_address(self.topic)

    @classmethod
    def of(cls, alert: Alert) -> "AlertView":
        """From the store."""
        way = "You entered" if alert.entered else "You left"
        return cls(day(alert.time), alert.topic, f"{way} the first {alert.percent}%.", alert.seen)


def listed(names: Sequence[str]) -> str:
    """``1%, 5% or 10%``."""
    return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def over_time(drawn: TimelineDrawing) -> str:
    """What the timeline shows, for who does not see it."""
    said = [OVER_TIME]
    if drawn.lines:
        widest = drawn.lines[0]
        above = next((bar for bar in drawn.bars if bar.score > widest.score), None)
        said.append(
            f"It never rose above the alert line of the first {widest.percent}%."
            if above is None
            else f"It first rose above the alert line of the first {widest.percent}% in the bucket "
            f"that begins on {above.start}."
        )
    if drawn.left_out:
        said.append(f"{drawn.left_out:,} earlier time buckets are not drawn.")
    said.append("The others are taken as they are today.")
    return " ".join(said)
