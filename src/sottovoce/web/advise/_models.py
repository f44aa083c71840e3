"""What the JSON routes take and give."""

import math
from datetime import date, datetime
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from sottovoce.advisor.evidence import Evidence, Timeline
from sottovoce.advisor.guides import Suggestion
from sottovoce.advisor.standing import Standing
from sottovoce.advisor.verdict import HOW_PLAINLY
from sottovoce.web.advise import _drawing as drawing
from sottovoce.web.advise import _words as words

LONGEST_TOPIC = 1000
LONGEST_DRAFT = 100_000
MOST_POSTS = 50_000
TopicName = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_TOPIC)]


def _whole(value: object) -> object:
    # To JSON 80.0 is as whole a number as 80.
    return int(value) if isinstance(value, float) and value.is_integer() else value


PostId = Annotated[int, Field(ge=0, lt=2**53, strict=True), BeforeValidator(_whole)]


class Asked(BaseModel):
    """A request: nothing unknown in it, so that a slip is told rather than ignored."""

    model_config = ConfigDict(extra="forbid")


class Mark(BaseModel):
    """Where they are on the strip."""

    x: float
    width: float


class StandingAnswer(BaseModel):
    """Where they stand for one topic."""

    topic: str
    domain: str
    measure: str
    users: int
    score: float | None = Field(description="None for who has no post, and for an infinite score")
    low: int | None
    high: int | None
    band: str
    best_band: str
    strength: float | None
    breadth: float | None
    persistence: float | None
    sentence: str
    doubt: str | None
    mark: Mark | None

    @classmethod
    def of(cls, one: Standing) -> Self:
        """From the engine's standing."""
        span = drawing.place(one)
        return cls(
            topic=one.topic,
            domain=one.domain,
            measure=one.measure,
            users=one.users,
            score=finite(one.score),
            low=one.low,
            high=one.high,
            band=one.band,
            best_band=one.best_band,
            strength=one.strength,
            breadth=one.breadth,
            persistence=one.persistence,
            sentence=words.sentence(one),
            doubt=words.doubt(one),
            mark=None if span is None else Mark(x=span.x, width=span.width),
        )


class PostAnswer(BaseModel):
    """One of their posts and its part."""

    id: int
    time: datetime
    text: str
    share: float
    adds: float | None
    says: str = Field(description="How plainly it speaks of the topic")


class WordAnswer(BaseModel):
    """One word and its part."""

    word: str
    share: float
    adds: float | None


class EvidenceAnswer(BaseModel):
    """The posts and words that put them there."""

    topic: str
    posts: list[PostAnswer]
    words: list[WordAnswer]
    others: int

    @classmethod
    def of(cls, found: Evidence) -> Self:
        """From the engine's evidence."""
        return cls(
            topic=found.topic,
            posts=[
                PostAnswer(
                    id=post.id,
                    time=post.time,
                    text=post.text,
                    share=post.share,
                    adds=finite(post.adds),
                    says=HOW_PLAINLY[post.level],
                )
                for post in found.posts
            ],
            words=[
                WordAnswer(word=word.word, share=word.share, adds=finite(word.adds))
                for word in found.words
            ],
            others=found.others,
        )


class LineAnswer(BaseModel):
    """Above ``enter`` they are in the first ``percent``."""

    percent: int
    enter: float | None
    leave: float | None


class TimelineAnswer(BaseModel):
    """Their history for one topic."""

    topic: str
    starts: list[date]
    posts: list[int]
    strengths: list[float] | None
    scores: list[float | None]
    lines: list[LineAnswer]

    @classmethod
    def of(cls, found: Timeline) -> Self:
        """From the engine's timeline."""
        return cls(
            topic=found.topic,
            starts=list(found.starts),
            posts=list(found.posts),
            strengths=None if found.strengths is None else list(found.strengths),
            scores=[finite(score) for score in found.scores],
            lines=[
                LineAnswer(percent=line.percent, enter=finite(line.enter), leave=finite(line.leave))
                for line in found.lines
            ],
        )


class WhatIf(Asked):
    """Of the posts shown, those still ticked; the others count as never written."""

    topic: TopicName
    shown: list[PostId] = Field(max_length=MOST_POSTS)
    kept: list[PostId] = Field(max_length=MOST_POSTS)


class WhatIfAnswer(BaseModel):
    """Where they would stand."""

    change: str
    count: str
    removed: list[int]
    before: StandingAnswer
    after: StandingAnswer
    standings: list[StandingAnswer]


class Draft(Asked):
    """A post that is not published yet."""

    text: Annotated[str, StringConstraints(max_length=LONGEST_DRAFT)]


class DraftRow(BaseModel):
    """What it would do for one topic."""

    topic: str
    says: str
    now: str
    then: str
    words: str


class Way(BaseModel):
    """Something they can do, and why."""

    title: str
    reason: str
    effect: str | None

    @classmethod
    def of(cls, one: Suggestion) -> Self:
        """From the engine's suggestion."""
        return cls(title=one.title, reason=one.reason, effect=one.effect)


class Piece(BaseModel):
    """A piece of the draft; ``telling``: it is what gives a topic away."""

    text: str
    telling: bool


class DraftAnswer(BaseModel):
    """What it says, and what publishing it would do."""

    summary: str
    rows: list[DraftRow]
    ways: list[Way]
    pieces: list[Piece]


class AlertAnswer(BaseModel):
    """They entered or left a band, or more posts say it outright."""

    time: datetime
    topic: str
    percent: int | None = Field(description="None where no band was entered or left")
    entered: bool
    outright: int = Field(description="How many of their posts say it outright")
    simulated: bool = Field(description="Whether all others were made up")


def finite(value: float | None) -> float | None:
    """As JSON can hold it."""
    return value if value is not None and math.isfinite(value) else None
