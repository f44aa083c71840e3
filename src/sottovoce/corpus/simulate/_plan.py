"""What every post is about and when it is written, before a word of it exists."""

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from sottovoce.corpus.simulate.parameters import (
    AFFLICTED,
    CURIOUS,
    INTERESTS,
    SUPPORTER,
    SimulationParameters,
    Users,
    World,
    behaviours,
)

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

    def sort_by_time(self) -> "PostPlan":
        """Sort by time, then by user."""
        order = np.lexsort((self.user, self.second))
        return PostPlan(*(getattr(self, each.name)[order] for each in fields(self)))


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


# Everyday posts: share without any topic, and share of direct wording among the others.
SMALL_TALK_SHARE = 0.3
EVERYDAY_DIRECT = 0.6


def plan_posts(
    parameters: SimulationParameters, users: Users, world: World, rng: np.random.Generator
) -> PostPlan:
    """Decide for every post who writes it, when, about what and in which style."""
    clock = Clock(parameters.weeks, users.utc_offset_hours)
    user, week = _posts_by_week(parameters, users, rng)
    second = weekly_times(clock, user, week, rng)
    topical = _topical_posts(parameters, users, user, rng)
    subject, style = _everyday_subjects(users, user, rng)
    chosen = np.flatnonzero(topical)
    subject[chosen], style[chosen] = _role_subjects(parameters, users, user[chosen], world, rng)
    mentions = ~topical & (rng.random(len(user)) < users.mention_rate[user])
    plan = PostPlan(user, second, subject, style, mentions, topical)
    plan = replace(plan, second=burst_times(clock, users, plan, rng))
    return replace(plan, second=answer_times(clock, users, plan, rng)).sort_by_time()


def _posts_by_week(
    parameters: SimulationParameters, users: Users, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw each user's posts in each week: Poisson, with a gamma-distributed weekly mood."""
    factor = np.array([item.regularity for item in behaviours(parameters.difficulty)])
    shape = (parameters.week_regularity * factor[users.acts_as])[:, np.newaxis]
    size = (parameters.users, parameters.weeks)
    counts = rng.poisson(users.weekly_posts[:, np.newaxis] * rng.gamma(shape, 1 / shape, size))
    silent = np.flatnonzero(counts.sum(axis=1) == 0)
    counts[silent, rng.integers(0, parameters.weeks, len(silent))] = 1
    cells = np.repeat(np.arange(counts.size), counts.ravel())
    return cells // parameters.weeks, cells % parameters.weeks


def _topical_posts(
    parameters: SimulationParameters,
    users: Users,
    user: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Choose which of each user's posts have a role subject, uniformly among all of theirs."""
    posts = np.bincount(user, minlength=parameters.users)
    fewest = np.array([item.fewest for item in behaviours(parameters.difficulty)])
    wanted = np.maximum(rng.binomial(posts, users.focus), fewest[users.acts_as])
    wanted += np.where(users.acts_as == CURIOUS, rng.poisson(2.0, parameters.users), 0)
    order = np.lexsort((rng.random(len(user)), user))
    place = np.arange(len(user)) - np.repeat(np.cumsum(posts) - posts, posts)
    topical = np.empty(len(user), dtype=np.bool_)
    topical[order] = place < wanted[user]
    return topical


def _everyday_subjects(
    users: Users, user: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    cumulative = users.interest_cumulative[user]
    draw = rng.random((len(user), 1))
    interest = np.minimum((cumulative <= draw).sum(axis=1), INTERESTS - 1)
    direct = np.where(rng.random(len(user)) < EVERYDAY_DIRECT, DIRECTLY, INDIRECTLY)
    small_talk = rng.random(len(user)) < SMALL_TALK_SHARE
    return users.interests[user, interest], np.where(small_talk, SMALL_TALK, direct)


def _role_subjects(
    parameters: SimulationParameters,
    users: Users,
    user: NDArray[np.int64],
    world: World,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    acting = behaviours(parameters.difficulty)
    role = users.acts_as[user]
    on_topic = rng.random(len(user)) < np.array([item.on_topic for item in acting])[role]
    sibling = _siblings(users.topic[user], world, rng)
    direct = rng.random(len(user)) < np.array([item.direct for item in acting])[role]
    subject = np.where(on_topic, users.topic[user], sibling)
    return subject, np.where(direct, DIRECTLY, INDIRECTLY)


def _siblings(
    topics: NDArray[np.int64], world: World, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw, for each of ``topics``, another topic of the same domain."""
    domains = [topic.domain for topic in world.topics]
    others = [
        [other for other, domain in enumerate(domains) if domain == mine and other != topic]
        for topic, mine in enumerate(domains)
    ]
    width = np.array([len(row) for row in others])
    start = np.cumsum(width) - width
    flat = np.concatenate(others)
    drawn: NDArray[np.int64] = flat[start[topics] + rng.integers(0, width[topics])]
    return drawn
