"""How a person came to stand where they stand: bucket by bucket, with the line of alerts.

Only the buckets at which the score may have changed are scored.
"""

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sottovoce.advisor.person_values import PostMatrix, Variants
from sottovoce.advisor.standing import evident
from sottovoce.assess.measures.breadth import domain_columns

if TYPE_CHECKING:
    from sottovoce.advisor.crowd import Seats
    from sottovoce.advisor.person import Person


def steps_of(person: "Person", topic: str) -> PostMatrix:
    """One row for each bucket at which their score for ``topic`` may change, the first included.

    A bucket that is none of the m best of any topic of the domain when it comes will never be.
    """
    if person.measure.space is None:
        return _new_words(person, topic)
    rows = person.tops.rows
    names, domains = person.community.catalogue.names, _domains(person)
    inside = domain_columns(domains, names.index(topic), with_itself=True)
    return rows.take(_among_the_best(rows.strengths[:, inside], person.setting.m))


def _among_the_best(strengths: "NDArray[np.float64]", m: int) -> "NDArray[np.bool_]":
    """Which rows are among the m best of any column so far."""
    best = np.full((m, strengths.shape[1]), -np.inf)
    columns = np.arange(strengths.shape[1])
    found = np.zeros(len(strengths), np.bool_)
    for row, values in enumerate(strengths):
        weakest = best.argmin(axis=0)
        better = values > best[weakest, columns]
        found[row] = better.any()
        best[weakest[better], columns[better]] = values[better]
    return found


def _new_words(person: "Person", topic: str) -> PostMatrix:
    """Buckets with a word of the topic that they had not used before."""
    posts = person.matrix
    order = np.argsort(posts.buckets, kind="stable")
    have, starts = np.unique(posts.buckets[order], return_index=True)
    words = np.bitwise_or.reduceat(posts.words[order], starts, axis=0)
    salient = list((person.community.scoring.header.salient or {})[topic])
    used = np.bitwise_or.accumulate(
        np.unpackbits(words, axis=1, bitorder="little")[:, salient], axis=0
    ).sum(axis=1)
    new = np.diff(used, prepend=-1) > 0
    return PostMatrix(have[new], np.zeros((int(new.sum()), 0)), words[new])


def _domains(person: "Person") -> list[str]:
    return [each.domain for each in person.community.catalogue]


@dataclass(frozen=True)
class TimelineAlert:
    """They entered, or left, the top ``percent`` with the posts up to and including a bucket."""

    bucket: date
    percent: int
    entered: bool
    low: int
    high: int


@dataclass(frozen=True)
class AlertLine:
    """A score above ``enter`` puts them into the top ``percent``; at ``leave`` or below they leave.

    None: with so few users nobody can be in it, or nobody can leave it.
    """

    percent: int
    enter: float | None
    leave: float | None


@dataclass(frozen=True)
class Timeline:
    """One entry for each bucket from their first post to their last, those without posts included.

    ``strengths`` is how close the closest post of each bucket comes (0 without posts, None for a
    measure of word use); ``scores`` their score by all posts up to then. ``lines`` are on the scale
    of ``scores``. Others are taken as they are today, since only their own history is at hand.
    """

    topic: str
    starts: tuple[date, ...]
    posts: tuple[int, ...]
    strengths: tuple[float, ...] | None
    scores: tuple[float, ...]
    lines: tuple[AlertLine, ...]
    alerts: tuple[TimelineAlert, ...]


def timeline_of(person: "Person", topic: str) -> Timeline:
    """Their history for one topic, and the alerts it would have raised."""
    column, matrix = person.column(topic), person.matrix
    numbers = np.arange(matrix.buckets.min(), matrix.buckets.max() + 1)
    bucket = person.community.scoring.header.bucket
    starts = tuple(bucket.first_day(int(number)) for number in numbers)
    changes = steps_of(person, topic)
    seats = person.crowd.seats(_so_far(changes))
    step = np.searchsorted(changes.buckets, numbers, "right") - 1
    return Timeline(
        topic=topic,
        starts=starts,
        posts=tuple(np.bincount(matrix.buckets - numbers[0]).tolist()),
        strengths=_strengths(person, topic, numbers),
        scores=tuple(seats.scores[step, column].tolist()),
        lines=alert_lines(person, topic),
        alerts=_alerts(person, seats, column, [starts[b - numbers[0]] for b in changes.buckets]),
    )


def alert_lines(person: "Person", topic: str) -> tuple[AlertLine, ...]:
    """For each threshold the scores at which they enter and leave."""
    column = person.column(topic)
    others = person.crowd.others(Variants.one(person.matrix))[column]
    users = int(person.seats.users[column])
    setting = person.setting
    return tuple(
        AlertLine(
            percent,
            _above_nothing(line(others, users, Fraction(percent, 100))),
            line(others, users, wider(percent, setting.hysteresis)),
        )
        for percent in setting.thresholds
    )


def line(others: NDArray[np.float64], users: int, part: Fraction) -> float | None:
    """The score to be above for at most ``part`` of all users to score as high; None: no such."""
    allowed = int(part * users) - 1
    if allowed < 0:
        return None
    if allowed >= others.size:
        return -np.inf
    return float(others[others.size - 1 - allowed])


def _above_nothing(enter: float | None) -> float | None:
    """Nobody enters a band at a score of 0 or less."""
    return None if enter is None else max(enter, 0.0)


def wider(percent: int, hysteresis: float) -> Fraction:
    """The part of all users beyond which they leave the top ``percent``."""
    return Fraction(percent, 100) * (1 + Fraction(repr(float(hysteresis))))


def inside(at_least: int, users: int, percent: int, hysteresis: float, *, was: bool) -> bool:
    """Whether they are in the top ``percent`` now, given whether they were.

    ``at_least`` users of ``users`` score as high as they do or higher, themselves included. The
    same rule as ``assess``: they enter at p%, and leave beyond p (1 + h)%.
    """
    part = wider(percent, hysteresis) if was else Fraction(percent, 100)
    return at_least <= part * users


def _so_far(changes: PostMatrix) -> Variants:
    """For each step, the person with all rows up to it."""
    owner, row = np.tril_indices(len(changes))
    return Variants(changes.take(row), owner, len(changes))


def _strengths(
    person: "Person", topic: str, numbers: NDArray[np.int32]
) -> tuple[float, ...] | None:
    if person.measure.space is None:
        return None
    tops = person.tops
    found = np.zeros(numbers.size)
    found[tops.buckets - numbers[0]] = tops.first[:, person.community.catalogue.names.index(topic)]
    return tuple(found.tolist())


def _alerts(
    person: "Person", seats: "Seats", column: int, starts: list[date]
) -> tuple[TimelineAlert, ...]:
    found = []
    users, hysteresis = int(seats.users[column]), person.setting.hysteresis
    for percent in person.setting.thresholds:
        was = False
        for step, start in enumerate(starts):
            low, high = int(seats.low[step, column]), int(seats.high[step, column])
            now = evident(float(seats.scores[step, column])) and inside(
                high, users, percent, hysteresis, was=was
            )
            if now != was:
                found.append(TimelineAlert(start, percent, now, low, high))
            was = now
    return tuple(sorted(found, key=lambda alert: alert.bucket))
