"""What posts say, a piece of a batch at a time: a pure function of the piece, on any thread.

Reading, scoring and folding overlap: one thread reads ahead, each piece is counted, scored and
grouped by user and bucket on one of several, and the results come in order to whoever folds them.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.assess.setting import Bucket, fingerprint_of
from sottovoce.assess.state.buckets import UserBuckets
from sottovoce.compiled import ahead, in_turn
from sottovoce.corpus.clean import CleaningCounts, clean_posts
from sottovoce.corpus.counts import CountWorker, VocabularyCounter
from sottovoce.topics.space import PostScorer

WAITING = 2
"""How many pieces a thread may have scored that are not folded in yet."""


class ScoredPiece(NamedTuple):
    """What some posts say, whoever their users are in a state."""

    names: pa.Array
    """The different users."""
    users: NDArray[np.int64]
    """The place of each post's user in ``names``."""
    times: pa.Array
    buckets: NDArray[np.int32]
    groups: UserBuckets
    """The posts by user and bucket."""
    strongest: dict[str, NDArray[np.float64]]
    """Groups x topics in each space."""
    strengths: dict[str, NDArray[np.float64]]
    """Posts x topics in each space, where single posts are kept."""
    words: sparse.csr_array | None
    """Posts x salient words."""
    cleaned: CleaningCounts | None
    last: bool
    """Whether a batch ends with it."""


class PieceScorer:
    """Scores pieces by every space, each on the thread that asks."""

    def __init__(
        self,
        scorers: Mapping[str, PostScorer],
        words: PostScorer | None,
        bucket: Bucket,
        *,
        clean: bool,
        keep_posts: bool,
    ) -> None:
        self._scorers, self._words, self._bucket = scorers, words, bucket
        self._clean, self._keep_posts = clean, keep_posts
        everyone = [*scorers.values(), *([] if words is None else [words])]
        # Scorers that count alike share the counts.
        self._counters = {
            counted_by(each): VocabularyCounter.of(each.vocabulary, each.rules) for each in everyone
        }
        self._free: SimpleQueue[dict[str, CountWorker]] = SimpleQueue()

    def score_pieces(
        self, pieces: Iterable[tuple[pa.RecordBatch, bool]], threads: int
    ) -> Iterator[ScoredPiece]:
        """The pieces scored, in order; with each comes whether a batch ends with it."""
        for _ in range(threads):
            workers = {key: counter.worker() for key, counter in self._counters.items()}
            self._free.put(workers)
        read = pieces if threads == 1 else ahead(pieces)
        tasks = (partial(self._score_when_free, piece, last) for piece, last in read)
        return in_turn(tasks, threads, waiting=WAITING)

    def _score_when_free(self, posts: pa.RecordBatch, last: bool) -> ScoredPiece:
        workers = self._free.get()
        try:
            return self._score(workers, posts, last)
        finally:
            self._free.put(workers)

    def _score(
        self, workers: Mapping[str, CountWorker], posts: pa.RecordBatch, last: bool
    ) -> ScoredPiece:
        cleaned = CleaningCounts() if self._clean else None
        if cleaned is not None:
            posts = clean_posts(posts, cleaned)
        counts = {
            key: counter.counted(workers[key], posts["text"])
            for key, counter in self._counters.items()
        }
        users, names = _number_names(posts["user"])
        buckets = self._bucket.numbers(posts["time"])
        groups = UserBuckets.group_posts(users, buckets)
        strengths, strongest = {}, {}
        for name, scorer in self._scorers.items():
            found = scorer.strengths(counts[counted_by(scorer)], threads=1)
            strongest[name] = groups.strongest(found)
            if self._keep_posts:
                strengths[name] = found
        return ScoredPiece(
            names=names,
            users=users,
            times=posts["time"],
            buckets=buckets,
            groups=groups,
            strongest=strongest,
            strengths=strengths,
            words=None if self._words is None else counts[counted_by(self._words)],
            cleaned=cleaned,
            last=last,
        )


def pieces_by_user(batch: pa.RecordBatch, bucket: Bucket, rows: int) -> Iterator[pa.RecordBatch]:
    """A batch in pieces of at most ``rows`` posts; what a user wrote in a bucket stays together.

    Each group is then folded in once for the batch, and not once for each piece. Users
    come in the order in which the batch first names them, as they would in one piece.
    """
    if batch.num_rows <= rows:
        yield batch
        return
    users, _ = _number_names(batch["user"])
    groups = UserBuckets.group_posts(users, bucket.numbers(batch["time"]))
    ordered = batch.take(pa.array(groups.order))
    even = -(-batch.num_rows // -(-batch.num_rows // rows))
    begin = 0
    while begin < batch.num_rows:
        end = _end_of_piece(groups.begins, begin, even, rows)
        yield ordered.slice(begin, end - begin)
        begin = end


def _end_of_piece(begins: NDArray[np.int64], begin: int, even: int, most: int) -> int:
    """Where a group ends, after ``even`` posts or as soon as can be, and never after ``most``."""
    after, within = np.searchsorted(begins, (begin + even, begin + most + 1))
    end = int(begins[min(after, begins.size - 1)])
    if end > begin + most:
        end = int(begins[within - 1])
    # Of a group that is larger than that, as much as there is room for.
    return end if end > begin else begin + most


def _number_names(names: pa.Array) -> tuple[NDArray[np.int64], pa.Array]:
    """Numbers for the different names, in the order of their first appearance, and the names."""
    encoded = pc.dictionary_encode(names)
    numbers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers, encoded.dictionary


def counted_by(scorer: PostScorer) -> str:
    """What decides how a scorer's words are counted."""
    rules = scorer.rules
    return fingerprint_of(
        scorer.vocabulary.fingerprint,
        rules.shortest,
        sorted(rules.stop_words),
        rules.stem,
        rules.bigrams,
    )
