"""Private documents as a release needs them: counted, bounded per user, and told apart by a hash.

The hash names the corpus in the ledger and stays there: on a card it would let anyone confirm a
guess at the whole corpus.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.corpus.counting import count_batches
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.corpus.words.scan import text_buffers
from sottovoce.errors import CorpusError
from sottovoce.release.counts import Counts, checked_counts


@dataclass(frozen=True)
class CountsElsewhere:
    """What must be known of counts that are not here but on a cluster."""

    shape: tuple[int, int]
    nnz: int
    digests: tuple[str, str, str]


@dataclass(frozen=True, eq=False, repr=False)
class Documents:
    """Counts by a vocabulary, the corpus they come from, and how many documents were left out."""

    counts: "Counts | CountsElsewhere"
    vocabulary: Vocabulary
    corpus: str
    left_out: int = 0
    per_user: int | None = None
    """The most documents of any user, where that was bounded."""

    def __repr__(self) -> str:
        rows, words = self.counts.shape
        return f"Documents(documents={rows}, words={words}, left_out={self.left_out})"


class CountsDigest:
    """Hashes of a matrix's arrays, from blocks of its rows in order."""

    def __init__(self) -> None:
        self._data, self._columns, self._pointers = (hashlib.sha256() for _ in range(3))
        self._pointers.update(np.zeros(1, np.int64).tobytes())
        self.rows = self.nnz = 0

    def add(
        self, lengths: NDArray[np.int64], columns: NDArray[np.integer], data: NDArray[np.int64]
    ) -> None:
        """Take in the next rows: how long each is, their columns and counts."""
        self._pointers.update((self.nnz + np.cumsum(lengths)).astype(np.int64).tobytes())
        self._columns.update(columns.astype(np.int64).tobytes())
        self._data.update(data.tobytes())
        self.rows += lengths.size
        self.nnz += int(lengths.sum())

    def counts(self, width: int) -> CountsElsewhere:
        """What must be known of the whole matrix."""
        hashes = (self._data, self._columns, self._pointers)
        data, columns, pointers = (each.hexdigest() for each in hashes)
        return CountsElsewhere((self.rows, width), self.nnz, (data, columns, pointers))


def count_documents(
    batches: Iterable[pa.RecordBatch],
    vocabulary: Vocabulary,
    rules: TokenRules,
    *,
    per_user: int | None = None,
) -> Documents:
    """Count the column ``text``; with ``per_user`` keep each user's first so many documents."""
    identity = CorpusIdentity()
    bound = _Bound(per_user)
    # The corpus is the same whatever bound is put on its users: their budgets are not told apart.
    texts = (batch["text"] for batch in bound.kept(identity.watched(batches)))
    blocks = list(count_batches(texts, vocabulary, rules))
    if not blocks:
        raise CorpusError("there is no document to release.")
    counts = checked_counts(sparse.csr_array(sparse.vstack(blocks)))
    return Documents(counts, vocabulary, identity.digest(), bound.left_out, per_user)


class CorpusIdentity:
    """A hash of all texts in order that does not depend on how they were cut into batches."""

    def __init__(self) -> None:
        self._lengths = hashlib.sha256()
        self._bytes = hashlib.sha256()

    def watched(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches, their texts taken in on the way."""
        for batch in batches:
            self.add(*lengths_and_bytes(batch["text"]))
            yield batch

    def add(self, lengths: bytes, texts: bytes) -> None:
        """Take in the next texts, as `lengths_and_bytes` gives them."""
        self._lengths.update(lengths)
        self._bytes.update(texts)

    def digest(self) -> str:
        """The corpus's name in a ledger."""
        return hashlib.sha256(self._lengths.digest() + self._bytes.digest()).hexdigest()


def lengths_and_bytes(texts: pa.Array) -> tuple[bytes, bytes]:
    """How long each text is, and all of them one after another."""
    found = text_buffers(texts)
    lengths = np.diff(found.offsets).astype("<i8").tobytes()
    return lengths, found.data[found.offsets[0] : found.offsets[-1]].tobytes()


class _Bound:
    """Lets each user's first documents through."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._seen: Counter[str] = Counter()
        self.left_out = 0

    def kept(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch if self._most is None else self._within(batch, self._most)

    def _within(self, batch: pa.RecordBatch, most: int) -> pa.RecordBatch:
        keep = []
        for user in batch["user"].to_pylist():
            self._seen[user] += 1
            keep.append(self._seen[user] <= most)
        self.left_out += len(keep) - sum(keep)
        return batch.filter(pa.array(keep, pa.bool_()))
