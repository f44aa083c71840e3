"""Count matrices from texts: streaming by a fixed vocabulary, or building one.

Work is split over threads by bytes of text; the result does not depend on how many there are, nor
on how the texts were cut into batches. `count_to_folder` goes from a corpus to files in bounded
memory.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.compiled import available_cores, in_turn, on_threads, read_ahead
from sottovoce.corpus.matrix_file import write_matrix
from sottovoce.corpus.read.corpus import Corpus
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.codes import (
    OUTSIDE,
    TermCounter,
    WordCoder,
    closed_columns,
    narrow,
    sort_rows,
)
from sottovoce.corpus.words.rules import TokenRules, normal_texts
from sottovoce.corpus.words.scan import TextBuffers, text_buffers
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.files import output_folder, whole_file

COUNTS_FILE = "counts.npz"
VOCABULARY_FILE = "vocabulary.txt"
# Below this much text a thread costs more than it gains.
_BYTES_PER_THREAD = 1 << 16
# So much text at a time keeps what is written at random within the processor's cache.
_BYTES_PER_PIECE = 1 << 20
_KEPT: "WeakKeyDictionary[Vocabulary, dict[TokenRules, VocabularyCounter]]" = WeakKeyDictionary()


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
    counter = VocabularyCounter.share(vocabulary, rules)
    number = _threads_for(texts, threads)
    for parts in _parts(texts, [counter.worker() for _ in range(number)]):
        yield stack_rows([piece for part in parts for piece in part.pieces], len(vocabulary))


class VocabularyCounter:
    """Counts by a fixed vocabulary; each thread asks for a worker of its own."""

    def __init__(self, vocabulary: Vocabulary, rules: TokenRules | None = None) -> None:
        self._rules = rules or TokenRules()
        self._width = len(vocabulary)
        self._codes = {word: code for code, word in enumerate(_single_words(vocabulary))}
        self._columns = closed_columns(vocabulary.column, self._codes)
        self._coder = WordCoder(self._rules, self._codes)

    @classmethod
    def share(cls, vocabulary: Vocabulary, rules: TokenRules | None = None) -> "VocabularyCounter":
        """The counter by a vocabulary, which keeps it: to make one takes a step for each word."""
        kept = _KEPT.setdefault(vocabulary, {})
        rules = rules or TokenRules()
        if rules not in kept:
            kept[rules] = cls(vocabulary, rules)
        return kept[rules]

    def worker(self) -> "CountWorker":
        """What one thread counts with."""
        coder = self._coder if self._coder.is_shared else WordCoder(self._rules, self._codes)
        bigrams = self._rules.bigrams
        return CountWorker(
            coder, TermCounter(bigrams=bigrams, columns=self._columns, width=self._width)
        )

    def count_texts(self, worker: "CountWorker", texts: pa.Array) -> sparse.csr_array:
        """The counts of some texts, on this thread alone."""
        return stack_rows(worker.count(texts), self._width)


def term_statistics(
    texts: Iterable[pa.Array], rules: TokenRules | None = None, *, threads: int | None = None
) -> TermStatistics:
    """Every term with its frequencies; memory grows with the number of distinct terms only."""
    workers = _open_workers(rules or TokenRules(), _threads_for(texts, threads))
    sums = [_Sums() for _ in workers]
    for parts in _parts(texts, workers):
        for part in parts:
            for piece in part.pieces:
                sums[part.worker].add(piece)
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
    workers = _open_workers(rules or TokenRules(), _threads_for(texts, threads))
    parts = [part for parts in _parts(texts, workers) for part in parts]
    local_terms = [worker.terms() for worker in workers]
    terms = sorted(set().union(*local_terms))
    if not terms:
        raise CorpusError("the texts hold no word to count.")
    vocabulary = Vocabulary(
        tuple(terms), data_dependent=True, origin="built from a corpus: every term"
    )
    column = vocabulary.column
    maps = [np.array([column[term] for term in local], np.int32) for local in local_terms]
    pieces = [(piece, maps[part.worker]) for part in parts for piece in part.pieces]
    return Counts(_renumber_columns(pieces, len(terms), len(workers)), vocabulary)


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


class CountWorker:
    """What one thread needs: it reads texts and counts them, and nothing else."""

    def __init__(self, coder: WordCoder, counter: TermCounter) -> None:
        self._coder = coder
        self._counter = counter

    def count(self, array: pa.Array) -> list[sparse.csr_array]:
        """The counts of an array of texts, in pieces."""
        texts = text_buffers(normal_texts(array))
        cuts = _cuts(texts, _BYTES_PER_PIECE)
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


def _open_workers(rules: TokenRules, threads: int) -> list[CountWorker]:
    return [
        CountWorker(WordCoder(rules), TermCounter(bigrams=rules.bigrams)) for _ in range(threads)
    ]


def _threads_for(texts: Iterable[pa.Array], threads: int | None) -> int:
    """How many threads there are to be; one for what is at hand and little."""
    if threads is not None and threads < 1:
        raise ParameterError(f"threads must be >= 1, got {threads}.")
    if isinstance(texts, Sequence):
        worth = sum(int(array.nbytes) for array in texts) // _BYTES_PER_THREAD
        return min(threads or available_cores(), max(1, worth))
    return threads or available_cores()


def _single_words(vocabulary: Vocabulary) -> dict[str, None]:
    return dict.fromkeys(word for term in vocabulary.terms for word in term.split(" "))


class _Part(NamedTuple):
    """The counts of a part of an array, in pieces, and whether the array ends with it."""

    worker: int
    pieces: list[sparse.csr_array]
    last: bool


def _parts(arrays: Iterable[pa.Array], workers: list[CountWorker]) -> Iterator[list[_Part]]:
    """The parts of each array, counted by whichever worker is free.

    On several threads the next arrays are read and counted before the last one's parts are taken.
    """
    free: SimpleQueue[int] = SimpleQueue()
    for number in range(len(workers)):
        free.put(number)

    def count_part(part: pa.Array, last: bool) -> _Part:
        number = free.get()
        try:
            return _Part(number, workers[number].count(part), last)
        finally:
            free.put(number)

    several = len(workers) > 1
    # Of a stream the next arrays are counted meanwhile: each need not keep all threads busy.
    sharing = len(workers) if isinstance(arrays, Sequence) else 1
    tasks = (
        partial(count_part, array.slice(first, end - first), end == len(array))
        for array in (read_ahead(arrays) if several else arrays)
        for first, end in pairwise(_part_cuts(array, sharing) if several else (0, len(array)))
    )
    parts: list[_Part] = []
    for part in in_turn(tasks, len(workers)):
        parts.append(part)
        if part.last:
            yield parts
            parts = []


def _part_cuts(array: pa.Array, threads: int) -> list[int]:
    """Where to cut an array into parts, so that each thread has some and none has much."""
    rows = len(array)
    share = min(_BYTES_PER_PIECE, max(_BYTES_PER_THREAD, -(-array.nbytes // threads)))
    parts = max(1, min(rows, -(-array.nbytes // share)))
    return [rows * part // parts for part in range(parts + 1)]


def _cuts(texts: TextBuffers, size: int) -> list[int]:
    """Where to cut texts into contiguous parts of about ``size`` bytes."""
    goals = np.arange(texts.offsets[0] + size, texts.offsets[-1], size)
    inner = np.searchsorted(texts.offsets[: texts.rows], goals)
    return [0, *inner.tolist(), texts.rows]


def stack_rows(parts: list[sparse.csr_array], width: int) -> sparse.csr_array:
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
        narrow(np.concatenate([ends[:1], *pointers])),
    )
    return sparse.csr_array(cells, shape=(sum(part.shape[0] for part in parts), width))


def _renumber_columns(
    pieces: list[tuple[sparse.csr_array, NDArray[np.int32]]], width: int, threads: int
) -> sparse.csr_array:
    """The pieces one under another, each in its place, with columns renumbered and in order."""
    cells = np.cumsum([0, *(piece.nnz for piece, _ in pieces)])
    rows = np.cumsum([0, *(piece.shape[0] for piece, _ in pieces)])
    counts, columns = np.empty(cells[-1], np.int32), np.empty(cells[-1], np.int32)
    pointers = np.zeros(rows[-1] + 1, np.int64)

    def put(number: int) -> None:
        piece, renumbered = pieces[number]
        own, begins = slice(*cells[number : number + 2]), piece.indptr.astype(np.int64)
        np.take(renumbered, piece.indices, out=columns[own])
        counts[own] = piece.data
        sort_rows(begins, columns[own], counts[own], width)
        pointers[rows[number] + 1 : rows[number + 1] + 1] = begins[1:] + cells[number]

    on_threads([partial(put, number) for number in range(len(pieces))], threads)
    return sparse.csr_array((counts, columns, narrow(pointers)), shape=(rows[-1], width))


def _merge_statistics(local_terms: list[list[str]], sums: list[_Sums]) -> TermStatistics:
    terms = sorted(set().union(*local_terms))
    column = {term: i for i, term in enumerate(terms)}
    texts, occurrences = np.zeros(len(terms), np.int64), np.zeros(len(terms), np.int64)
    for local, local_sums in zip(local_terms, sums, strict=True):
        places = np.array([column[term] for term in local[: local_sums.texts.size]], np.int64)
        np.add.at(texts, places, local_sums.texts)
        np.add.at(occurrences, places, local_sums.occurrences)
    return TermStatistics(tuple(terms), texts, occurrences)
