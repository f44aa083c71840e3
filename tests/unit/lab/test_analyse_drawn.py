"""What topics are judged by, and documents that are drawn whenever they are read."""

import numpy as np
import pytest
from scipy import sparse
from sottovoce_lab.release import analyse_topics
from sottovoce_lab.release.analyse_topics import (
    DrawnCorpus,
    DrawnRows,
    TopicsToFind,
    documents_read,
    first_rows,
    made_up_topics,
    topic_values,
)

from sottovoce.privacy.noise_law import NoiseLaw

TOPICS = made_up_topics(60, 3)


def test_drawn_documents_are_the_same_ones_however_they_are_read() -> None:
    rows = DrawnRows(TOPICS, 5_000, NoiseLaw(1.0), 0)
    whole = sparse.vstack(list(rows.blocks(10_000)))
    parts = sparse.vstack(list(rows.blocks(700)))
    assert whole.shape == rows.shape == (5_000, 60)
    assert np.array_equal(whole.toarray(), parts.toarray())
    assert np.array_equal(first_rows(rows, 4_500).toarray(), whole.toarray()[:4_500])
    assert whole.sum() / 5_000 == pytest.approx(72, rel=0.02)


def test_another_seed_has_other_noise_on_the_same_documents() -> None:
    clear = [first_rows(DrawnRows(TOPICS, 50, NoiseLaw(60.0), seed), 50) for seed in (0, 1)]
    noisy = [first_rows(DrawnRows(TOPICS, 50, NoiseLaw(1.0), seed), 50) for seed in (0, 1)]
    assert np.array_equal(clear[0].toarray(), clear[1].toarray())
    assert not np.array_equal(noisy[0].toarray(), noisy[1].toarray())
    apart = (noisy[0] - clear[0]).toarray()
    assert apart.var() == pytest.approx(NoiseLaw(1.0).variance, rel=0.15)


def test_a_topic_is_recognised_where_most_references_have_it() -> None:
    own, mixed = np.eye(4).repeat(20, axis=1), np.tile(np.eye(4), 20)
    assert TopicsToFind("made", (own, own, mixed)).count_recognised(own) == 4
    assert TopicsToFind("made", (own, mixed, mixed)).count_recognised(own) == 0
    half = np.roll(own, 10, axis=1)  # 10 words of 30 in common: a Jaccard of one third
    known = TopicsToFind("made", (own, half))
    assert known.agreement == pytest.approx(1 / 3)
    assert known.seen_in_text == 4
    assert TopicsToFind("made", (own,)).agreement is None


def test_a_baseline_reads_every_token_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = DrawnCorpus("simulated", (TOPICS,), 1_000)
    assert documents_read(corpus, 1.0, 1) == 1_000
    monkeypatch.setattr(analyse_topics, "MOST_DRAWN_TOKENS", 15_000)
    monkeypatch.setattr(analyse_topics, "BASELINE_ITERATIONS", 5)
    read = documents_read(corpus, 1.0, 1)
    tokens = first_rows(corpus.draw_release(1.0, 0), read).maximum(0).sum()
    assert read < 1_000
    assert tokens == pytest.approx(15_000, rel=0.1)
    assert documents_read(corpus, 1.0, 3) > read
    assert documents_read(corpus, 0.4, 1) < read
    monkeypatch.setattr(analyse_topics, "THRESHOLDS", (1,))
    values = topic_values(corpus, 1.0, 0)
    assert list(values["jaccard"]) == ["chosen", "lda >= 1, part", "frequent", "chance"]
