"""From posts to state: a pure function of each piece of a batch, folded into what is there.

Reading, scoring and folding overlap: one thread reads ahead, each piece is counted, scored and
grouped by user and bucket on one of several, and the results come in order to whoever folds them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.assess.setting import M_KEPT, Bucket, StateHeader, fingerprint_of, microseconds
from sottovoce.assess.state.buckets import UserBuckets
from sottovoce.assess.state.state import PostValues, State
from sottovoce.assess.state.words import WordUse
from sottovoce.compiled import available_cores, in_turn, read_ahead
from sottovoce.corpus.clean import VERSION as CLEANING
from sottovoce.corpus.clean import CleaningCounts, clean_posts, clean_texts
from sottovoce.corpus.counts import CountWorker, VocabularyCounter, count_batches
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.space import Mode, PostScorer, Space, named_spaces

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

    def __init__(self, scoring: "Scoring", *, keep_posts: bool) -> None:
        self._scoring, self._keep_posts = scoring, keep_posts
        words = scoring.word_scorer
        everyone = [*scoring.scorers.values(), *([] if words is None else [words])]
        # Scorers that count alike share the counts.
        self._counters = {
            counted_by(each): VocabularyCounter.share(each.vocabulary, each.rules)
            for each in everyone
        }
        self._free: SimpleQueue[dict[str, CountWorker]] = SimpleQueue()

    def score_pieces(
        self, pieces: Iterable[tuple[pa.RecordBatch, bool]], threads: int
    ) -> Iterator[ScoredPiece]:
        """The pieces scored, in order; with each comes whether a batch ends with it."""
        for _ in range(threads):
            workers = {key: counter.worker() for key, counter in self._counters.items()}
            self._free.put(workers)
        read = pieces if threads == 1 else read_ahead(pieces)
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
        scoring = self._scoring
        cleaned = None if scoring.cleaned is None else CleaningCounts()
        if cleaned is not None:
            posts = clean_posts(posts, cleaned)
        counts = {
            key: counter.count_texts(workers[key], posts["text"])
            for key, counter in self._counters.items()
        }
        users, names = _number_names(posts["user"])
        buckets = scoring.header.bucket.numbers(posts["time"])
        groups = UserBuckets.group_posts(users, buckets)
        strengths, strongest = {}, {}
        for name, scorer in scoring.scorers.items():
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
            words=None if (own := scoring.word_scorer) is None else counts[counted_by(own)],
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


# The strengths of a piece, 16 MiB, so that they are near when they are grouped, and of all pieces
# that are under way on many threads, 512 MiB.
_STRENGTHS_AT_ONCE = 1 << 21
_STRENGTHS_IN_ALL = 1 << 26
# A first piece of fewer posts is mostly all there is.
_POSTS_FOR_THREADS = 1 << 10
Piece = tuple[pa.RecordBatch, bool]


class Scoring:
    """How the posts of a community are turned into state: spaces, catalogue, buckets.

    >>> from sottovoce.corpus import open_posts
    >>> from sottovoce.topics import BagOfWords, Catalogue, Topic
    >>> scoring = Scoring(Catalogue((Topic("debt", ("loan",), "money"),)), [BagOfWords()])
    >>> scoring.state_of(open_posts([("ada", "2024-01-01", "a loan")]))
    State(users=1, posts=1, topics=1)
    """

    def __init__(
        self,
        catalogue: Catalogue,
        spaces: Sequence[Space],
        *,
        words: PostScorer | None = None,
        bucket: Bucket = Bucket(1, "w"),  # noqa: B008 - frozen
        kept: int = M_KEPT,
        mode: Mode = "corrected",
        posts: bool = False,
        clean: bool = False,
        word_buckets: bool = False,
    ) -> None:
        """With ``clean`` posts are scored without what is not their author's (``corpus.clean``)."""
        named_spaces(spaces)
        self.cleaned: CleaningCounts | None = CleaningCounts() if clean else None
        self.scorers = {space.name: space.scorer(catalogue, mode=mode) for space in spaces}
        self.word_scorer = words
        self.header = StateHeader(
            catalogue=catalogue,
            spaces={space.name: space.fingerprint for space in spaces},
            salient=None if words is None else _salient(catalogue, words),
            words=0 if words is None else len(words.vocabulary),
            counted="" if words is None else counted_by(words),
            bucket=bucket,
            kept=kept,
            mode=mode,
            posts=posts,
            clean=CLEANING if clean else "",
            word_buckets=word_buckets and words is not None,
        )

    def fold(
        self, state: State, batches: Iterable[pa.RecordBatch], *, threads: int | None = None
    ) -> None:
        """Fold posts (user, time, text) into ``state``."""
        for _ in self.folding(state, batches, threads=threads):
            pass

    def folding(
        self, state: State, batches: Iterable[pa.RecordBatch], *, threads: int | None = None
    ) -> Iterator[int]:
        """Fold posts into ``state``; after each batch, the number of its posts.

        On several threads the next pieces are read and scored while one is folded in.
        """
        self.header.check_same(state.header)
        threads = available_cores() if threads is None else _check_threads(threads)
        pieces, threads = _worth_threads(self._pieces(batches, threads), threads)
        scorer = PieceScorer(self, keep_posts=state.log is not None)
        posts = 0
        for piece in scorer.score_pieces(pieces, threads):
            if self.cleaned is not None and piece.cleaned is not None:
                self.cleaned.add(piece.cleaned)
            _fold_piece(state, piece, threads)
            posts += piece.users.size
            if piece.last:
                yield posts
                posts = 0

    def _pieces(self, batches: Iterable[pa.RecordBatch], threads: int) -> Iterator[Piece]:
        """Batches cut so that no piece has too many strengths, and whether a batch ends with it."""
        numbers = len(self.header.catalogue) * max(1, len(self.scorers))
        most = min(_STRENGTHS_AT_ONCE, _STRENGTHS_IN_ALL // (threads * (1 + WAITING)))
        for batch in batches:
            _check_posts(batch)
            ends = [0]
            for piece in pieces_by_user(batch, self.header.bucket, max(1, most // numbers)):
                ends.append(ends[-1] + piece.num_rows)
                yield piece, ends[-1] == batch.num_rows

    def state_of(self, batches: Iterable[pa.RecordBatch], *, threads: int | None = None) -> State:
        """The state of these posts alone."""
        state = State(self.header)
        self.fold(state, batches, threads=threads)
        return state

    @property
    def words(self) -> PostScorer:
        """How salient words are counted."""
        if self.word_scorer is None:
            raise ParameterError("these measures do not look at which words were used.")
        return self.word_scorer

    def counts(self, scorer: PostScorer, texts: pa.Array) -> sparse.csr_array:
        """The counts of some texts as ``scorer`` wants them."""
        return next(count_batches([self.own_words(texts)], scorer.vocabulary, scorer.rules))

    def own_words(self, texts: pa.Array) -> pa.Array:
        """The texts as they are scored: cleaned, where posts are."""
        return texts if self.cleaned is None else clean_texts(texts)


def _check_threads(threads: int) -> int:
    if threads < 1:
        raise ParameterError(f"threads must be >= 1, got {threads}.")
    return threads


def _worth_threads(pieces: Iterator[Piece], threads: int) -> tuple[Iterator[Piece], int]:
    """The pieces, and how many threads they are worth: one for a few posts, as of a draft."""
    first = list(islice(pieces, 1))
    few = all(piece.num_rows < _POSTS_FOR_THREADS for piece, _ in first)
    return chain(first, pieces), 1 if few else threads


def _fold_piece(state: State, piece: ScoredPiece, threads: int) -> None:
    of_name = state.rows(piece.names)
    rows = of_name[piece.users]
    state.count_posts(of_name, np.bincount(piece.users, minlength=of_name.size))
    if piece.words is not None:
        state.word_use().add_posts(rows, piece.words)
        if state.word_buckets is not None:
            state.word_buckets.add_posts(rows, piece.buckets, piece.words)
    users = of_name[piece.groups.users]
    for name, space in state.spaces.items():
        # Half of the threads: the others score what comes next meanwhile.
        space.add_groups(users, piece.groups, piece.strongest[name], max(1, threads // 2))
    if state.log is not None:
        state.log.append(_post_values(piece, rows))


def _post_values(piece: ScoredPiece, rows: NDArray[np.int64]) -> PostValues:
    """The piece as a log of posts keeps it: a bit for each salient word of each post."""
    bits = np.zeros((rows.size, 0), np.uint8)
    if piece.words is not None:
        bits = WordUse.of_incidence(piece.words).bits
    return PostValues(rows, microseconds(piece.times), bits, piece.strengths)


def _salient(catalogue: Catalogue, words: PostScorer) -> dict[str, tuple[int, ...]]:
    """The columns of each topic's words, in the form in which they are counted."""
    form, column = words.rules.former(), words.vocabulary.column
    found = {}
    for topic in catalogue:
        formed = (" ".join(form(word) or "" for word in term.split(" ")) for term in topic.words)
        found[topic.name] = tuple(dict.fromkeys(column[term] for term in formed if term in column))
        if not found[topic.name]:
            raise InputError(
                f"no salient word of the topic {topic.name!r} can occur in a text under the "
                "rules by which words are counted; mend its words in the catalogue."
            )
    return found


def _check_posts(batch: pa.RecordBatch) -> None:
    """Refuse a batch that was not read by ``open_posts`` and lacks what that assures."""
    for name in ("user", "time", "text"):
        if name not in batch.schema.names:
            raise InputError(f"posts must have the columns user, time and text, got no {name}.")
        if missing := batch[name].null_count:
            raise InputError(f"every post must have a {name}, got {missing} without one.")
    for name in ("user", "text"):
        kind = batch.schema.field(name).type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            raise InputError(f"the {name} of a post must be a string, got {kind}.")
