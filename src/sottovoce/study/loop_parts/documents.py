"""A community's word counts in the shape in which they are released."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.assess.buckets import Bucket
from sottovoce.corpus.counting import count_batches
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import CorpusError, check_choice
from sottovoce.release.counts import Counts, checked_counts

Shape: TypeAlias = Literal["user", "week"]
SHAPES: tuple[Shape, ...] = ("user", "week")
WEEK = Bucket(1, "w")


@dataclass(frozen=True, eq=False)
class Documents:
    """A row a user, or a user and week; whose row it is and of when are public facts."""

    users: pa.Array
    """Everybody with a post, each once."""
    owners: NDArray[np.int64]
    """The place in ``users`` of each row's writer."""
    buckets: NDArray[np.int32]
    """The week of each row; 0 where a row is all that somebody has written."""
    counts: Counts
    words: tuple[str, ...]
    """Of the columns; public."""

    @property
    def rows(self) -> int:
        """How many documents."""
        return len(self.owners)

    def rows_by_user(self) -> NDArray[np.int64]:
        """How many documents each user has: public in any release of this shape."""
        return np.bincount(self.owners, minlength=len(self.users))

    def summed_by_user(self, cells: sparse.csr_array) -> sparse.csr_array:
        """A row a user: the sum of ``cells`` over her documents."""
        return sparse.csr_array(_gathering(self.owners, len(self.users)) @ cells)


def documents_of(posts: pa.Table, words: Sequence[str], shape: Shape) -> Documents:
    """Count ``words`` in the posts of each user, or of each user and week."""
    check_choice("shape", shape, SHAPES)
    if not posts.num_rows:
        raise CorpusError("the loop needs posts, got none.")
    encoded = pc.dictionary_encode(posts["user"].combine_chunks())
    users = encoded.dictionary
    writers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    weeks = WEEK.numbers(posts["time"].combine_chunks()).astype(np.int64)
    if shape == "user":
        weeks = np.zeros_like(weeks)
    keys, row = np.unique(np.stack([writers, weeks], axis=1), axis=0, return_inverse=True)
    counted = _counted(posts["text"], words)
    counts = checked_counts(sparse.csr_array(_gathering(row.ravel(), len(keys)) @ counted))
    return Documents(users, keys[:, 0], keys[:, 1].astype(np.int32), counts, tuple(words))


def _counted(texts: pa.ChunkedArray, words: Sequence[str]) -> sparse.csr_array:
    vocabulary = Vocabulary.public(words, origin="a public list")
    return sparse.csr_array(sparse.vstack(list(count_batches(texts.chunks, vocabulary))))


def _gathering(places: NDArray[np.int64], size: int) -> sparse.csr_array:
    """The matrix that adds row i to row ``places[i]``."""
    ones = np.ones(len(places), np.int64)
    columns = np.arange(len(places))
    return sparse.csr_array((ones, (places, columns)), shape=(size, len(places)))
