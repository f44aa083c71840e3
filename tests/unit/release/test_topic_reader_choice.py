"""Which reader of topics is kept: LDA reads one planted release better, pairs the other."""

import sys

import numpy as np
import pytest

from sottovoce.arrays import Floats, Integers
from sottovoce.release.topics import estimator
from sottovoce.release.topics.estimator import PrivateTopics, best_reader
from sottovoce.release.topics.evaluation import match_topics

FIRST_WORDS = 8
SWEEPS = 8
CLEAR, NOISY = 4.0, 0.5
FEW_LONG, MANY_NOISY = "few long documents, little noise", "many documents in much noise"
pytest.importorskip("tomotopy", reason="tomotopy is missing: pip install sottovoce[topics]")


def _released(
    topics: Floats, documents: int, prior: float, rate: float, drawn: np.random.Generator
) -> Integers:
    theta = drawn.dirichlet(np.full(len(topics), prior), documents)
    counts = drawn.poisson(40 * theta @ topics)
    noise = drawn.geometric(-np.expm1(-rate), (2, *counts.shape))
    return np.asarray(counts + noise[0] - noise[1])


class Planted:
    """A release, what it was drawn from, and the topics of every reader."""

    def __init__(self, name: str) -> None:
        drawn = np.random.default_rng(1 if name == FEW_LONG else 0)
        if name == FEW_LONG:
            self.rate = CLEAR
            self.topics = drawn.dirichlet(np.full(60, 0.05), 8)
            self.cells = _released(self.topics, 300, 0.1, CLEAR, drawn)
        else:
            self.rate = NOISY
            weights = drawn.standard_gamma(0.3, (5, 60)) + 1e-9
            self.topics = weights / weights.sum(axis=1, keepdims=True)
            self.cells = _released(self.topics, 1500, 0.05, NOISY, drawn)

    def read(self, reader: str = "chosen") -> PrivateTopics:
        """The topics by that reader."""
        topics = PrivateTopics(
            len(self.topics),
            rate=self.rate,
            max_iter=SWEEPS,
            reader=reader,  # type: ignore[arg-type] # one of its literals
        )
        return topics.fit(self.cells)

    def jaccard(self, found: PrivateTopics) -> float:
        """With the planted topics."""
        return match_topics(found.components_, self.topics, FIRST_WORDS).mean


@pytest.fixture(scope="module", params=[FEW_LONG, MANY_NOISY])
def planted(request: pytest.FixtureRequest) -> Planted:
    return Planted(request.param)


def test_the_kept_reader_finds_clearly_more_of_what_was_planted(planted: Planted) -> None:
    lda_is_better = planted.rate == CLEAR
    kept, other = planted.read(), planted.read("likelihood" if lda_is_better else "lda")
    assert kept.chosen_.startswith("lda") == lda_is_better
    assert planted.jaccard(kept) > planted.jaccard(other) + 0.1


def test_a_loss_with_the_wrong_sign_keeps_the_worse_reader(
    planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = PrivateTopics._judge
    monkeypatch.setattr(PrivateTopics, "_judge", lambda *given: -right(*given))
    assert planted.read().chosen_.startswith("lda") != (planted.rate == CLEAR)


def test_a_seed_reads_the_same_topics_by_lda_again() -> None:
    planted = Planted(FEW_LONG)
    one, other = planted.read("lda-likelihood"), planted.read("lda-likelihood")
    assert np.array_equal(one.components_, other.components_)


def test_where_readers_are_about_equal_ldas_topics_are_kept() -> None:
    known = {"pairs": 9.0, "likelihood": 10.0, "lda": 8.0}
    assert best_reader(known | {"lda-likelihood": 9.4}) == "likelihood"
    assert best_reader(known | {"lda-likelihood": 9.6}) == "lda-likelihood"
    assert best_reader({"pairs": -1.0, "likelihood": 0.1, "lda": -2, "lda-likelihood": -0.1}) == (
        "likelihood"
    )
    assert best_reader({"pairs": 2.0, "likelihood": 1.0}) == "pairs"


def test_lda_reads_no_more_than_the_first_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    planted, read = Planted(FEW_LONG), []

    def noted(counts: Floats, topics: int, *_given: object, **_named: object) -> Floats:
        read.append(counts.shape[0])
        return np.full((topics, counts.shape[1]), 1 / counts.shape[1])

    monkeypatch.setattr(estimator, "fit_topics", noted)
    above = (planted.cells > 0).sum(axis=1).cumsum()
    for most, documents in ((1000, int((above <= 1000).sum())), (1, 1), (10**6, 300)):
        monkeypatch.setattr(estimator, "_LDA_CELLS", most)
        planted.read("lda")
        assert read.pop() == documents


def test_lda_is_not_tried_where_most_of_what_it_would_read_is_noise() -> None:
    planted = Planted(MANY_NOISY)
    planted.cells = planted.cells[:, :20]
    planted.topics = planted.topics[:3, :20]
    assert "lda" in planted.read().held_out_
    short = np.random.default_rng(0).geometric(-np.expm1(-NOISY), (2, 300, 20))
    planted.cells = short[0] - short[1]
    found = planted.read()
    assert set(found.held_out_) == {"pairs", "likelihood"}
    assert "LDA was not tried: 95% of the counts above zero are noise." in found.choice_in_words()


def test_without_tomotopy_topics_are_read_as_before_and_a_sentence_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planted = Planted(FEW_LONG)
    assert "Where readers are about equal" in planted.read().choice_in_words()
    assert planted.read("pairs").choice_in_words() == (
        "Read by pairs: no documents were held out to choose by."
    )
    monkeypatch.setitem(sys.modules, "tomotopy", None)
    found = planted.read()
    assert set(found.held_out_) == {"pairs", "likelihood"}
    assert "LDA was not tried: pip install 'sottovoce[topics]'." in found.choice_in_words()
