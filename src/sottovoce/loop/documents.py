"""What the loop releases, a row a user or a user and week, and the privacy settings it tries."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.assess.setting import Bucket
from sottovoce.corpus.counts import count_batches
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import CorpusError
from sottovoce.parsing import check_choice
from sottovoce.privacy.exact import Exact
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.release.compression.maps import NoCompression
from sottovoce.release.counts import Counts, checked_counts
from sottovoce.release.plan import Released, ReleasePlan, ReleaseSettings, chosen_compression

Shape: TypeAlias = Literal["user", "week"]
SHAPES: tuple[Shape, ...] = ("user", "week")


WEEK = Bucket(1, "w")


@dataclass(frozen=True, eq=False)
class UserDocuments:
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
        """A row a user: the sum of ``cells`` over their documents."""
        return sparse.csr_array(gather_rows(self.owners, len(self.users)) @ cells)


def count_documents(posts: pa.Table, words: Sequence[str], shape: Shape) -> UserDocuments:
    """Count ``words`` in the posts of each user, or of each user and week."""
    check_choice("shape", shape, SHAPES)
    if not posts.num_rows:
        raise CorpusError("the loop needs posts, got none.")
    users, keys, row = _documents_of_posts(posts, shape)
    counted = _count_words(posts["text"], words)
    counts = checked_counts(sparse.csr_array(gather_rows(row, len(keys)) @ counted))
    return UserDocuments(users, keys[:, 0], keys[:, 1].astype(np.int32), counts, tuple(words))


def join_texts(posts: pa.Table, shape: Shape) -> tuple[str, ...]:
    """What stands in each of the documents of `documents_of`, in their order."""
    _, keys, row = _documents_of_posts(posts, shape)
    parts: list[list[str]] = [[] for _ in keys]
    for place, text in zip(row.tolist(), posts["text"].to_pylist(), strict=True):
        parts[place].append(text)
    return tuple(map("\n".join, parts))


def _documents_of_posts(
    posts: pa.Table, shape: Shape
) -> tuple[pa.Array, NDArray[np.int64], NDArray[np.int64]]:
    """All users; the user and week of each document; the document of each post."""
    encoded = pc.dictionary_encode(posts["user"].combine_chunks())
    writers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    weeks = WEEK.numbers(posts["time"].combine_chunks()).astype(np.int64)
    if shape == "user":
        weeks = np.zeros_like(weeks)
    keys, row = np.unique(np.stack([writers, weeks], axis=1), axis=0, return_inverse=True)
    return encoded.dictionary, keys, row.ravel()


def _count_words(texts: pa.ChunkedArray, words: Sequence[str]) -> sparse.csr_array:
    vocabulary = Vocabulary.public(words, origin="a public list")
    return sparse.csr_array(sparse.vstack(list(count_batches(texts.chunks, vocabulary))))


def gather_rows(places: NDArray[np.int64], size: int) -> sparse.csr_array:
    """The matrix that adds row i to row ``places[i]``."""
    ones = np.ones(len(places), np.int64)
    columns = np.arange(len(places))
    return sparse.csr_array((ones, (places, columns)), shape=(size, len(places)))


@dataclass(frozen=True)
class PrivacySetting:
    """One way to release: None for epsilon is the same shape without noise."""

    compression: str = "none"
    columns: int | None = None
    precision: int = 2
    epsilon: Exact | None = None

    @property
    def rate(self) -> Fraction | None:
        """Nats per word; None: no noise."""
        if self.epsilon is None:
            return None
        return LimitedPrecision(self.precision, self.epsilon).rate

    @property
    def method(self) -> str:
        """The compression, in words."""
        return (
            "every word" if self.columns is None else f"{self.columns} columns, {self.compression}"
        )

    @property
    def noise_rate(self) -> float | None:
        """Of the noise on a column: the stated one, the prior being public."""
        return None if self.rate is None else float(self.rate)

    @property
    def guarantee(self) -> LimitedPrecision | None:
        """What it promises a document; None: nothing."""
        return None if self.epsilon is None else LimitedPrecision(self.precision, self.epsilon)

    def draw_release(
        self, documents: UserDocuments, frequencies: Floats | None, seed: int
    ) -> Released:
        """The release; without epsilon the same columns without noise, for comparison only."""
        guarantee = self.guarantee
        if guarantee is None:
            return self._bare(documents.counts, frequencies, seed)
        settings = ReleaseSettings(
            guarantee,
            compression=self.compression,
            columns=self.columns,
            frequencies=None if self.columns is None else frequencies,
            seed=seed,
        )
        return ReleasePlan(settings, documents.words).draw(documents.counts)

    def _bare(self, counts: Counts, frequencies: Floats | None, seed: int) -> Released:
        known = np.ones(counts.shape[1]) if frequencies is None else frequencies
        if self.columns is None:
            return Released(counts, (NoCompression().fit(counts).map_,), known)
        fitted = chosen_compression(self.compression, self.columns, known, seed).fit(counts)
        return Released(fitted.transform(counts), (fitted.map_,), known)


def grid(
    methods: Sequence[tuple[str, int | None]], precisions: Sequence[int], epsilons: Sequence[str]
) -> tuple[PrivacySetting, ...]:
    """Every method without noise, then at every precision and epsilon, the weakest first."""
    bare = [PrivacySetting(name, columns) for name, columns in methods]
    private = [
        PrivacySetting(name, columns, precision, epsilon)
        for (name, columns), precision, epsilon in product(methods, precisions, epsilons)
    ]
    private.sort(key=lambda setting: -(setting.rate or 0))
    return (*bare, *private)
