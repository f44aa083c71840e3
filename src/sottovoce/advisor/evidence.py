"""The posts and the words that put a person where they stand, and how that came over time.

Only the buckets at which the score may have changed are scored.
"""

from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sottovoce.advisor.person_values import PostMatrix, Variants
from sottovoce.assess.disclosure.levels import Disclosure, DisclosureLevel
from sottovoce.assess.measures.interest import domain_columns

if TYPE_CHECKING:
    from sottovoce.advisor.person import Person


@dataclass(frozen=True)
class PostEvidence:
    """One post.

    ``adds``: by how much their score would fall without it alone, exactly (of two like posts of one
    week each covers the other: leave out both). ``share``: its part in what holds the score up,
    from 0 to 1, over all posts 1; see ``shares_of_posts``. ``strength``: how close it comes to the
    topic; None for a measure of word use. ``stronger``: how many posts cover it, so that it would
    count if they were gone. ``level`` and ``spans``: how plainly it speaks of the topic, and where.
    """

    id: int
    time: datetime
    bucket: date
    text: str
    share: float
    adds: float
    strength: float | None
    stronger: int = 0
    level: DisclosureLevel = DisclosureLevel.NONE
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class WordEvidence:
    """One word: what it adds to the score, and its part among the words that add something."""

    word: str
    share: float
    adds: float


@dataclass(frozen=True)
class Evidence:
    """What puts them there, that which matters most first."""

    topic: str
    posts: tuple[PostEvidence, ...]
    words: tuple[WordEvidence, ...]
    others: int
    """So many of their posts are not listed."""


def evidence_of(person: "Person", topic: str, most: int) -> Evidence:
    """The ``most`` posts and words that matter most; first the posts that say it outright."""
    shares, strengths = shares_of_posts(person, topic)
    falls = person.left_out.falls(person.column(topic), len(person.posts))
    told = [person.disclosures.of_post(post.id, topic) for post in person.posts]
    levels = np.array([DisclosureLevel.NONE if each is None else each.level for each in told])
    by_weight = np.lexsort((-strengths, -falls, -shares))
    stronger = np.empty_like(by_weight)
    stronger[by_weight] = np.arange(by_weight.size)
    order = np.lexsort((stronger, levels != DisclosureLevel.OUTRIGHT))
    counts = (shares > 0) | (falls > 0) | (strengths > 0) | (levels > DisclosureLevel.NONE)
    known = person.measure.space is not None
    posts = tuple(
        replace(
            _post_evidence(person, row, told[row]),
            share=float(shares[row]),
            adds=float(falls[row]),
            strength=float(strengths[row]) if known else None,
            stronger=int(stronger[row]),
        )
        for row in order[:most].tolist()
        if counts[row]
    )
    return Evidence(topic, posts, words_of(person, topic, most), len(person.posts) - len(posts))


def heaviest_post(person: "Person", topic: str) -> int | None:
    """The id of the post that holds the score up most; None where none does."""
    shares, strengths = shares_of_posts(person, topic)
    falls = person.left_out.falls(person.column(topic), len(person.posts))
    row = int(np.lexsort((-strengths, -falls, -shares))[0])
    weighs = max(shares[row], falls[row], strengths[row]) > 0
    return person.posts[row].id if weighs else None


def _post_evidence(person: "Person", row: int, told: Disclosure | None) -> PostEvidence:
    post = person.posts[row]
    day = person.community.scoring.header.bucket.first_day(int(person.matrix.buckets[row]))
    found = PostEvidence(post.id, post.time, day, post.text, 0.0, 0.0, None)
    return found if told is None else replace(found, level=told.level, spans=told.spans)


def shares_of_posts(
    person: "Person", topic: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each post's share in what holds the score up, and its strength (0 for word measures).

    In a vector space: the strengths of the posts that are the strongest of one of the m best
    buckets (without buckets: the strongest post), as parts of their sum; equal posts of a bucket
    part its strength among them. By word use: the falls of the score, as parts of their sum.
    """
    count = len(person.posts)
    if person.measure.space is None:
        falls = np.maximum(person.left_out.falls(person.column(topic), count), 0)
        return _parts(np.nan_to_num(falls, posinf=1.0)), np.zeros(count)
    strengths = person.matrix.strengths[:, person.community.catalogue.names.index(topic)]
    return _parts(_support(person, strengths)), strengths


def _support(person: "Person", strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """The strength that each post lends to the m best buckets."""
    timed = person.measure.buckets
    groups = person.matrix.buckets if timed else np.zeros(strengths.size, np.int32)
    return _share_buckets(groups, np.maximum(strengths, 0), person.setting.m if timed else 1)


def _share_buckets(
    groups: NDArray[np.int32], strengths: NDArray[np.float64], m: int
) -> NDArray[np.float64]:
    """The strength that each post lends to the m best groups, ties parted."""
    _, group = np.unique(groups, return_inverse=True)
    best = np.zeros(group.max() + 1)
    np.maximum.at(best, group, strengths)
    counted = np.argsort(-best, kind="stable")[:m]
    top = (strengths == best[group]) & np.isin(group, counted) & (strengths > 0)
    ties = np.bincount(group[top], minlength=best.size)
    return np.where(top, strengths / np.maximum(ties[group], 1), 0.0)


def _parts(amounts: NDArray[np.float64]) -> NDArray[np.float64]:
    total = amounts.sum()
    return amounts / total if total > 0 else np.zeros_like(amounts)


def words_of(person: "Person", topic: str, most: int) -> tuple[WordEvidence, ...]:
    """Words by what they add to the posts that hold the score up; share: as parts of the sum."""
    if person.measure.space is None:
        adds = _falls_of_words(person, topic)
    else:
        adds = _sums_of_contributions(person, topic)
    gains = {word: amount for word, amount in adds.items() if amount > 0}
    parts = _parts(np.nan_to_num(np.array(list(gains.values())), posinf=1.0))
    found = [
        WordEvidence(word, float(part), amount)
        for (word, amount), part in zip(gains.items(), parts, strict=True)
    ]
    return tuple(sorted(found, key=lambda each: (-each.share, each.word))[:most])


def _sums_of_contributions(person: "Person", topic: str) -> dict[str, float]:
    strengths = person.matrix.strengths[:, person.community.catalogue.names.index(topic)]
    held = _support(person, strengths)
    rows = np.flatnonzero(held > 0)
    scorer = person.values.scorer
    added = scorer.contributions(person.values.counts[rows], topic)
    size = person.setting.m if person.measure.buckets else 1
    sums = added.T @ (held[rows] / strengths[rows]) / size
    return {scorer.vocabulary.terms[word]: float(sums[word]) for word in np.flatnonzero(sums)}


def _falls_of_words(person: "Person", topic: str) -> dict[str, float]:
    """By how much their score would fall had they never used each word of the topic."""
    salient = np.array((person.community.scoring.header.salient or {})[topic], np.int64)
    hers = np.bitwise_or.reduce(person.matrix.words, axis=0)
    used = salient[(hers[salient // 8] >> (salient % 8) & 1).astype(np.bool_)]
    words = np.repeat(hers[np.newaxis], used.size, axis=0)
    words[np.arange(used.size), used // 8] &= ~(np.uint8(1) << (used % 8).astype(np.uint8))
    rows = PostMatrix(np.zeros(used.size, np.int32), np.zeros((used.size, 0)), words)
    seats = person.crowd.seats(Variants(rows, np.arange(used.size), used.size))
    column = person.column(topic)
    own = person.seats.scores[0, column]
    terms = person.values.scorer.vocabulary.terms
    return {
        terms[word]: 0.0 if score == own else float(own - score)
        for word, score in zip(used.tolist(), seats.scores[:, column], strict=True)
    }


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


def timeline_of(person: "Person", topic: str) -> Timeline:
    """Their history for one topic."""
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
