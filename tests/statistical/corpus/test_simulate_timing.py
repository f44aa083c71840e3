"""Posts come in sessions, follow day and night, and supporters answer the afflicted."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from sottovoce.corpus.simulate._plan import DAY, HOUR, WEEK, PostPlan, plan_posts
from sottovoce.corpus.simulate.parameters import (
    AFFLICTED,
    PROFESSIONAL,
    SUPPORTER,
    SimulationParameters,
    Users,
    draw_users,
    the_world,
)

PARAMETERS = SimulationParameters(users=300, weeks=52)


@cache
def planned() -> tuple[Users, PostPlan]:
    rng = np.random.default_rng(3)
    users = draw_users(PARAMETERS, the_world(), rng)
    return users, plan_posts(PARAMETERS, users, the_world(), rng)


def hours_since_an_afflicted_post(role: int) -> NDArray[np.float64]:
    """For each post of the role on its topic, the time since the last one of an afflicted."""
    users, plan = planned()
    on_topic = plan.topical & (plan.subject == users.topic[plan.user])
    acting = users.acts_as[plan.user]
    gaps = []
    for topic in np.unique(users.topic[users.topic >= 0]):
        mine = on_topic & (plan.subject == topic)
        asked = np.sort(plan.second[mine & (acting == AFFLICTED)])
        answers = plan.second[mine & (acting == role)]
        before = np.searchsorted(asked, answers, "right") - 1
        gaps.append((answers - asked[before])[before >= 0] / HOUR)
    return np.concatenate(gaps)


def test_supporters_write_soon_after_the_afflicted_and_professionals_do_not() -> None:
    supporter = np.median(hours_since_an_afflicted_post(SUPPORTER))
    professional = np.median(hours_since_an_afflicted_post(PROFESSIONAL))
    assert supporter < 4
    assert professional > 2 * supporter


def test_posts_come_in_sessions() -> None:
    _, plan = planned()
    order = np.lexsort((plan.second, plan.user))
    same = np.diff(plan.user[order]) == 0
    gaps = np.diff(plan.second[order])[same]
    assert np.mean(gaps < HOUR) > 0.3
    shuffled = np.random.default_rng(0).integers(0, PARAMETERS.weeks * WEEK, len(order))
    again = np.lexsort((shuffled, plan.user))
    assert np.mean(np.diff(shuffled[again])[np.diff(plan.user[again]) == 0] < HOUR) < 0.15


def test_evenings_are_busier_than_nights_in_local_time_only() -> None:
    users, plan = planned()
    local = (plan.second + users.utc_offset_hours[plan.user] * HOUR) % DAY // HOUR
    counts = np.bincount(local, minlength=24)
    assert counts[19:22].sum() > 4 * counts[2:5].sum()
    in_utc = np.bincount(plan.second % DAY // HOUR, minlength=24)
    assert in_utc[19:22].sum() < 4 * in_utc[2:5].sum()


def test_weekly_activity_varies_more_than_chance() -> None:
    users, plan = planned()
    cells = plan.user * PARAMETERS.weeks + plan.second // WEEK
    size = PARAMETERS.users * PARAMETERS.weeks
    weekly = np.bincount(cells, minlength=size).reshape(PARAMETERS.users, -1)
    ordinary = (users.acts_as != PROFESSIONAL) & (weekly.mean(axis=1) > 1)
    dispersion = weekly.var(axis=1) / weekly.mean(axis=1)
    assert np.median(dispersion[ordinary]) > 2
