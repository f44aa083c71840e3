"""Votes: a document's bounded vector of whole numbers, u >= 0 with ||u||_1 <= S.

A vote is a function of the peer's vote key, the document's id and its text (and label) alone, never
of its row or of other documents: a peer without one of its documents has exactly the same sum less
that document's vector. Whatever the choice, the promise needs no more than the bound S; the key
keeps others from working out which words of a guessed document would be counted.

Words: 1 for the document, and 1 for each of at most S - 1 of its different listed words, chosen
evenly where it has more. Pairs: S draws of two different positions, and 1 for the two words there,
in either order: L1 is exactly S, and the mean S times the document's pair counts, divided by their
sum. A document with fewer than two listed words has no pair and votes nothing.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Flags, Integers
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import DataError, InputError
from sottovoce.learn.count.recipe import What, cells_of, check_cells
from sottovoce.learn.documents import Documents
from sottovoce.learn.features import word_counts
from sottovoce.learn.wire.codec import encode_value

if TYPE_CHECKING:
    from scipy import sparse

_BLOCK = 1 << 13  # documents: what is drawn for them stays in the cache's reach
_WORD_BYTES = 8
_FEWEST_POSITIONS = 2


@dataclass(frozen=True)
class VotePlan:
    """Who may vote for what.

    Attributes:
        what: words or pairs.
        words: the public words, in the order of the cells.
        labels: the public label names, in the order of the cells; none: documents have none.
        votes: S, the most votes of a document.
        rules: what a word is.
        documents_per_user: how many documents of one user vote; None: all.
    """

    what: What
    words: tuple[str, ...]
    labels: tuple[str, ...] = ()
    votes: int = 10
    rules: TokenRules = field(default_factory=TokenRules)
    documents_per_user: int | None = None

    def __post_init__(self) -> None:
        check_cells(self.what, len(self.words), len(self.labels))

    @property
    def cells(self) -> int:
        """How many numbers a vector has."""
        return cells_of(self.what, len(self.words), len(self.labels))

    def check(self, documents: Documents) -> None:
        """Refuse documents that cannot vote, before anything is said; none at all may."""
        if not len(documents):
            return
        if self.documents_per_user is not None and documents.groups is None:
            raise InputError(
                "documents must name their users where each user's are bounded; name that column."
            )
        if not self.labels:
            return
        if documents.labels is None:
            raise InputError("documents must have labels to be counted by label, got none.")
        unknown = len(set(documents.labels) - set(self.labels))
        if unknown:
            raise DataError(
                f"documents' labels must be among the {len(self.labels)} public names, got "
                f"{unknown} others; name every label, or leave such documents out."
            )

    def sum_votes(self, key: bytes, documents: Documents) -> Integers:
        """The sum of all documents' vectors, under a peer's vote key."""
        self.check(documents)
        total = np.zeros(self.cells, np.int64)
        if self.documents_per_user is not None:
            documents = documents.part(_choose_documents(key, documents, self.documents_per_user))
        for start in range(0, len(documents), _BLOCK):
            chosen = np.zeros(len(documents), bool)
            chosen[start : start + _BLOCK] = True
            total += self._block(key, documents.part(chosen))
        return total

    def _block(self, key: bytes, documents: Documents) -> Integers:
        vocabulary = Vocabulary(self.words, data_dependent=True, origin="the words of a count")
        counts = word_counts(documents.texts, vocabulary.terms, self.rules)
        if self.what == "pairs":
            cells = _pair_cells(key, documents, counts, self.votes, len(self.words))
        else:
            cells = self._word_cells(key, documents, counts)
        return np.bincount(cells, minlength=self.cells).astype(np.int64)

    def _word_cells(
        self, key: bytes, documents: Documents, counts: "sparse.csr_array"
    ) -> NDArray[np.intp]:
        rows = np.repeat(np.arange(len(documents)), np.diff(counts.indptr))
        kept = _chosen_words(key, documents, counts, self.votes - 1)
        base = self._label_rows(documents) * (len(self.words) + 1)
        words = base[rows[kept]] + counts.indices[kept]
        return np.concatenate([words, base + len(self.words)]).astype(np.intp)

    def _label_rows(self, documents: Documents) -> Integers:
        if not self.labels or documents.labels is None:
            return np.zeros(len(documents), np.int64)
        at = {label: row for row, label in enumerate(self.labels)}
        return np.array([at[label] for label in documents.labels], np.int64)


def _chosen_words(
    key: bytes, documents: Documents, counts: "sparse.csr_array", most: int
) -> NDArray[np.intp]:
    """Of each row's entries at most ``most``, those whose random numbers are least."""
    sizes = np.diff(counts.indptr)
    drawn = np.concatenate([np.zeros(0, np.uint64), *_draw_numbers(key, documents, sizes.tolist())])
    rows = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((drawn, rows))
    place = np.arange(len(order)) - np.repeat(counts.indptr[:-1], sizes)
    return np.sort(order[place < most])


def _pair_cells(
    key: bytes, documents: Documents, counts: "sparse.csr_array", votes: int, width: int
) -> NDArray[np.intp]:
    """The cells of S draws of two different positions in each document."""
    tokens = np.repeat(counts.indices, counts.data).astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(counts.data)])[counts.indptr]
    begins, lengths = ends[:-1], np.diff(ends)
    able = np.flatnonzero(lengths >= _FEWEST_POSITIONS)
    sizes = np.where(lengths >= _FEWEST_POSITIONS, 2 * votes, 0)
    drawn = np.concatenate([np.zeros(0, np.uint64), *_draw_numbers(key, documents, sizes.tolist())])
    first, second = np.moveaxis(drawn.reshape(len(able), votes, 2), 2, 0)
    # What 64 bits modulo a length favour some positions by is below 2^-40.
    room = lengths[able, None].astype(np.uint64)
    one = (first % room).astype(np.int64)
    other = (second % (room - np.uint64(1))).astype(np.int64)
    other += other >= one
    pair = tokens[begins[able, None, None] + np.stack([one, other], axis=2)]
    return pair_places(pair.min(axis=2).ravel(), pair.max(axis=2).ravel(), width)


def pair_places(low: Integers, high: Integers, width: int) -> NDArray[np.intp]:
    """Where pairs stand among the cells: the upper triangle row by row, as `numpy.triu_indices`."""
    return (low * width - low * (low - 1) // 2 + high - low).astype(np.intp)


def _draw_numbers(
    key: bytes, documents: Documents, sizes: Sequence[int]
) -> Iterator[NDArray[np.uint64]]:
    """So many 64-bit numbers for each document, which its id and text give under the key."""
    ids = documents.ids or [""] * len(documents)
    for name, text, size in zip(ids, documents.texts, sizes, strict=True):
        stream = hashlib.shake_256(encode_value((key, "votes", name, text)))
        yield np.frombuffer(stream.digest(_WORD_BYTES * size), "<u8")


def _choose_documents(key: bytes, documents: Documents, most: int) -> Flags:
    """The documents of each user that vote: those whose digests under the key are least.

    Which they are depends on that user's documents alone.
    """
    ids = documents.ids or [""] * len(documents)
    labels = documents.labels or [""] * len(documents)
    marks = [
        hashlib.sha256(encode_value((key, "bound", *each))).digest()
        for each in zip(ids, documents.texts, labels, strict=True)
    ]
    taken: dict[int, int] = {}
    chosen = np.zeros(len(documents), bool)
    users = [] if documents.groups is None else documents.groups.tolist()
    for at in sorted(range(len(marks)), key=marks.__getitem__):
        taken[users[at]] = taken.get(users[at], 0) + 1
        chosen[at] = taken[users[at]] <= most
    return chosen
