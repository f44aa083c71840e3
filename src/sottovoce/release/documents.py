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
from scipy import sparse

from sottovoce.corpus.counting import count_batches
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.corpus.words.scan import text_buffers
from sottovoce.errors import CorpusError
from sottovoce.release.counts import Counts, checked_counts


@dataclass(frozen=True, eq=False)
class Documents:
    """Counts by a vocabulary, the corpus they come from, and how many documents were left out."""

    counts: Counts
    vocabulary: Vocabulary
    corpus: str
    left_out: int = 0
    per_user: int | None = None
    """The most documents of any user, where that was bounded."""


def count_documents(
    batches: Iterable[pa.RecordBatch],
    vocabulary: Vocabulary,
    rules: TokenRules,
    *,
    per_user: int | None = None,
) -> Documents:
    """Count the column ``text``; with ``per_user`` keep each user's first so many documents."""
    identity = _Identity()
    bound = _Bound(per_user)
    # The corpus is the same whatever bound is put on its users: their budgets are not told apart.
    texts = (batch["text"] for batch in bound.kept(identity.watched(batches)))
    blocks = list(count_batches(texts, vocabulary, rules))
    if not blocks:
        raise CorpusError("there is no document to release.")
    counts = checked_counts(sparse.csr_array(sparse.vstack(blocks)))
    return Documents(counts, vocabulary, identity.digest(), bound.left_out, per_user)


class _Identity:
    """A hash of all texts in order that does not depend on how they were cut into batches."""

    def __init__(self) -> None:
        self._lengths = hashlib.sha256()
        self._bytes = hashlib.sha256()

    def watched(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            texts = text_buffers(batch["text"])
            self._lengths.update(np.diff(texts.offsets).astype("<i8").tobytes())
            self._bytes.update(texts.data[texts.offsets[0] : texts.offsets[-1]].tobytes())
            yield batch

    def digest(self) -> str:
        return hashlib.sha256(self._lengths.digest() + self._bytes.digest()).hexdigest()


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
