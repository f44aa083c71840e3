"""The plan of a community's posts, one entry per post, and when they are written.

Times come as sessions within weeks, bursts after news, and answers to others.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.corpus.simulate._people import AFFLICTED, CURIOUS, SUPPORTER, Users

SMALL_TALK, DIRECTLY, INDIRECTLY = range(3)
HOUR = 3600
DAY = 24 * HOUR
WEEK = 7 * DAY

# How much is posted in each local hour from midnight, and on each day from Monday.
HOURS = (3, 2, 1, 1, 1, 1, 2, 4, 5, 5, 5, 5, 6, 6, 5, 5, 5, 6, 7, 9, 10, 10, 8, 5)
DAYS = (10, 10, 10, 10, 9, 12, 13)
POSTS_PER_SESSION = 2.5
SESSION_GAP_S = 8 * 60
NEWS_PER_TOPIC = 2
BURST_DAYS = 7
ANSWER_HOURS = 6.0


@dataclass(frozen=True)
class PostPlan:
    """``second`` counts from the start; ``subject`` of small talk is of no consequence.

    ``topical`` posts are those a user writes because of their role; ``mentions`` are in passing.
    """

    user: NDArray[np.int64]
    second: NDArray[np.int64]
    subject: NDArray[np.int64]
    style: NDArray[np.int64]
    mentions: NDArray[np.bool_]
    topical: NDArray[np.bool_]

    def ordered(self) -> "PostPlan":
        """Sort by time, then by user."""
        order = np.lexsort((self.user, self.second))
        return PostPlan(
            self.user[order],
            self.second[order],
            self.subject[order],
            self.style[order],
            self.mentions[order],
            self.topical[order],
        )


@dataclass(frozen=True)
class Clock:
    """The simulated weeks, and each user's distance from UTC."""

    weeks: int
    utc_offset_hours: NDArray[np.int64]

    @property
    def end(self) -> int:
        """The first second after the simulated weeks."""
        return self.weeks * WEEK

    def time_of_day(self, user: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw a second of the day (UTC) from the local daily rhythm of each ``user``."""
        hours = rng.choice(24, len(user), p=np.array(HOURS) / sum(HOURS))
        local = hours * HOUR + rng.integers(0, HOUR, len(user))
        return (local - self.utc_offset_hours[user] * HOUR) % DAY


def weekly_times(
    clock: Clock, user: NDArray[np.int64], week: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Group each user's posts of a week, which stand next to each other, into sessions."""
    cells, cell, posts = np.unique(
        user * clock.weeks + week, return_inverse=True, return_counts=True
    )
    sessions = np.ceil(posts / POSTS_PER_SESSION).astype(np.int64)
    first = np.cumsum(sessions) - sessions
    session = first[cell] + (rng.random(len(user)) * sessions[cell]).astype(np.int64)
    owner = np.repeat(cells // clock.weeks, sessions)
    days = rng.choice(7, len(owner), p=np.array(DAYS) / sum(DAYS))
    begins = days * DAY + clock.time_of_day(owner, rng)
    gap = rng.exponential(SESSION_GAP_S, len(user)).astype(np.int64)
    # A session over the end of a week continues at its start, so that every post keeps its week.
    times: NDArray[np.int64] = week * WEEK + (begins[session] + gap) % WEEK
    return times


def burst_times(
    clock: Clock, users: Users, plan: PostPlan, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Move the topical posts of the curious into the days after a piece of news."""
    topics = int(users.topic.max(initial=0)) + 1
    news_day = rng.integers(0, clock.weeks * 7 - BURST_DAYS + 1, (topics, NEWS_PER_TOPIC))
    followed = rng.integers(0, NEWS_PER_TOPIC, len(users.topic))
    moved = np.flatnonzero(plan.topical & (users.acts_as[plan.user] == CURIOUS))
    mover = plan.user[moved]
    # Interest in the news wanes: the square favours its first days.
    days = (rng.random(len(moved)) ** 2 * BURST_DAYS).astype(np.int64)
    result = plan.second.copy()
    begins = news_day[users.topic[mover], followed[mover]]
    result[moved] = (begins + days) * DAY + clock.time_of_day(mover, rng)
    return result


def answer_times(
    clock: Clock, users: Users, plan: PostPlan, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Move supporters' posts on their topic to the hours after a post of an afflicted user."""
    subject = plan.subject
    on_topic = plan.topical & (subject == users.topic[plan.user])
    role = np.where(on_topic, users.acts_as[plan.user], -1)
    asked = np.flatnonzero(role == AFFLICTED)
    asked = asked[np.argsort(subject[asked], kind="stable")]
    answers = np.flatnonzero(role == SUPPORTER)
    low = np.searchsorted(subject[asked], subject[answers], "left")
    high = np.searchsorted(subject[asked], subject[answers], "right")
    answers, low, high = (part[high > low] for part in (answers, low, high))
    delay = rng.exponential(ANSWER_HOURS * HOUR, len(answers)).astype(np.int64)
    moved = plan.second[asked[rng.integers(low, high)]] + delay
    result = plan.second.copy()
    result[answers] = np.where(moved < clock.end, moved, plan.second[answers])
    return result
