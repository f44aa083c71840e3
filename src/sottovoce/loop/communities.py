"""The communities that measures are judged on: simulated ones, or a user's own."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sottovoce.assess.evaluation import JudgedTopic, judged_topics
from sottovoce.assess.evaluation.judged import read_judgements
from sottovoce.corpus.read import ReadOptions, open_posts
from sottovoce.corpus.simulate import (
    DIFFICULTIES,
    SimulatedCommunity,
    SimulationParameters,
    difficulty_named,
    simulate,
)
from sottovoce.topics import Catalogue, Topic

CONTROL = "control"
DEFAULT = "default"
LEVELS = (*DIFFICULTIES, CONTROL)
UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class StudyCommunity:
    """Posts, and what is known of those who wrote them."""

    level: str
    """The difficulty, ``control``, or the file's name."""
    posts: pa.Table
    judged: tuple[JudgedTopic, ...]
    personas: tuple[NDArray[np.str_], ...]
    """For each judged topic, the persona of each of its users."""


def simulated_community(community: SimulatedCommunity, level: str) -> StudyCommunity:
    """A simulated community as a study sees it."""
    return StudyCommunity(
        level, community.posts, judged_topics(community.truth), _personas(community.truth)
    )


def draw_community(
    level: str, seed: int, *, users: int, weeks: int, background: int
) -> SimulatedCommunity:
    """Simulate at a level of difficulty; at ``control`` personas differ in name only."""
    return simulate(
        SimulationParameters(
            users=users,
            weeks=weeks,
            seed=seed,
            difficulty=difficulty_named(DEFAULT if level == CONTROL else level),
            control=level == CONTROL,
            background_documents=background,
        )
    )


def own_community(posts: Path, truth: Path, read: ReadOptions) -> StudyCommunity:
    """A user's own posts and judgements."""
    known = read_judgements(truth)
    table = open_posts(posts, options=read).read_all()
    return StudyCommunity(posts.name, table, judged_topics(known), _personas(known))


def simulated_catalogue(community: SimulatedCommunity) -> Catalogue:
    """The topics of the simulated world, as an adversary knows them."""
    return Catalogue(
        tuple(
            Topic(topic.name, topic.words, topic.domain, topic.sensitive)
            for topic in community.topics
        )
    )


def _personas(truth: pa.Table) -> tuple[NDArray[np.str_], ...]:
    filled = pc.fill_null(truth["persona"], UNKNOWN)
    names = pc.unique(truth["topic"]).to_pylist()
    return tuple(
        np.array(filled.filter(pc.equal(truth["topic"], name)).to_pylist(), dtype=np.str_)
        for name in names
    )
