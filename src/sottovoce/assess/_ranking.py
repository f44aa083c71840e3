"""Ranks: the position at which a rational adversary finds each user."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sottovoce._compiled import available_cores, in_turn
from sottovoce._files import whole_file
from sottovoce._notebook import html_table, text_table
from sottovoce.assess._orders import UserOrder, ordered_users, positions_with_ties, rearranged
from sottovoce.assess._setting import Setting
from sottovoce.assess.measures._catalogue import Measure
from sottovoce.assess.measures._risks import check_community
from sottovoce.assess.state._state import State
from sottovoce.corpus._frames import FrameLibrary, as_frame
from sottovoce.errors import ParameterError, check_choice

if TYPE_CHECKING:
    from sottovoce.assess._alerts import Alerts
    from sottovoce.assess._explain.explanation import Explanation


BANDS = (1, 5, 10)
"""Top 1%, 5% and 10%."""
REST = "rest"
# Below so many scores threads cost more than they gain.
_SCORES_FOR_THREADS = 1 << 17
_NAMES = pa.array([*(f"top {percent}%" for percent in BANDS), REST], pa.string())
_NAME = pa.dictionary(pa.int32(), pa.string())
EVIDENCE = "with evidence"
RANKS = pa.schema(
    [
        pa.field("measure", _NAME, nullable=False),
        pa.field("user", pa.string(), nullable=False),
        pa.field("topic", _NAME, nullable=False),
        pa.field("score", pa.float64(), nullable=False),
        pa.field("rank", pa.int64(), nullable=False),
        pa.field("band", _NAME, nullable=False),
    ]
)


def susceptibility(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The position of each user when all are ordered by decreasing score.

    R-Susceptibility, section 2.4. Equal scores share the better position: 1, 2, 2, 4.
    """
    return positions_with_ties(scores)[0]


def users_at_least_as_exposed(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """For each user the number of users whose score is at least theirs, themselves included."""
    return positions_with_ties(scores)[1]


def band_numbers(scores: NDArray[np.float64], *, evident: int = 1) -> NDArray[np.int32]:
    """The place in ``BANDS`` of the narrowest band that holds each user; beyond the last: none.

    A user is in the top p% when at most p% of all users score as high as they do or higher. So a
    tie that reaches beyond the band is not in it: where all score alike nobody stands out, and
    of 50 users none is in the top 1%. Where nobody has evidence (``evident`` is how many do), what
    parts the scores is not the topic, and nobody is in a band.
    """
    return _bands(users_at_least_as_exposed(scores), evident)


def _bands(at_least: NDArray[np.int64], evident: int) -> NDArray[np.int32]:
    if not evident:
        return np.full(at_least.size, len(BANDS), np.int32)
    # In whole numbers, so that 5% of 20 users are one.
    return np.searchsorted(np.array(BANDS) * at_least.size, at_least * 100, side="left").astype(
        np.int32
    )


class RankedTopicUsers(NamedTuple):
    """The users by one measure for one topic."""

    rows: pa.RecordBatch
    """As ``RANKS``, the most exposed first."""
    evident: int
    """How many of them have written anything that speaks for the topic."""
    summary: dict[str, object]
    """How many are in each band and have evidence, and how far the first stand apart."""


class RankedFrom(Protocol):
    """What a ranking was made from, and can be asked about further."""

    def explain(
        self, user: str, topic: str, measure: str, *, without: Sequence[int], most: int
    ) -> "Explanation":
        """Why ``user`` stands where they stand."""
        ...

    def alerts(
        self, *, bands: Sequence[int], hysteresis: float, out: str | PathLike[str] | None
    ) -> "Alerts":
        """Who entered or left a band since the last check."""
        ...


@dataclass(frozen=True, repr=False)
class Ranking:
    """Who stands out, by measure and topic: private, like the posts it was made from.

    Printed it shows counts only; ``table``, ``of`` and ``to_frame`` name users.

    >>> import sottovoce as sv
    >>> community = sv.simulate(users=60, weeks=2, background_documents=1)
    >>> ranking = sv.assess_posts(community.posts, topics=community.topics, measures="bow-t")
    >>> ranking
    Ranking(users=60, measures=1, topics=5)
    >>> ranking.of("bow-t", "pregnancy").column_names
    ['user', 'score', 'rank', 'band']
    """

    table: pa.Table
    """measure, user, topic, score, rank, band."""
    summary: tuple[dict[str, object], ...]
    """How many users are in each band and have evidence, by measure and topic."""
    source: RankedFrom | None = field(default=None, compare=False)
    """What it was made from, where that is known."""

    @property
    def users(self) -> int:
        """How many users were ranked."""
        return int(self.table.num_rows // len(self.summary))

    def of(self, measure: str, topic: str) -> pa.Table:
        """The ranking by one measure for one topic: user, score, rank, band; the first first."""
        for name, wanted in (("measure", measure), ("topic", topic)):
            check_choice(name, wanted, list(dict.fromkeys(str(row[name]) for row in self.summary)))
        chosen = pc.and_(
            pc.equal(self.table["measure"], measure), pc.equal(self.table["topic"], topic)
        )
        return self.table.filter(chosen).drop_columns(["measure", "topic"])

    def explain(
        self,
        user: str,
        topic: str,
        *,
        measure: str | None = None,
        without: Sequence[int] = (),
        most: int = 10,
    ) -> "Explanation":
        """Why ``user`` stands where they stand: their posts and words by what these add.

        As ``sottovoce explain``. ``measure`` may be left out where there is only one; ``without``
        are numbers of the user's posts, among all posts from 1: their rank without these.
        """
        if self.source is None:
            raise ParameterError(
                "this ranking does not know its posts, so it cannot explain; rank them with "
                "assess_posts."
            )
        return self.source.explain(
            str(user), topic, self._measure(measure), without=without, most=most
        )

    def alerts(
        self,
        *,
        top: Sequence[int] = BANDS,
        hysteresis: float = 0.2,
        out: str | PathLike[str] | None = None,
    ) -> "Alerts":
        """Who entered or left a band since the last check, by the measures of this ranking.

        As ``sottovoce alerts``, which shares what it keeps beside the state: it needs a ranking
        that was made with a ``state``. ``top`` are the bands to watch, in percent.
        """
        if self.source is None:
            raise ParameterError(
                "alerts need a state, which keeps who was in which band; give assess_posts a state."
            )
        return self.source.alerts(bands=top, hysteresis=hysteresis, out=out)

    def to_frame(self, library: FrameLibrary = "arrow") -> Any:  # noqa: ANN401 - a frame of any library
        """All ranks as a table of ``arrow``, or a frame of ``pandas`` or ``polars``."""
        return as_frame(self.table, library)

    def save(self, path: str | PathLike[str]) -> None:
        """Write ``ranks.parquet``, readable by its owner only."""
        with whole_file(Path(path), private=True) as temporary:
            pq.write_table(self.table, temporary, compression="zstd")

    def _measure(self, named: str | None) -> str:
        ranked = list(dict.fromkeys(str(row["measure"]) for row in self.summary))
        if named is None and len(ranked) > 1:
            raise ParameterError(
                f"measure must be one of {', '.join(ranked)}, by all of which users were ranked."
            )
        if named is not None and named not in ranked:
            raise ParameterError(f"measure must be one of {', '.join(ranked)}, got {named!r}.")
        return ranked[0] if named is None else named

    def __repr__(self) -> str:
        measures, topics = ({row[name] for row in self.summary} for name in ("measure", "topic"))
        return f"Ranking(users={self.users}, measures={len(measures)}, topics={len(topics)})"

    def __str__(self) -> str:
        return "\n".join([f"{self!r}", text_table(self.summary), *without_evidence(self.summary)])

    def _repr_html_(self) -> str:
        """Counts only: a notebook is easily shared."""
        return html_table(self.summary)


def rank(
    state: State,
    measures: Mapping[str, Measure],
    *,
    topics: Sequence[str] | None = None,
    setting: Setting = Setting(),  # noqa: B008 - frozen
    threads: int | None = None,
) -> Ranking:
    """Rank all users by each measure for each topic, by default the sensitive ones.

    >>> from sottovoce.assess import Scoring, known_measures
    >>> from sottovoce.topics import BagOfWords, Catalogue, Topic
    >>> scoring = Scoring(Catalogue((Topic("debt", ("loan",), "money", True),)), [BagOfWords()])
    >>> import pyarrow as pa
    >>> from sottovoce.corpus import open_posts
    >>> rows = [("ada", "2024-01-01", "a loan"), ("ben", "2024-01-01", "the sea")]
    >>> state = scoring.state_of(open_posts(rows))
    >>> rank(state, {"bow": known_measures()["bow"]}).users
    2
    """
    ranks = rank_batches(state, measures, topics=topics, setting=setting, threads=threads)
    return ranking_of(ranks)


def ranking_of(ranks: Iterable[RankedTopicUsers], source: RankedFrom | None = None) -> Ranking:
    """The ranking that consists of these batches, one for each measure and topic."""
    ranked = list(ranks)
    batches = [each.rows for each in ranked]
    table = pa.Table.from_batches(batches, RANKS)
    for name in ("measure", "topic"):
        table = table.set_column(
            RANKS.get_field_index(name), RANKS.field(name), _named(batches, name)
        )
    return Ranking(table, tuple(each.summary for each in ranked), source)


def _named(batches: Sequence[pa.RecordBatch], column: str) -> pa.ChunkedArray:
    """A column that has one name in each batch, with one dictionary for all of them.

    Batches of a name share the numbers that stand for it: a large ranking has thousands.
    """
    found = [(batch[column][0].as_py(), batch.num_rows) for batch in batches]
    names = list(dict.fromkeys(name for name, _ in found))
    dictionary, place = pa.array(names), {name: number for number, name in enumerate(names)}
    chunks = {
        each: pa.DictionaryArray.from_arrays(
            pa.array(np.full(each[1], place[each[0]], np.int32)), dictionary
        )
        for each in set(found)
    }
    return pa.chunked_array([chunks[each] for each in found], _NAME)


def rank_batches(
    state: State,
    measures: Mapping[str, Measure],
    *,
    topics: Sequence[str] | None,
    setting: Setting,
    threads: int | None = None,
) -> Iterator[RankedTopicUsers]:
    """For each measure and topic the users, the most exposed first and equals by their ids.

    Several rankings are made at once, by default as many as there are cores.
    """
    check_community(len(state))
    names = state.users.names().cast(pa.string())
    by_name = pc.sort_indices(names).to_numpy().astype(np.int64)

    def ranked(measure: str, topic: str) -> RankedTopicUsers:
        method = measures[measure]
        scores = method.score(state, topic, setting)
        order = ordered_users(scores, by_name)
        evident = int(method.evident(state, topic).sum())
        rows = _ranked(measure, topic, rearranged(names, order.rows), order, evident)
        return RankedTopicUsers(rows, evident, _summary(rows, evident))

    chosen = chosen_topics(state, topics)
    tasks = [partial(ranked, measure, topic) for measure in measures for topic in chosen]
    few = len(tasks) * len(state) < _SCORES_FOR_THREADS
    return in_turn(tasks, 1 if few else threads or available_cores())


def chosen_topics(state: State, topics: Sequence[str] | None) -> Sequence[str]:
    """The topics called ``topics``, by default the sensitive ones."""
    if topics is None:
        topics = [topic.name for topic in state.header.catalogue.sensitive]
        if not topics:
            raise ParameterError(
                "the catalogue names no sensitive topic; mark one, or name the topics to rank."
            )
    if not topics:
        raise ParameterError(
            "topic must name at least 1 topic, got none; leave it out for the sensitive ones."
        )
    return state.header.catalogue.named(topics)


def _summary(batch: pa.RecordBatch, evident: int) -> dict[str, object]:
    """How many users are in each band, and how many have evidence at all."""
    users = np.bincount(batch["band"].indices, minlength=len(_NAMES)).tolist()
    measure, topic = (batch[name].dictionary[0].as_py() for name in ("measure", "topic"))
    bands = dict(zip(_NAMES.to_pylist(), users, strict=True))
    return {
        "measure": measure,
        "topic": topic,
        **bands,
        EVIDENCE: evident,
        "separation": separation(batch["score"].to_numpy()),
    }


def separation(scores: NDArray[np.float64]) -> float | None:
    """How far the first stand from the middle, in standard deviations of all scores.

    The first are the first 1% of users, at least 1; what they score on average less what the user
    in the middle scores. 0 where all score alike; None where a score is infinite.
    """
    if not np.isfinite(scores).all():
        return None
    spread = float(scores.std())
    if spread == 0.0:
        return 0.0
    decreasing = bool((scores[:-1] >= scores[1:]).all())
    rising = scores[::-1].copy() if decreasing else np.sort(scores)
    first = rising[::-1][: max(1, scores.size // 100)]
    median = (rising[(scores.size - 1) // 2] + rising[scores.size // 2]) / 2
    return float((first.mean() - median) / spread)


def without_evidence(summary: Iterable[Mapping[str, object]]) -> list[str]:
    """Sentences about the rankings for which nobody has evidence; their ranks mean nothing."""
    measures: dict[str, list[str]] = {}
    for row in summary:
        if not row[EVIDENCE]:
            measures.setdefault(str(row["topic"]), []).append(str(row["measure"]))
    return [
        f"Nobody has written anything that speaks for {topic} (by {', '.join(names)}): nobody is "
        "in a band, and the order says nothing."
        for topic, names in measures.items()
    ]


def _ranked(
    measure: str, topic: str, users: pa.Array, order: UserOrder, evident: int
) -> pa.RecordBatch:
    same = pa.array(np.zeros(order.scores.size, np.int32))
    columns = [
        pa.DictionaryArray.from_arrays(same, pa.array([measure])),
        users,
        pa.DictionaryArray.from_arrays(same, pa.array([topic])),
        pa.array(order.scores),
        pa.array(order.first),
        pa.DictionaryArray.from_arrays(pa.array(_bands(order.last, evident)), _NAMES),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=RANKS)
