"""The posts of one user, picked out of a stream while it passes."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sottovoce.corpus.schema import POSTS
from sottovoce.errors import ParameterError


class HerPosts:
    """Posts of ``user`` with their numbers: the place among the readable posts, from 1."""

    def __init__(self, user: str) -> None:
        self._user = user
        self._seen = 0
        self._numbers: list[NDArray[np.int64]] = []
        self._batches: list[pa.RecordBatch] = []

    def passing(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches; hers are noted on the way."""
        for batch in batches:
            hers = pc.equal(batch["user"], self._user)
            self._batches.append(batch.filter(hers))
            mask = hers.to_numpy(zero_copy_only=False)
            self._numbers.append(self._seen + 1 + np.flatnonzero(mask))
            self._seen += batch.num_rows
            yield batch

    def __repr__(self) -> str:
        return f"HerPosts(posts={self.numbers.size})"

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The number of each of her posts."""
        return np.concatenate([np.zeros(0, np.int64), *self._numbers])

    @property
    def table(self) -> pa.Table:
        """Her posts: user, time, text."""
        return pa.Table.from_batches(self._batches, POSTS).combine_chunks()

    def texts(self) -> dict[int, str]:
        """The text of each of her posts by its number."""
        return dict(zip(self.numbers.tolist(), self.table["text"].to_pylist(), strict=True))

    def without(self, removed: Iterable[int]) -> pa.Table:
        """Her posts but for those numbered ``removed``, all of which must be hers."""
        gone = np.isin(self.numbers, np.array(sorted(set(removed)), np.int64))
        if gone.sum() < len(set(removed)):
            strangers = len(set(removed)) - int(gone.sum())
            raise ParameterError(
                f"posts to leave out (--without) must be the user's, got {strangers} that are not "
                "hers."
            )
        return self.table.filter(pa.array(~gone))
