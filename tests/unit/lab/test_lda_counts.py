"""Shape, type and determinism of LDA counts."""

import numpy as np
from sottovoce_lab._data import ROWS_AT_ONCE, lda_counts


def test_same_seed_gives_the_same_counts_and_another_seed_others() -> None:
    first, again, other = (lda_counts(documents=40, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.counts.toarray(), again.counts.toarray())
    np.testing.assert_array_equal(first.topic_words, again.topic_words)
    assert not np.array_equal(first.counts.toarray(), other.counts.toarray())


def test_more_documents_than_are_drawn_at_once() -> None:
    drawn = lda_counts(documents=ROWS_AT_ONCE + 3, topics=2, vocabulary=5, mean_length=4.0)
    assert drawn.counts.shape == (ROWS_AT_ONCE + 3, 5)
    assert drawn.counts[[ROWS_AT_ONCE - 1, ROWS_AT_ONCE + 1]].sum() > 0
