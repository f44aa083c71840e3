"""Count matrices from texts: streaming by a fixed vocabulary, or building one.

Work is split over threads by bytes of text; the result does not depend on how many there are, nor
on how the texts were cut into batches. `count_to_folder` goes from a corpus to files in bounded
memory.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from sottovoce._compiled import available_cores, on_threads
from sottovoce._files import output_folder, whole_file
from sottovoce.corpus._matrix_file import write_matrix
from sottovoce.corpus._term_counter import TermCounter, closed_columns, sort_rows
from sottovoce.corpus._vocabulary import Vocabulary
from sottovoce.corpus.read import Corpus
from sottovoce.corpus.words._codes import OUTSIDE, WordCoder
from sottovoce.corpus.words._normal import normal_texts
from sottovoce.corpus.words._rules import TokenRules
from sottovoce.corpus.words._scan import TextBuffers, text_buffers
from sottovoce.errors import CorpusError, ParameterError

COUNTS_FILE = "counts.npz"
VOCABULARY_FILE = "vocabulary.txt"
# Below this much text a thread costs more than it gains.
_BYTES_PER_THREAD = 1 << 16
# So much text at a time keeps what is written at random within the processor's cache.
_BYTES_PER_PIECE = 1 << 20


@dataclass(frozen=True, repr=False)
class TermStatistics:
    """Every term of a corpus, in alphabetical order: private values, like the texts."""

    terms: tuple[str, ...]
    texts: NDArray[np.int64]
    """In how many texts each term occurs."""
    occurrences: NDArray[np.int64]
    """How often each term occurs."""

    def __repr__(self) -> str:
        return f"TermStatistics(terms={len(self.terms)})"

    def vocabulary(self, *, min_texts: int = 1, max_terms: int | None = None) -> Vocabulary:
        """The terms in at least ``min_texts`` texts, of these the ``max_terms`` most frequent."""
        if min_texts < 1:
            raise ParameterError(f"min_texts must be >= 1, got {min_texts}.")
        if max_terms is not None and max_terms < 1:
            raise ParameterError(f"max_terms must be >= 1, got {max_terms}.")
        kept = np.flatnonzero(self.texts >= min_texts)
        if max_terms is not None and kept.size > max_terms:
            by_frequency = kept[np.argsort(-self.occurrences[kept], kind="stable")]
            kept = np.sort(by_frequency[:max_terms])
        if not kept.size:
            raise CorpusError(f"no term occurs in {min_texts} texts or more; lower min_texts.")
        limit = "" if max_terms is None else f", the {max_terms} most frequent of them"
        origin = f"built from a corpus: terms in at least {min_texts} texts{limit}"
        return Vocabulary(tuple(self.terms[i] for i in kept), data_dependent=True, origin=origin)


@dataclass(frozen=True)
class Counts:
    """A count matrix, one row a text, and the vocabulary that names its columns."""

    matrix: sparse.csr_array
    vocabulary: Vocabulary


@dataclass(frozen=True)
class WrittenCounts:
    """What a folder of counts holds."""

    rows: int
    cells: int
    vocabulary: Vocabulary


def count_batches(
    texts: Iterable[pa.Array],
    vocabulary: Vocabulary,
    rules: TokenRules | None = None,
    *,
    threads: int | None = None,
) -> Iterator[sparse.csr_array]:
    """One count matrix for each array of texts; memory does not grow with their number.

    >>> import pyarrow as pa
    >>> words = Vocabulary.public(["loan", "sea"])
    >>> [counts.toarray().tolist() for counts in count_batches([pa.array(["a loan"])], words)]
    [[[1, 0]]]
    """
    rules = rules or TokenRules()
    codes = {word: code for code, word in enumerate(_single_words(vocabulary))}
    columns = closed_columns(vocabulary.column, codes)
    coder = WordCoder(rules, codes)
    workers = [
        _Worker(
            coder if coder.shared else WordCoder(rules, codes),
            TermCounter(bigrams=rules.bigrams, columns=columns, width=len(vocabulary)),
        )
        for _ in range(_thread_count(threads))
    ]
    for array in texts:
        parts = _count_parts(workers, array)
        yield _stacked([piece for part in parts for piece in part], len(vocabulary))


def term_statistics(
    texts: Iterable[pa.Array], rules: TokenRules | None = None, *, threads: int | None = None
) -> TermStatistics:
    """Every term with its frequencies; memory grows with the number of distinct terms only."""
    workers = _open_workers(rules or TokenRules(), threads)
    sums = [_Sums() for _ in workers]
    for array in texts:
        for worker_sums, part in zip(sums, _count_parts(workers, array), strict=False):
            for piece in part:
                worker_sums.add(piece)
    return _merge_statistics([worker.terms() for worker in workers], sums)


def count(
    texts: Iterable[pa.Array], rules: TokenRules | None = None, *, threads: int | None = None
) -> Counts:
    """Build the vocabulary of all terms and count by it, in one pass. Memory holds the result.

    >>> import pyarrow as pa
    >>> counts = count([pa.array(["a loan, a loan", "the sea"])])
    >>> counts.vocabulary.terms, counts.matrix.toarray().tolist()
    (('loan', 'sea', 'the'), [[2, 0, 0], [0, 1, 1]])
    """
    workers = _open_workers(rules or TokenRules(), threads)
    batches = [_count_parts(workers, array) for array in texts]
    local_terms = [worker.terms() for worker in workers]
    terms = sorted(set().union(*local_terms))
    if not terms:
        raise CorpusError("the texts hold no word to count.")
    vocabulary = Vocabulary(
        tuple(terms), data_dependent=True, origin="built from a corpus: every term"
    )
    column = vocabulary.column
    maps = [np.array([column[term] for term in local], np.int32) for local in local_terms]
    tasks = [
        partial(_renamed, piece, maps[thread], len(terms))
        for batch in batches
        for thread, part in enumerate(batch)
        for piece in part
    ]
    return Counts(_stacked(on_threads(tasks, len(workers)), len(terms)), vocabulary)


def count_to_folder(
    corpus: Corpus,
    folder: Path,
    rules: TokenRules,
    *,
    vocabulary: Vocabulary | None = None,
    min_texts: int = 1,
    max_terms: int | None = None,
) -> WrittenCounts:
    """Write counts.npz and vocabulary.txt, both or neither.

    Without a vocabulary the corpus is read twice: once to choose the terms, once to count them.
    """
    if vocabulary is None:
        statistics = term_statistics((batch["text"] for batch in corpus), rules)
        vocabulary = statistics.vocabulary(min_texts=min_texts, max_terms=max_terms)
    output_folder(folder)
    with (
        whole_file(folder / COUNTS_FILE, private=True) as counts,
        # The words a private corpus chose are as private as its counts.
        whole_file(folder / VOCABULARY_FILE, private=vocabulary.data_dependent) as terms,
    ):
        blocks = count_batches((batch["text"] for batch in corpus), vocabulary, rules)
        rows, cells = write_matrix(counts, blocks, len(vocabulary))
        terms.write_text(vocabulary.as_text(), encoding="utf-8")
    return WrittenCounts(rows, cells, vocabulary)


class _Worker:
    """What one thread needs: it reads texts and counts them, and nothing else."""

    def __init__(self, coder: WordCoder, counter: TermCounter) -> None:
        self._coder = coder
        self._counter = counter

    def count(self, texts: TextBuffers, first: int, last: int) -> list[sparse.csr_array]:
        cuts = _cuts(texts, first, last, _BYTES_PER_PIECE)
        return [
            self._counter.count(*self._coder.encode(texts, begin, end))
            for begin, end in pairwise(cuts)
        ]

    def terms(self) -> list[str]:
        """The term of each column, for a worker that found its columns itself."""
        forms = self._coder.forms
        return [
            forms[first] if second == OUTSIDE else f"{forms[first]} {forms[second]}"
            for first, second in self._counter.members.tolist()
        ]


class _Sums:
    """Column sums over matrices that get wider."""

    def __init__(self) -> None:
        self.texts = np.zeros(0, np.int64)
        self.occurrences = np.zeros(0, np.int64)

    def add(self, part: sparse.csr_array) -> None:
        width = part.shape[1]
        texts = np.bincount(part.indices, minlength=width)
        occurrences = np.bincount(part.indices, weights=part.data, minlength=width)
        texts[: self.texts.size] += self.texts
        occurrences[: self.occurrences.size] += self.occurrences
        self.texts, self.occurrences = texts, occurrences.astype(np.int64)


def _open_workers(rules: TokenRules, threads: int | None) -> list[_Worker]:
    return [
        _Worker(WordCoder(rules), TermCounter(bigrams=rules.bigrams))
        for _ in range(_thread_count(threads))
    ]


def _thread_count(threads: int | None) -> int:
    if threads is None:
        return available_cores()
    if threads < 1:
        raise ParameterError(f"threads must be >= 1, got {threads}.")
    return threads


def _single_words(vocabulary: Vocabulary) -> dict[str, None]:
    return dict.fromkeys(word for term in vocabulary.terms for word in term.split(" "))


def _count_parts(workers: list[_Worker], array: pa.Array) -> list[list[sparse.csr_array]]:
    """Count an array in contiguous parts of about equal bytes, one for each thread.

    Each part comes in pieces.
    """
    texts = text_buffers(normal_texts(array))
    size = int(texts.offsets[-1] - texts.offsets[0])
    cuts = _cuts(texts, 0, texts.rows, max(_BYTES_PER_THREAD, -(-size // len(workers))))
    tasks = [
        partial(worker.count, texts, first, last)
        for worker, (first, last) in zip(workers, pairwise(cuts), strict=False)
    ]
    return on_threads(tasks, len(workers))


def _cuts(texts: TextBuffers, first: int, last: int, size: int) -> list[int]:
    """Where to cut texts ``first`` to ``last`` into contiguous parts of about ``size`` bytes."""
    begin, end = texts.offsets[first], texts.offsets[last]
    goals = np.arange(begin + size, end, size)
    inner = first + np.searchsorted(texts.offsets[first:last], goals)
    return [first, *inner.tolist(), last]


def _stacked(parts: list[sparse.csr_array], width: int) -> sparse.csr_array:
    """The parts one under another, as a matrix with ``width`` columns."""
    if len(parts) == 1 and parts[0].shape[1] == width:
        return parts[0]
    if not parts:
        return sparse.csr_array(np.zeros((0, width), np.int32))
    ends = np.cumsum([0, *(part.nnz for part in parts)])
    pointers = [part.indptr[1:] + end for part, end in zip(parts, ends[:-1], strict=True)]
    cells = (
        np.concatenate([part.data for part in parts]),
        np.concatenate([part.indices for part in parts]),
        np.concatenate([ends[:1], *pointers]),
    )
    return sparse.csr_array(cells, shape=(sum(part.shape[0] for part in parts), width))


def _renamed(part: sparse.csr_array, columns: NDArray[np.int32], width: int) -> sparse.csr_array:
    """The same counts with their columns renumbered, in column order."""
    renumbered, pointers = columns[part.indices], part.indptr.astype(np.int64)
    sort_rows(pointers, renumbered, part.data, width)
    return sparse.csr_array((part.data, renumbered, pointers), shape=(part.shape[0], width))


def _merge_statistics(local_terms: list[list[str]], sums: list[_Sums]) -> TermStatistics:
    terms = sorted(set().union(*local_terms))
    column = {term: i for i, term in enumerate(terms)}
    texts, occurrences = np.zeros(len(terms), np.int64), np.zeros(len(terms), np.int64)
    for local, local_sums in zip(local_terms, sums, strict=True):
        places = np.array([column[term] for term in local[: local_sums.texts.size]], np.int64)
        np.add.at(texts, places, local_sums.texts)
        np.add.at(occurrences, places, local_sums.occurrences)
    return TermStatistics(tuple(terms), texts, occurrences)
