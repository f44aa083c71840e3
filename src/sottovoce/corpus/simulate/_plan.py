"""What every post is about and when it is written, before a word of it exists."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sottovoce.corpus.simulate._people import CURIOUS, INTERESTS, Users, World, behaviours
from sottovoce.corpus.simulate._posts import (
    DIRECTLY,
    INDIRECTLY,
    SMALL_TALK,
    Clock,
    PostPlan,
    answer_times,
    burst_times,
    weekly_times,
)
from sottovoce.corpus.simulate.parameters import SimulationParameters

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
    return replace(plan, second=answer_times(clock, users, plan, rng)).ordered()


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
