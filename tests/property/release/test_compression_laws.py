"""Laws that hold for any counts and any map."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sottovoce.release.compression.decompress import expected_counts, multinomial_counts
from sottovoce.release.compression.embedding import (
    Embedding,
    EmbeddingClusterCompression,
    EmbeddingDisperseCompression,
)
from sottovoce.release.compression.maps import RandomCompression
from sottovoce.release.compression.word_map import WordMap
from sottovoce.release.counts import Counts, checked_counts

pytestmark = pytest.mark.kernel


@st.composite
def corpora(draw: st.DrawFn) -> tuple[Counts, int]:
    documents, words = draw(st.integers(1, 5)), draw(st.integers(2, 12))
    columns = draw(st.integers(1, words - 1))
    values = draw(
        st.lists(st.integers(0, 40), min_size=documents * words, max_size=documents * words)
    )
    return checked_counts(np.array(values).reshape(documents, words)), columns


@given(corpora(), st.integers(0, 2**32), st.booleans())
@settings(deadline=None, max_examples=60)
def test_random_round_trip_keeps_column_sums(
    corpus: tuple[Counts, int], seed: int, balanced: bool
) -> None:
    counts, columns = corpus
    compression = RandomCompression(columns, balanced=balanced, random_state=seed)
    compressed = compression.fit_transform(counts)
    back = compression.inverse_transform(compressed)
    assert np.array_equal((back @ compression.map_.matrix).toarray(), compressed.toarray())


@given(corpora(), corpora())
@settings(deadline=None, max_examples=60)
def test_compression_never_moves_two_documents_further_apart(
    one: tuple[Counts, int], other: tuple[Counts, int]
) -> None:
    """||(y - y')A||_1 <= ||y - y'||_1, on which the whole guarantee rests."""
    words = min(one[0].shape[1], other[0].shape[1])
    apart = one[0].toarray()[0, :words] - other[0].toarray()[0, :words]
    columns = min(one[1], words - 1)
    matrix = RandomCompression(columns).fit(np.zeros((1, words), dtype=int)).map_.matrix
    assert abs(apart @ matrix).sum() <= abs(apart).sum()


@given(st.integers(2, 30), st.data())
@settings(deadline=None, max_examples=40)
def test_embedding_maps_are_balanced_whatever_is_covered(words: int, data: st.DataObject) -> None:
    columns = data.draw(st.integers(1, words - 1))
    covered = data.draw(st.integers(max(1, -(-words // 2)), words))
    vocabulary = [f"w{i}" for i in range(words)]
    vectors = np.random.default_rng(0).normal(size=(covered, 3)).astype(np.float32)
    space = Embedding(tuple(vocabulary[:covered]), vectors)
    for kind in (EmbeddingClusterCompression, EmbeddingDisperseCompression):
        fitted = kind(columns, embedding=space, vocabulary=vocabulary, random_state=1)
        assert np.ptp(fitted.fit(np.zeros((1, words), dtype=int)).map_.sizes) <= 1


@given(corpora(), st.integers(0, 2**32), st.data())
@settings(deadline=None, max_examples=40)
def test_any_prior_shares_columns_without_loss(
    corpus: tuple[Counts, int], seed: int, data: st.DataObject
) -> None:
    counts, columns = corpus
    words = counts.shape[1]
    word_map = WordMap((np.arange(words) % columns).astype(np.int32), columns)
    share = st.one_of(st.just(0.0), st.floats(1e-6, 1e6))
    prior = np.array(data.draw(st.lists(share, min_size=words, max_size=words)))
    prior[:columns] = 1.0  # some word of every column
    compressed = word_map.compress(counts)
    drawn = multinomial_counts(compressed, word_map, prior, np.random.default_rng(seed))
    assert np.array_equal(word_map.compress(drawn).toarray(), compressed.toarray())
    assert drawn.toarray()[:, prior == 0].sum() == 0
    means = expected_counts(compressed, word_map, prior)
    np.testing.assert_allclose((means @ word_map.matrix).toarray(), compressed.toarray())


@given(corpora())
@settings(deadline=None, max_examples=30)
def test_dense_sparse_and_float_counts_are_the_same_counts(corpus: tuple[Counts, int]) -> None:
    counts, _ = corpus
    for same in (counts.toarray(), sparse.coo_matrix(counts), counts.toarray().astype(float)):
        assert np.array_equal(checked_counts(same).toarray(), counts.toarray())
