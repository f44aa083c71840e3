"""Counts of terms against a slow, obviously right reference."""

import threading
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse
from support import reference_tokens as reference

from sottovoce.corpus import counts as counting
from sottovoce.corpus.counts import Counts, VocabularyCounter, count, count_batches, term_statistics
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words import scan as lexicon
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import CorpusError, ParameterError

PLAIN, PAIRS = TokenRules(), TokenRules(bigrams=True)
FEW = list(reference.awkward_texts(120, seed=5))


def as_dicts(matrix: sparse.csr_array, terms: Sequence[str]) -> list[dict[str, int]]:
    rows = []
    for begin, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        cells = zip(matrix.indices[begin:end], matrix.data[begin:end], strict=True)
        rows.append({terms[column]: int(value) for column, value in cells})
    return rows


def counted(texts: Sequence[bytes | str], rules: TokenRules, threads: int = 1) -> Counts:
    kind = pa.binary() if isinstance(texts[0], bytes) else pa.string()
    return count([pa.array(texts, kind)], rules, threads=threads)


@cache
def many_awkward(
    number: int, *, bigrams: bool
) -> tuple[Sequence[bytes], Sequence[Mapping[str, int]]]:
    """So many texts and the reference's counts of them."""
    texts = list(reference.awkward_texts(number, seed=1))
    return texts, reference.counts(texts, bigrams=bigrams)


@pytest.mark.parametrize("rules", [PLAIN, PAIRS], ids=["words", "bigrams"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("number", [2_500, pytest.param(10_000, marks=pytest.mark.long)])
def test_thousands_of_awkward_texts_count_like_the_reference(
    rules: TokenRules, threads: int, number: int
) -> None:
    texts, expected = many_awkward(number, bigrams=rules.bigrams)
    result = counted(texts, rules, threads)
    assert as_dicts(result.matrix, result.vocabulary.terms) == expected


@pytest.mark.kernel
@pytest.mark.parametrize("rules", [PLAIN, PAIRS], ids=["words", "bigrams"])
def test_awkward_texts_count_like_the_reference(rules: TokenRules) -> None:
    result = counted(FEW, rules)
    got = as_dicts(result.matrix, result.vocabulary.terms)
    assert got == reference.counts(FEW, bigrams=rules.bigrams)


@pytest.mark.kernel
@pytest.mark.parametrize("rules", [PLAIN, PAIRS], ids=["words", "bigrams"])
def test_a_fixed_vocabulary_gives_the_same_counts_as_building_one(rules: TokenRules) -> None:
    built = counted(FEW, rules)
    texts = pa.array(FEW, pa.large_binary())
    fixed = list(count_batches([texts[:50], texts[50:]], built.vocabulary, rules, threads=2))
    assert (sparse.vstack(fixed).toarray() == built.matrix.toarray()).all()


def test_terms_outside_the_vocabulary_are_not_counted_but_stand_between_neighbours() -> None:
    vocabulary = Vocabulary.public(["red", "red blue", "blue"])
    (matrix,) = count_batches([pa.array(["red green blue red blue"])], vocabulary, PAIRS)
    assert matrix.toarray().tolist() == [[2, 1, 2]]


@pytest.mark.kernel
def test_stop_words_are_dropped_before_neighbours_are_paired() -> None:
    rules = TokenRules(bigrams=True, stop_words=frozenset({"and"}))
    vocabulary = Vocabulary.public(["red blue", "and"])
    (matrix,) = count_batches([pa.array(["Red and blue"])], vocabulary, rules)
    assert matrix.toarray().tolist() == [[1, 0]]


@pytest.mark.parametrize("open_vocabulary", [True, False])
def test_stems_are_counted_as_one_term(open_vocabulary: bool) -> None:
    rules = TokenRules(stem="english")
    texts = pa.array(["debts and a debt", "indebted"])
    if open_vocabulary:
        result = count([texts], rules)
        matrix, terms = result.matrix, result.vocabulary.terms
    else:
        vocabulary = Vocabulary.public(["debt", "and", "indebt"])
        (matrix,) = count_batches([texts], vocabulary, rules)
        terms = vocabulary.terms
    assert as_dicts(matrix, terms) == [{"debt": 2, "and": 1}, {"indebt": 1}]


def test_a_full_cache_of_stems_is_started_anew_with_the_same_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sottovoce.corpus.words.codes._CACHE_WORDS", 2)
    vocabulary, rules = Vocabulary.public(["word", "run"]), TokenRules(stem="english")
    texts = [pa.array(["words running here"]), pa.array(["runs of words"])]
    rows = [matrix.toarray().tolist() for matrix in count_batches(texts, vocabulary, rules)]
    assert rows == [[[1, 1]], [[1, 1]]]


@pytest.mark.kernel
def test_more_words_than_the_first_tables_hold() -> None:
    texts = [
        " ".join(f"word{i} longerword{i}" for i in range(k, k + 300)) for k in range(0, 3000, 250)
    ]
    result = counted(texts, PAIRS)
    assert as_dicts(result.matrix, result.vocabulary.terms) == reference.counts(texts, bigrams=True)


def test_nulls_slices_and_empty_arrays_are_texts_without_words() -> None:
    texts = pa.array(["zero", None, "one two", "", "two"])[1:]
    vocabulary = Vocabulary.public(["one", "two", "zero"])
    matrices = list(count_batches([texts, pa.array([], pa.string())], vocabulary, threads=2))
    assert matrices[0].toarray().tolist() == [[0, 0, 0], [1, 1, 0], [0, 0, 0], [0, 1, 0]]
    assert matrices[1].shape == (0, 3)


@pytest.mark.parametrize("cut", [1, 7, 64, 1000])
def test_statistics_do_not_depend_on_how_texts_are_cut_into_batches(cut: int) -> None:
    texts = pa.array(FEW, pa.binary())
    whole = count([texts], PAIRS)
    batches = [texts[i : i + cut] for i in range(0, len(texts), cut)]
    statistics = term_statistics(batches, PAIRS, threads=2)
    assert statistics.terms == whole.vocabulary.terms
    assert statistics.occurrences.tolist() == whole.matrix.sum(axis=0).tolist()
    assert statistics.texts.tolist() == np.bincount(whole.matrix.indices).tolist()


def test_a_vocabulary_keeps_frequent_terms_and_is_marked_as_data_dependent() -> None:
    statistics = term_statistics([pa.array(["aa bb cc", "aa bb", "aa aa dd", "dd dd dd dd"])])
    assert statistics.vocabulary(min_texts=2).terms == ("aa", "bb", "dd")
    assert statistics.vocabulary(max_terms=2).terms == ("aa", "dd")
    assert statistics.vocabulary().data_dependent
    with pytest.raises(CorpusError, match="no term occurs in 9 texts"):
        statistics.vocabulary(min_texts=9)


def test_texts_without_any_word_are_an_error() -> None:
    with pytest.raises(CorpusError, match="no word to count"):
        count([pa.array(["!", ""])])


@pytest.mark.parametrize("name", ["min_texts", "max_terms"])
def test_limits_below_one_are_refused(name: str) -> None:
    with pytest.raises(ParameterError, match=f"{name} must be >= 1, got 0"):
        term_statistics([pa.array(["word"])]).vocabulary(**{name: 0})


LONG = [" ".join(f"{word}ing {word}s of" for word in words) for words in [("run", "debt", "loan")]]


@pytest.mark.parametrize("rules", [TokenRules(stem="english", bigrams=True), PAIRS, PLAIN])
def test_several_threads_on_long_texts_count_like_one(
    rules: TokenRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_BYTES_PER_THREAD", counting._BYTES_PER_THREAD // 4)
    texts = pa.array(
        [f"{text} word{i}s counted{i % 977}ing" * 9 for i, text in enumerate(LONG * 750)]
    )
    assert texts.nbytes > 8 * counting._BYTES_PER_THREAD
    one = count([texts], rules, threads=1)
    for threads in (2, 4):
        more = count([texts], rules, threads=threads)
        assert more.vocabulary == one.vocabulary
        assert (more.matrix != one.matrix).nnz == 0  # type: ignore[attr-defined] # a sparse matrix


def test_work_is_shared_out_over_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    both, seen = threading.Barrier(2, timeout=10), []
    right = counting.CountWorker.count

    def watched(worker: counting.CountWorker, texts: pa.Array) -> list[sparse.csr_array]:
        seen.append(len(texts))
        both.wait()
        return right(worker, texts)

    monkeypatch.setattr(counting.CountWorker, "count", watched)
    term_statistics([pa.array(["word " * 100_000] * 4)], threads=2)
    assert seen == [2, 2]


@pytest.mark.parametrize(
    "texts",
    [
        pa.array(["red blue", None], pa.string_view()),
        pa.array([b"red blue", None], pa.binary_view()),
        pa.array(["red blue", None]).dictionary_encode(),
        pa.chunked_array([["red blue"], pa.array([None], pa.string())]),
    ],
    ids=["view", "bytes view", "dictionary", "chunks"],
)
def test_other_layouts_of_text_are_counted_too(texts: pa.Array) -> None:
    result = count([texts])
    assert result.vocabulary.terms == ("blue", "red")
    assert result.matrix.toarray().tolist() == [[1, 1], [0, 0]]


def test_arrays_that_hold_no_text_are_refused() -> None:
    with pytest.raises(ParameterError, match="strings or bytes, got an array of int64"):
        count([pa.array([1, 2])])


def test_stop_words_are_compared_before_stemming() -> None:
    rules = TokenRules(stop_words=frozenset({"debts", "run"}), stem="english")
    assert count([pa.array(["debts debt running"])], rules).vocabulary.terms == ("debt", "run")


@pytest.mark.kernel
def test_long_words_with_one_key_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    # With a step of 0 every long word has the same hash: only its bytes tell it apart.
    zeros = np.zeros(2, np.uint64)
    real = lexicon._empty_arrays
    monkeypatch.setattr(lexicon, "_empty_arrays", lambda slots, _factors: real(slots, zeros))
    texts = ["longestword longestworx longestwordy longestword"]
    result = counted(texts, PLAIN)
    assert as_dicts(result.matrix, result.vocabulary.terms) == reference.counts(texts)


def test_every_lexicon_has_secrets_of_its_own() -> None:
    one, other = (lexicon.Lexicon().arrays.hashing[:2].tolist() for _ in range(2))
    assert one != other


def test_the_counter_of_a_vocabulary_is_made_once_for_each_set_of_rules() -> None:
    words = Vocabulary.public(["loan", "sea"])
    assert VocabularyCounter.share(words) is VocabularyCounter.share(words, TokenRules())
    assert VocabularyCounter.share(words) is not VocabularyCounter.share(
        words, TokenRules(shortest=3)
    )
