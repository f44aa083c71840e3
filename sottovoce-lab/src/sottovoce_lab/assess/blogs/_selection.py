"""Who is ranked for a topic, by which of their posts, and who is said to be afflicted."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import InputError
from sottovoce_lab.assess.blogs._people import Timelines

LEAST_POSTS = 10
WOMEN_ONLY = frozenset({"pregnancy"})


@dataclass(frozen=True, eq=False)
class Selection:
    """The ranked users of one topic and the posts by which they may be ranked."""

    topic: str
    users: NDArray[np.int64]
    """Places in the timelines' users, ascending."""
    afflicted: NDArray[np.bool_]
    posts: NDArray[np.int64]
    """Rows of the timelines' posts, ascending."""
    writer: NDArray[np.int64]
    """The place of each post's writer among ``users``."""


def select(timelines: Timelines, topic: str, least: int = LEAST_POSTS) -> Selection:
    """Leave out the days on which a user reports the topic of themselves, and short timelines.

    The labels come from those days' posts: with them the test would be circular. For pregnancy
    only women are ranked, where the data say who is one.
    """
    kept = ~_on_label_days(timelines, topic)
    enough = np.bincount(timelines.user[kept], minlength=len(timelines.users)) >= least
    if topic in WOMEN_ONLY and timelines.women is not None:
        enough &= timelines.women
    users = np.flatnonzero(enough)
    afflicted = np.array([topic in timelines.user_labels[user] for user in users], np.bool_)
    if not 0 < afflicted.sum() < users.size:
        raise InputError(
            f"topic {topic!r} must have users with its label and users without it, each with at "
            f"least {least} posts left, got {int(afflicted.sum())} of {users.size}."
        )
    posts = np.flatnonzero(kept & enough[timelines.user])
    return Selection(topic, users, afflicted, posts, np.searchsorted(users, timelines.user[posts]))


def sample_posts(selection: Selection, count: int, seed: int) -> NDArray[np.int64]:
    """``count`` posts of every user at random: places in ``selection.posts``, ascending."""
    key = np.random.default_rng(seed).random(selection.posts.size)
    order = np.lexsort((key, selection.writer))
    writers = selection.writer[order]
    turn = np.arange(order.size) - np.searchsorted(writers, writers)
    return np.sort(order[turn < count])


def _on_label_days(timelines: Timelines, topic: str) -> NDArray[np.bool_]:
    labelled = np.array([topic in labels for labels in timelines.post_labels], np.bool_)
    days = timelines.user * (int(timelines.day.max()) + 1) + timelines.day
    return np.isin(days, days[labelled])
