"""Topics from pairs of words, and from noised votes for them."""

import numpy as np
import pytest

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.topics.cooccurrence.factorise import pair_topics
from sottovoce.topics.cooccurrence.noised import above_zero, nearest_factors, noised_pair_topics

WORDS, TOPICS = 60, 4


def _planted(seed: int = 0) -> Floats:
    """Topics x words, few words in each."""
    drawn = np.random.default_rng(seed).standard_gamma(0.15, (TOPICS, WORDS)) + 1e-4
    return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))


def _covariance(topics: Floats, sizes: Floats) -> Floats:
    return np.asarray((topics.T * sizes) @ topics)


def _closeness(found: Floats, planted: Floats) -> float:
    """The least cosine between a planted topic and the found one that is nearest."""
    unit = [part / np.linalg.norm(part, axis=1, keepdims=True) for part in (found, planted)]
    return float((unit[0] @ unit[1].T).max(axis=0).min())


def test_topics_are_found_again_in_the_pairs_they_make() -> None:
    planted = _planted()
    pairs = _covariance(planted, np.array([900.0, 400.0, 100.0, 100.0]))
    found = pair_topics(pairs, TOPICS, totals=planted.sum(axis=0))
    assert _closeness(found.topics, planted) > 0.99
    assert found.misfit < 1e-3 * (pairs**2).sum()


def test_the_diagonal_is_not_looked_at() -> None:
    pairs = _covariance(_planted(), np.full(TOPICS, 100.0))
    bursts = pairs + np.diag(np.arange(WORDS) * 50.0)
    totals = np.ones(WORDS)
    plain, bursty = (pair_topics(given, TOPICS, totals=totals) for given in (pairs, bursts))
    assert np.array_equal(plain.topics, bursty.topics)


def test_a_pair_that_is_known_badly_weighs_little() -> None:
    planted, drawn = _planted(), np.random.default_rng(1)
    deviations = np.where(np.arange(WORDS) % 3 == 0, 30.0, 1.0)
    noise = np.triu(drawn.standard_normal((WORDS, WORDS)), 1) * np.outer(deviations, deviations)
    pairs = _covariance(planted, np.full(TOPICS, 3000.0)) + 0.05 * (noise + noise.T)
    known = deviations == 1
    told = pair_topics(pairs, TOPICS, totals=np.ones(WORDS), deviations=deviations)
    blind = pair_topics(pairs, TOPICS, totals=np.ones(WORDS))
    close = [_closeness(found.topics[:, known], planted[:, known]) for found in (told, blind)]
    assert close[0] > 0.95 > close[1] + 0.1


def test_more_starts_never_fit_worse() -> None:
    pairs = _covariance(_planted(3), np.full(TOPICS, 100.0))
    noise = np.random.default_rng(0).standard_normal(pairs.shape)
    one, many = (
        pair_topics(pairs + 0.2 * (noise + noise.T), TOPICS, totals=np.ones(WORDS), starts=starts)
        for starts in (1, 3)
    )
    assert many.misfit <= one.misfit


def test_a_word_without_pairs_is_in_no_topic() -> None:
    pairs = np.zeros((3, 3))
    pairs[0, 1] = pairs[1, 0] = 1.0
    found = pair_topics(pairs, 1, totals=np.array([1.0, 1.0, 1e-6]))
    assert found.topics[0, 2] < 0.02
    assert found.topics.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"pairs": np.ones((2, 3))}, "words by words"),
        ({"pairs": np.array([[0.0, 1.0], [2.0, 0.0]])}, "symmetric"),
        ({"pairs": np.full((2, 2), np.nan)}, "finite"),
        ({"topics": 3}, "topics must be 1 to 2"),
        ({"totals": np.ones(3)}, "one for each of 2 words"),
        ({"deviations": np.zeros(2)}, "deviations must be finite and > 0"),
    ],
)
def test_what_cannot_be_pairs_is_refused(change: dict[str, object], told: str) -> None:
    given: dict[str, object] = {"pairs": np.ones((2, 2)), "topics": 1, "totals": np.ones(2)}
    given |= change
    with pytest.raises(ParameterError, match=told):
        pair_topics(given.pop("pairs"), given.pop("topics"), **given)  # type: ignore[arg-type] # wrong on purpose


def _blocks() -> Floats:
    """Topics x words: fifteen words each."""
    blocks = np.kron(np.eye(TOPICS), np.ones(WORDS // TOPICS))
    return np.asarray(blocks / blocks.sum(axis=1, keepdims=True))


def _votes(deviation: float, seed: int = 0, background: float = 0.3) -> Floats:
    """Half a million votes, with normal noise in each cell."""
    topics = _blocks()
    about = (1 - background) / TOPICS * topics.T @ topics
    mean = 1e6 * (about + background / WORDS**2)
    noise = np.triu(np.random.default_rng(seed).normal(0, deviation, mean.shape), 1)
    return np.asarray(mean + noise + noise.T)


@pytest.mark.parametrize("deviation", [0.0, 30.0, 150.0])
def test_topics_are_found_again_under_noise(deviation: float) -> None:
    found = noised_pair_topics(_votes(deviation), TOPICS, variance=deviation**2)
    assert _closeness(found.topics, _blocks()) > 0.9
    np.testing.assert_allclose(found.topics.sum(axis=1), 1)
    assert found.weights.sum() == pytest.approx(1)


def test_the_share_without_topic_that_made_the_votes_is_chosen() -> None:
    for background in (0.0, 0.3):
        votes = _votes(10.0, background=background)
        found = noised_pair_topics(votes, TOPICS, variance=100.0, shares=(0.0, 0.3, 0.6))
        assert found.share == background
        assert found.held_out[f"{background:g}"] == min(found.held_out.values())


def test_as_many_dimensions_are_seen_as_there_are_and_none_in_noise() -> None:
    assert noised_pair_topics(_votes(30.0), TOPICS, variance=900.0).dimensions == TOPICS - 1
    noise = np.triu(np.random.default_rng(1).normal(0, 30, (WORDS, WORDS)), 1)
    assert noised_pair_topics(noise + noise.T, TOPICS, variance=900.0).dimensions <= 1


def test_the_diagonal_of_noised_votes_is_not_looked_at() -> None:
    votes = _votes(30.0)
    bursts = votes + np.diag(np.arange(WORDS) * 1e4)
    one, other = (noised_pair_topics(each, TOPICS, variance=900.0) for each in (votes, bursts))
    np.testing.assert_array_equal(one.topics, other.topics)


def test_words_beside_a_topic_get_its_share() -> None:
    factors = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 3.0]])
    rows = np.array([[0.5, 1.5], [0.0, 2.0]])
    np.testing.assert_allclose(nearest_factors(rows @ factors.T, factors), rows, atol=1e-6)
    assert nearest_factors(-(rows @ factors.T), factors).max() == 0


def test_totals_are_drawn_above_zero_as_far_as_their_error_asks() -> None:
    totals, sure, unsure = np.array([500.0, 20.0, -30.0]), np.full(3, 1.0), np.full(3, 900.0)
    np.testing.assert_allclose(above_zero(totals, sure)[:2], totals[:2], rtol=0.01)
    drawn = above_zero(totals, unsure)
    assert (drawn > 0).all()
    assert 0 < drawn[2] < drawn[1] < drawn[0] < 500


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"topics": 0}, "topics"),
        ({"topics": WORDS + 1}, "topics"),
        ({"variance": -1.0}, "variance"),
        ({"variance": float("nan")}, "variance"),
        ({"shares": ()}, "shares"),
        ({"shares": (1.0,)}, "shares"),
    ],
)
def test_what_cannot_be_noised_pairs_is_refused(changes: dict[str, object], said: str) -> None:
    given: dict[str, object] = {"topics": TOPICS, "variance": 1.0, **changes}
    with pytest.raises(ParameterError, match=said):
        noised_pair_topics(_votes(0.0), **given)  # type: ignore[arg-type] # wrong on purpose
