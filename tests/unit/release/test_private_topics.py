"""`PrivateTopics`: what it takes, what it gives and what it refuses."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.sklearn_checks import check_on_counts

from sottovoce.arrays import Floats, Integers
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import ParameterError
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.topics.estimator import PrivateTopics
from sottovoce.topics import load_model
from sottovoce.topics.lda.model import LdaModel

RATE = 1.0
TRUE = np.kron(np.eye(2), np.full((1, 4), 0.25))


def _released(documents: int = 200, seed: int = 0) -> Integers:
    drawn = np.random.default_rng(seed)
    theta = np.repeat(np.eye(2), documents // 2, axis=0) * 12
    noise = drawn.geometric(-np.expm1(-RATE), (2, documents, 8))
    return np.asarray(drawn.poisson(theta @ TRUE) + noise[0] - noise[1])


@pytest.fixture(scope="module")
def fitted() -> PrivateTopics:
    return PrivateTopics(2, rate=RATE, max_iter=20).fit(_released())


def _are_planted(topics: Floats) -> bool:
    return sorted((topics > 0.1).tolist()) == sorted((TRUE > 0).tolist())


def test_planted_topics_are_read_and_the_reader_is_named(fitted: PrivateTopics) -> None:
    assert _are_planted(fitted.components_)
    assert np.allclose(fitted.components_.sum(axis=1), 1)
    assert fitted.chosen_ in fitted.held_out_
    assert set(fitted.held_out_) >= {"pairs", "likelihood"}


@pytest.mark.parametrize("reader", ["pairs", "likelihood"])
def test_a_reader_can_be_named(reader: Any) -> None:  # noqa: ANN401 - a literal of two
    topics = PrivateTopics(2, rate=RATE, reader=reader, max_iter=10).fit(_released())
    assert topics.chosen_ == reader
    assert _are_planted(topics.components_)


def test_documents_are_seen_to_have_their_topic(fitted: PrivateTopics) -> None:
    shares = fitted.transform(_released(seed=1))
    assert np.allclose(shares.sum(axis=1), 1)
    first = shares[:100].mean(axis=0).argmax()
    assert (shares[:100].argmax(axis=1) == first).mean() > 0.9
    assert (shares[100:].argmax(axis=1) != first).mean() > 0.9


def test_true_topics_score_higher_than_wrong_ones(fitted: PrivateTopics) -> None:
    others = _released(seed=1)
    wrong = PrivateTopics(2, rate=RATE, max_iter=5).fit(_released())
    wrong.components_ = wrong.components_[:, [0, 4, 1, 5, 2, 6, 3, 7]]
    assert fitted.score(others) > wrong.score(others) + 0.5


def test_a_seed_gives_one_result_whatever_the_threads_and_the_form(fitted: PrivateTopics) -> None:
    again = PrivateTopics(2, rate=RATE, max_iter=20, threads=2).fit(sparse.csr_array(_released()))
    assert np.array_equal(fitted.components_, again.components_)


@dataclass(frozen=True)
class FakeRelease:
    """What `PrivateTopics` asks of a release."""

    rows: "sparse.csr_array[np.int64, tuple[int, int]]"
    law: NoiseLaw
    is_compressed: bool = False


def test_a_release_brings_its_law_and_needs_no_rate(fitted: PrivateTopics) -> None:
    release = FakeRelease(sparse.csr_array(_released()), NoiseLaw(RATE))
    again = PrivateTopics(2, max_iter=20).fit(release)
    assert np.array_equal(fitted.components_, again.components_)


def test_pairs_are_those_of_all_documents_where_only_some_are_kept() -> None:
    counts = np.tile(_released(), (60, 1))
    few = PrivateTopics(2, rate=RATE, reader="pairs", most_cells=100).fit(counts)
    assert np.allclose(
        few.components_, PrivateTopics(2, rate=RATE, reader="pairs").fit(counts).components_
    )


def test_a_saved_model_is_one_that_assess_takes(fitted: PrivateTopics, tmp_path: Path) -> None:
    words = Vocabulary.public([f"word{number}" for number in range(8)])
    fitted.lda_model(words).save(tmp_path / "model")
    model = load_model(tmp_path / "model")
    assert isinstance(model, LdaModel)
    assert np.allclose(model.phi.T, fitted.components_, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"rate": None}, "rate must be given"),
        ({"n_topics": 9}, "n_topics must be at most 8"),
        ({"n_topics": 0}, "n_topics must be >= 1"),
        ({"max_iter": 0}, "max_iter must be >= 1"),
        ({"doc_topic_prior": 0}, "doc_topic_prior must be > 0"),
        ({"reader": "guess"}, "reader must be one of"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        PrivateTopics(**{"n_topics": 2, "rate": RATE} | settings).fit(_released())


def test_scikit_learn_accepts_the_estimator(monkeypatch: pytest.MonkeyPatch) -> None:
    check_on_counts(PrivateTopics(1, rate=1.0, max_iter=2), monkeypatch)
