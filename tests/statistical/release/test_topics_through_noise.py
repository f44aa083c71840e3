"""Topics planted under noise are read; with a wrong law they are not."""

import numpy as np

from sottovoce.arrays import Floats, Integers
from sottovoce.release.topics.estimator import PrivateTopics
from sottovoce.release.topics.evaluation import match_topics

DOCUMENTS, WORDS, TOPICS, RATE, WRONG = 3000, 150, 6, 0.25, 2.0


def _planted() -> tuple[Floats, Integers]:
    drawn = np.random.default_rng(0)
    topics = drawn.dirichlet(np.full(WORDS, 0.1), TOPICS)
    theta = 40 * drawn.dirichlet(np.full(TOPICS, 0.1), DOCUMENTS)
    noise = drawn.geometric(-np.expm1(-RATE), (2, DOCUMENTS, WORDS))
    return topics, drawn.poisson(theta @ topics) + noise[0] - noise[1]


def test_planted_topics_are_read_through_noise_whose_law_is_known_and_not_by_a_wrong_law() -> None:
    """The planted fault: cells are believed, as if they had little noise."""
    topics, released = _planted()
    jaccards = [
        match_topics(
            PrivateTopics(TOPICS, rate=rate, max_iter=30).fit(released).components_, topics, 8
        ).mean
        for rate in (RATE, WRONG)
    ]
    assert jaccards[0] > 0.5
    assert jaccards[1] < 0.4
