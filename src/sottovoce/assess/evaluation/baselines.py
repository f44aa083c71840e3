"""What every measure has to beat: chance, and the volume of what people write."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.assess.api import plan_scoring
from sottovoce.assess.evaluation.judged import (
    JudgedTopic,
    Scores,
    constant_scores,
    user_rows,
)
from sottovoce.assess.setting import Setting
from sottovoce.corpus.reading import Corpus
from sottovoce.topics.catalogue import Catalogue

RANDOM = "random"
POSTS = "posts"
WORDS = "words"
ENT = "ent"
BASELINES = (RANDOM, POSTS, WORDS, ENT)


@dataclass(frozen=True)
class Volumes:
    """How many posts and words (runs between spaces) each user wrote."""

    posts: Mapping[str, int]
    words: Mapping[str, int]


def count_volumes(posts: Corpus) -> Volumes:
    """Count the posts and words of every user in one pass."""
    parts = [
        pa.table({"user": batch["user"], "words": _words(batch["text"])})
        .group_by("user")
        .aggregate([("words", "count"), ("words", "sum")])
        for batch in posts
    ]
    if not parts:
        return Volumes({}, {})
    total = (
        pa.concat_tables(parts)
        .group_by("user")
        .aggregate([("words_count", "sum"), ("words_sum", "sum")])
    )
    users = total["user"].to_pylist()
    counts = zip(users, total["words_count_sum"].to_pylist(), strict=True)
    return Volumes(dict(counts), dict(zip(users, total["words_sum_sum"].to_pylist(), strict=True)))


def _words(texts: pa.Array) -> pa.Array:
    return pc.count_substring_regex(texts, r"\S+")


def volume_scores(judged: Sequence[JudgedTopic], volumes: Mapping[str, int]) -> Scores:
    """Rank by volume; a judged user without a post is refused."""
    names = pa.array(volumes.keys(), pa.string())
    amounts = np.array(list(volumes.values()), dtype=np.float64)
    return tuple(amounts[user_rows(topic, names)] for topic in judged)


def entropy_scores(judged: Sequence[JudgedTopic], posts: Corpus, catalogue: Catalogue) -> Scores:
    """The ENT baseline (R-Susceptibility, Definition 1) from posts and the topics' words."""
    measures, scoring = plan_scoring(catalogue, (), (ENT,))
    state = scoring.state_of(posts)
    names = state.users.names().cast(pa.string())
    return tuple(
        measures[ENT].score(state, topic.name, Setting())[user_rows(topic, names)]
        for topic in judged
    )


def baseline_scores(judged: Sequence[JudgedTopic], volumes: Volumes | None) -> dict[str, Scores]:
    """The baselines that need no measure: random, and with volumes the posts and words."""
    found: dict[str, Scores] = {RANDOM: constant_scores(judged)}
    if volumes is not None:
        found[POSTS] = volume_scores(judged, volumes.posts)
        found[WORDS] = volume_scores(judged, volumes.words)
    return found
