"""Which posts are later than all that a state has counted: those before them may count twice."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

_ONE_SECOND = 1_000_000


class PostTimes:
    """The newest post counted, in microseconds since 1970, and how many come that are no later."""

    def __init__(self, before: int | None = None) -> None:
        """``before``: the newest post that the state had counted; None: it does not know."""
        self.before = before
        self.newest = before
        self.read = 0
        self.not_newer = 0

    def noting(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches; their times are noted on the way."""
        for batch in batches:
            self.read += batch.num_rows
            times = _microseconds(batch)
            self.also(pc.max(times).as_py())
            if self.before is not None:
                self.not_newer += pc.sum(pc.less_equal(times, self.before), min_count=0).as_py()
            yield batch

    def later(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Only the posts that are later than the newest counted before; the others are counted."""
        for batch in batches:
            if self.before is None:
                yield batch
                continue
            newer = pc.greater(_microseconds(batch), self.before)
            kept = batch.filter(newer)
            self.not_newer += batch.num_rows - kept.num_rows
            yield kept

    def also(self, newest: int | None) -> None:
        """Count a post of that time, or posts up to it."""
        if newest is not None:
            self.newest = newest if self.newest is None else max(self.newest, newest)

    def warning(self, held: int) -> str:
        """What to say of posts that may be in the state already, which held so many; else empty."""
        if self.not_newer:
            return (
                f"WARNING: {self.not_newer:,} OF {self.read:,} POSTS ARE NO LATER THAN THE NEWEST "
                f"THAT THE STATE HAD COUNTED ({self._shown()}). {_TWICE}"
            )
        if self.before is None and held and self.read >= held:
            return (
                f"WARNING: THE FILE HAS {self.read:,} POSTS AND THE STATE HAD {held:,}: does the "
                f"file repeat them? {_TWICE}"
            )
        return ""

    def _shown(self) -> str:
        seconds = (self.before or 0) // _ONE_SECOND
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


_TWICE = (
    "Posts that it had counted before now count twice, and this is not undone: go back to a copy "
    "of the state, or begin it again. sottovoce assess --only-newer adds the later posts of an "
    "export that repeats old ones."
)


def _microseconds(batch: pa.RecordBatch) -> pa.Array:
    return batch["time"].cast(pa.int64())
