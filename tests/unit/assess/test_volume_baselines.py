"""The baselines of volume: posts and words, counted by hand."""

import numpy as np
import pyarrow as pa
import pytest
from support.communities import CATALOGUE, MONDAY, FixedSpace, random_posts

from sottovoce.assess import score
from sottovoce.assess.evaluation.metrics import JudgedTopic
from sottovoce.assess.evaluation.runs import count_volumes, evaluate, volume_scores
from sottovoce.assess.job import scoring_for
from sottovoce.assess.scores import Scoring
from sottovoce.corpus.read.corpus import open_posts
from sottovoce.corpus.schema import POSTS
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.space import BagOfWords

TEXTS = ["a b c", "  two   words ", "", "word", "five words in one line"]


def volumes_of(names: list[str]) -> tuple[dict[str, int], dict[str, int]]:
    posts = pa.table([names, [MONDAY] * len(TEXTS), TEXTS], schema=POSTS)
    found = count_volumes(open_posts(posts))
    return dict(found.posts), dict(found.words)


def judged(*users: str) -> JudgedTopic:
    sensitive = np.arange(len(users)) < 1
    return JudgedTopic("t", pa.array(users), sensitive, np.where(sensitive, 0.8, 0.1))


def test_posts_and_words_are_counted() -> None:
    posts, words = volumes_of(["u", "v", "w", "u", "v"])
    assert posts == {"u": 2, "v": 2, "w": 1}
    assert words == {"u": 4, "v": 7, "w": 0}
    assert [own.tolist() for own in volume_scores([judged("v", "w", "u")], words)] == [[7, 0, 4]]


def test_posts_of_another_community_are_refused() -> None:
    with pytest.raises(InputError, match="1 of 2 judged users of topic 't' have no post"):
        volume_scores([judged("u", "stranger")], {"u": 3})
    with pytest.raises(InputError, match="2 of 2 judged users"):
        volume_scores([judged("u", "v")], {})


def test_the_seed_reaches_the_test_by_volume() -> None:
    rng = np.random.default_rng(0)
    topic = judged(*(f"u{place}" for place in range(40)))
    volumes = count_volumes(open_posts(random_posts(1, users=40, posts=2000)))
    runs = {"m": [rng.normal(size=40)]}
    found = [
        evaluate([topic], runs, volumes, replicates=2, seed=seed).measures[0].volume
        for seed in (1, 1, 2)
    ]
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_two_models_of_one_space_are_refused() -> None:
    posts = random_posts(0)
    two = [FixedSpace(seed=1), FixedSpace(seed=2)]
    with pytest.raises(ParameterError, match="at most one model of each space"):
        score(posts, two, CATALOGUE, measures=("lda",))
    header = Scoring(CATALOGUE, two[1:]).header
    with pytest.raises(ParameterError, match="at most one model of each space"):
        scoring_for(header, two)
    assert score(posts, [BagOfWords(), two[0]], CATALOGUE, measures=("lda",)).users == 6


def test_a_truth_of_sensitive_users_alone_is_refused() -> None:
    users = pa.array(["u", "v"])
    only = JudgedTopic("t", users, np.array([True, True]), np.array([0.8, 0.9]))
    with pytest.raises(InputError, match="must also have users who are not sensitive"):
        evaluate([only], {"m": [np.array([1.0, 2.0])]}, replicates=2)
    assert evaluate([judged("u", "v")], {"m": [np.array([1.0, 2.0])]}, replicates=2).sensitive == 1
