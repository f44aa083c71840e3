"""What each compression does to words and documents."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from support.sklearn_checks import check_on_counts

from sottovoce.errors import CorpusError, ParameterError
from sottovoce.release.compression.embedding import (
    Embedding,
    EmbeddingClusterCompression,
    EmbeddingDisperseCompression,
)
from sottovoce.release.compression.frequency import FrequencyCompression
from sottovoce.release.compression.maps import (
    Compression,
    GroupedCompression,
    NoCompression,
    RandomCompression,
)
from sottovoce.release.compression.word_map import WordMap
from sottovoce.release.plan import COMPRESSIONS

ANIMALS = ["cat", "dog", "cow"]
COLOURS = ["red", "blue", "green"]
VOCABULARY = [*ANIMALS, *COLOURS]
SPACE = Embedding(
    tuple(VOCABULARY),
    np.array([[1, 0.1], [1, 0.2], [1, 0.3], [0.1, 1], [0.2, 1], [0.3, 1]], dtype=np.float32),
)
COUNTS = sparse.csr_array(np.array([[2, 0, 1, 0, 0, 5], [0, 0, 0, 3, 1, 0]]))


def every_compression(columns: int) -> list[Compression]:
    return [
        NoCompression(),
        RandomCompression(columns, random_state=1),
        FrequencyCompression(columns, frequencies=[1, 2, 3, 4, 5, 6]),
        EmbeddingClusterCompression(columns, embedding=SPACE, vocabulary=VOCABULARY),
        EmbeddingDisperseCompression(columns, embedding=SPACE, vocabulary=VOCABULARY),
    ]


def columns_of(compression: Compression, words: Sequence[str]) -> list[int]:
    column = compression.fit(COUNTS).map_.column
    return [int(column[VOCABULARY.index(word)]) for word in words]


@pytest.mark.parametrize("compression", every_compression(4), ids=COMPRESSIONS)
def test_a_document_keeps_its_length_and_its_integers(compression: Compression) -> None:
    compressed = compression.fit_transform(COUNTS)
    assert compressed.format == "csr"
    assert compressed.dtype == np.int64
    assert compressed.sum(axis=1).tolist() == COUNTS.sum(axis=1).tolist()


@pytest.mark.parametrize("compression", every_compression(4), ids=COMPRESSIONS)
def test_the_map_does_not_depend_on_private_counts(compression: Compression) -> None:
    compression.set_params(random_state=7)
    first = compression.fit(COUNTS).map_
    assert compression.fit(np.eye(6, dtype=int) * 9).map_ == first


@pytest.mark.parametrize("compression", every_compression(4), ids=COMPRESSIONS)
@pytest.mark.parametrize("decompression", ["multinomial", "expected"])
def test_compress_and_decompress_without_noise_keep_column_sums(
    compression: Compression, decompression: str
) -> None:
    compression.set_params(random_state=7)
    compressed = compression.fit_transform(COUNTS)
    if not isinstance(compression, NoCompression):
        compression.set_params(decompression=decompression)
    back = compression.inverse_transform(compressed)
    assert back.shape == COUNTS.shape
    np.testing.assert_allclose((back @ compression.map_.matrix).toarray(), compressed.toarray())


def test_without_compression_nothing_but_negative_counts_changes() -> None:
    kept = NoCompression().fit(COUNTS)
    back = kept.inverse_transform(kept.transform(COUNTS))
    assert back.toarray().tolist() == COUNTS.toarray().tolist()
    assert kept.inverse_transform(COUNTS * -1).nnz == 0


def test_frequent_words_are_dealt_to_columns_in_turn() -> None:
    compression = FrequencyCompression(2, frequencies=[10, 60, 50, 20, 40, 30])
    assert compression.fit(COUNTS).map_.column.tolist() == [1, 0, 1, 0, 0, 1]
    assert FrequencyCompression(4, frequencies="ordered").fit(COUNTS).map_.column.tolist() == [
        0, 1, 2, 3, 0, 1,
    ]  # fmt: skip  # one row reads best


def test_frequencies_of_the_frequency_map_are_its_prior() -> None:
    compression = FrequencyCompression(
        1, frequencies=[0, 0, 0, 3, 1, -5], decompression="expected"
    ).fit(COUNTS)
    assert compression.inverse_transform([[4]]).toarray().tolist() == [[0, 0, 0, 3, 1, 0]]


def test_cluster_puts_like_words_together_and_disperse_keeps_them_apart() -> None:
    for seed in range(5):
        together = EmbeddingClusterCompression(
            2, embedding=SPACE, vocabulary=VOCABULARY, random_state=seed
        )
        assert len(set(columns_of(together, ANIMALS))) == 1
        assert len(set(columns_of(together, COLOURS))) == 1
        apart = EmbeddingDisperseCompression(
            3, embedding=SPACE, vocabulary=VOCABULARY, random_state=seed
        )
        assert len(set(columns_of(apart, ANIMALS))) == 3
        assert len(set(columns_of(apart, COLOURS))) == 3


def test_an_embedding_that_covers_too_few_words_is_refused() -> None:
    few = Embedding(("cat", "dog"), np.eye(2, dtype=np.float32))
    with pytest.raises(ParameterError, match=r"at least 50% of the words, got 2 of 6"):
        EmbeddingClusterCompression(2, embedding=few, vocabulary=VOCABULARY).fit(COUNTS)
    EmbeddingClusterCompression(2, embedding=few, vocabulary=VOCABULARY, least_coverage=0.3).fit(
        COUNTS
    )


def test_random_maps_follow_their_seed_alone() -> None:
    wide = np.zeros((1, 500), dtype=int)
    first = RandomCompression(50, random_state=3).fit(wide).map_
    assert RandomCompression(50, random_state=3).fit(wide).map_ == first
    assert RandomCompression(50, random_state=4).fit(wide).map_ != first
    assert set(first.sizes.tolist()) == {10}
    unbalanced = RandomCompression(50, balanced=False, random_state=3).fit(wide).map_
    assert np.ptp(unbalanced.sizes) > 1


def test_each_group_of_documents_has_its_own_map() -> None:
    counts = np.random.default_rng(0).integers(0, 4, (11, 40))
    grouped = GroupedCompression(RandomCompression(5, random_state=2), groups=3).fit(counts)
    compressed = grouped.transform(counts)
    for row in range(11):
        own = grouped.compressions_[row % 3].map_.matrix
        assert compressed[[row]].toarray().tolist() == np.asarray(counts[[row]] @ own).tolist()
        back = grouped.inverse_transform(compressed)[[row]]
        assert (back @ own).toarray().tolist() == compressed[[row]].toarray().tolist()


def test_a_corpus_smaller_than_its_groups_is_compressed_all_the_same() -> None:
    grouped = GroupedCompression(RandomCompression(2, random_state=2), groups=3).fit(COUNTS)
    assert grouped.transform(COUNTS).sum() == COUNTS.sum()


def test_groups_that_would_share_a_map_are_refused() -> None:
    with pytest.raises(ParameterError, match="gave the same map twice"):
        GroupedCompression(FrequencyCompression(2, frequencies="ordered")).fit(COUNTS)
    # Three words have three random maps to two columns, so that two are often the same.
    for seed in range(20):
        GroupedCompression(RandomCompression(2, random_state=seed), groups=2).fit(COUNTS[:, :3])
    with pytest.raises(ParameterError, match="groups must be a whole number >= 1, got 0"):
        GroupedCompression(RandomCompression(2), groups=0).fit(COUNTS)


@pytest.mark.parametrize("columns", [0, -1, 6, 7, 2.0, True, "3"])
def test_columns_out_of_bounds_are_refused(columns: Any) -> None:  # noqa: ANN401  # bad on purpose
    with pytest.raises(ParameterError, match="columns must be"):
        RandomCompression(columns).fit(COUNTS)


def test_a_wrong_width_is_refused_both_ways() -> None:
    compression = RandomCompression(2).fit(COUNTS)
    with pytest.raises(CorpusError, match="expecting 6 features"):
        compression.transform(COUNTS[:, :5])
    with pytest.raises(CorpusError, match="must have 2 columns, one per compressed column, got 3"):
        compression.inverse_transform([[1, 2, 3]])
    with pytest.raises(CorpusError, match="one per word of the map, got 5"):
        compression.map_.compress(COUNTS[:, :5])


@pytest.mark.parametrize(
    ("compression", "message"),
    [
        (FrequencyCompression(2), "counts of the private corpus are not free"),
        (FrequencyCompression(2, frequencies="sorted"), "one number per word or 'ordered'"),
        (FrequencyCompression(2, frequencies=[1, 2]), r"6 finite numbers.*shape \(2,\)"),
        (FrequencyCompression(2, frequencies=[np.nan] * 6), "6 finite numbers"),
        (EmbeddingClusterCompression(2), "embedding must be given"),
        (EmbeddingClusterCompression(2, embedding=SPACE, vocabulary=["cat"]), "name 6 words"),
        (
            EmbeddingClusterCompression(
                2, embedding=SPACE, vocabulary=VOCABULARY, least_coverage=0
            ),
            r"in \(0, 1\], got 0",
        ),
    ],
)
def test_a_compression_without_what_it_needs_says_so(
    compression: Compression, message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        compression.fit(COUNTS)


def test_an_unknown_decompression_is_refused() -> None:
    compression = RandomCompression(2, decompression="magic")  # type: ignore[arg-type]  # bad
    with pytest.raises(ParameterError, match="'multinomial' or 'expected'"):
        compression.fit(COUNTS).inverse_transform([[1, 2]])


@pytest.mark.parametrize("column", [[0, 3], [-1, 0], [[0, 1]], [], [0.5, 1.0]])
def test_a_map_that_sends_a_word_nowhere_is_refused(column: Any) -> None:  # noqa: ANN401  # bad
    with pytest.raises(ParameterError, match="map"):
        WordMap(np.array(column), 3)


def test_a_map_cannot_be_changed_and_equals_only_its_like() -> None:
    word_map = WordMap(np.array([0, 1, 1]), 2)
    with pytest.raises(ValueError, match="read-only"):
        word_map.column[0] = 1
    assert word_map == WordMap(np.array([0, 1, 1]), 2)
    assert word_map != WordMap(np.array([0, 1, 1]), 3)
    assert word_map != [0, 1, 1]


class KnowsEveryWord:
    """A vector for any word, from its length and letters."""

    def lookup(self, words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        rows = [[len(word), *np.frombuffer(word.encode()[-2:], np.uint8)] for word in words]
        return np.array(rows, dtype=float), np.ones(len(words), dtype=bool)


CASES: dict[str, Compression] = {
    "none": NoCompression(),
    "random": RandomCompression(1),
    "frequency": FrequencyCompression(1, frequencies="ordered"),
    "cluster": EmbeddingClusterCompression(1, embedding=KnowsEveryWord()),
    "disperse": EmbeddingDisperseCompression(1, embedding=KnowsEveryWord()),
}


@pytest.mark.parametrize("name", CASES)
def test_scikit_learn_accepts_every_compression(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check_on_counts(CASES[name], monkeypatch)
