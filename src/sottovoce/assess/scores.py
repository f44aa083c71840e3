"""From posts to state, a pure function of each batch folded into what is there; then to ranks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.assess._pieces import (
    WAITING,
    PieceScorer,
    ScoredPiece,
    counted_by,
    pieces_by_user,
)
from sottovoce.assess.measures.catalogue import chosen_measures
from sottovoce.assess.measures.measure import Measure
from sottovoce.assess.ranking import Ranking, rank
from sottovoce.assess.setting import M_KEPT, Bucket, Setting, StateHeader, microseconds
from sottovoce.assess.state.state import PostValues, State
from sottovoce.assess.state.words import WordUse
from sottovoce.compiled import available_cores
from sottovoce.corpus.clean import VERSION as CLEANING
from sottovoce.corpus.clean import CleaningCounts, clean_texts
from sottovoce.corpus.counts import count_batches
from sottovoce.corpus.read.corpus import open_posts
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.space import (
    BagOfWords,
    Mode,
    PostScorer,
    Space,
    named_spaces,
    spaces_of_models,
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
        self._words = words
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
        scorer = PieceScorer(
            self.scorers,
            self._words,
            self.header.bucket,
            clean=self.cleaned is not None,
            keep_posts=state.log is not None,
        )
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
        if self._words is None:
            raise ParameterError("these measures do not look at which words were used.")
        return self._words

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


def needed_spaces(measures: Mapping[str, Measure]) -> set[str]:
    """The names of the vector spaces that ``measures`` need."""
    return {measure.space for measure in measures.values() if measure.space is not None}


def needs_words(measures: Mapping[str, Measure]) -> bool:
    """Whether any of ``measures`` needs to know who has used which word."""
    return any(measure.space is None for measure in measures.values())


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


def score(
    posts: Any,  # noqa: ANN401 - a path or a data frame of any library, as open_posts takes it
    space: Space | Sequence[Space],
    catalogue: Catalogue,
    *,
    measures: Sequence[str] = ("all",),
    topics: Sequence[str] | None = None,
    k: float = 0.3,
    m: int = 3,
    bucket: str = "1w",
    mode: Mode = "corrected",
    threads: int | None = None,
) -> Ranking:
    """Rank the users of a community by how exposed they are on its sensitive topics.

    ``posts`` are a path or a data frame with user, time and text; ``space`` is the adversary's
    background knowledge, one model or several (the bag of words is always there); ``topics``
    names those to rank by, the sensitive ones by default. `assess_posts` takes paths and column
    names too, and its ranking explains.

    >>> from sottovoce.topics import BagOfWords, Catalogue, Topic
    >>> rows = [("ada", "2024-01-01", "a loan"), ("ben", "2024-01-02", "the sea")]
    >>> score(rows, BagOfWords(), Catalogue((Topic("debt", ("loan",), "money", True),))).users
    2
    """
    setting = Setting(k, m, mode)
    spaces = space if isinstance(space, Sequence) else (space,)
    chosen, scoring = plan_scoring(
        catalogue, spaces, measures, bucket=Bucket.parse(bucket), kept=max(m, M_KEPT), mode=mode
    )
    state = scoring.state_of(open_posts(posts), threads=threads)
    return rank(state, chosen, topics=topics, setting=setting, threads=threads)


def plan_scoring(
    catalogue: Catalogue,
    spaces: Sequence[Space],
    measures: Sequence[str],
    *,
    bucket: Bucket = Bucket(1, "w"),  # noqa: B008 - frozen
    kept: int = M_KEPT,
    mode: Mode = "corrected",
    posts: bool = False,
    clean: bool = False,
) -> tuple[dict[str, Measure], Scoring]:
    """The measures called ``measures``, and how to score posts for them and no more."""
    bow = BagOfWords()
    given: dict[str, Space] = {bow.name: bow, **spaces_of_models(spaces)}
    chosen = chosen_measures(measures, tuple(given))
    needed = needed_spaces(chosen)
    return chosen, Scoring(
        catalogue,
        [each for name, each in given.items() if name in needed],
        words=bow.scorer(catalogue) if needs_words(chosen) else None,
        bucket=bucket,
        kept=kept,
        mode=mode,
        posts=posts,
        clean=clean,
        word_buckets=any(measure.word_buckets for measure in chosen.values()),
    )
