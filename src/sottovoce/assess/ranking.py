"""Ranks: the position at which a rational adversary finds each user."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, groupby
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sottovoce._notebook import html_table, text_table
from sottovoce.assess._orders import (
    OrderedTopics,
    ordered_topics,
    positions_with_ties,
    rearrange_names,
    separations,
)
from sottovoce.assess.measures.catalogue import BandedLifts, banded_lifts
from sottovoce.assess.measures.measure import Measure, check_community
from sottovoce.assess.setting import Setting
from sottovoce.assess.state.buckets import TOPICS_AT_ONCE
from sottovoce.assess.state.state import State
from sottovoce.compiled import available_cores, in_turn
from sottovoce.corpus.read.corpus import Sources
from sottovoce.corpus.schema import FrameLibrary, as_frame
from sottovoce.errors import ParameterError
from sottovoce.files import whole_file
from sottovoce.parsing import check_choice

if TYPE_CHECKING:
    from sottovoce.assess.alerts import Alerts
    from sottovoce.assess.explain import Assessed
    from sottovoce.assess.explanation import Explanation


BANDS = (1, 5, 10)
"""Top 1%, 5% and 10%."""
REST = "rest"
BANDS_APART = tuple(
    f"top {f'{before}% to ' if before else ''}{percent}%"
    for before, percent in zip((0, *BANDS), BANDS, strict=False)
)
"""The same as headings of counts that have each user once, in the narrowest band."""
# Below so many scores threads cost more than they gain.
_SCORES_FOR_THREADS = 1 << 17
# So many scores are ordered in one step, and so many steps at least are there for each thread.
_SCORES_AT_ONCE = 1 << 19
_STEPS_OF_A_THREAD = 4
_LARGEST_NAMES = (1 << 31) - 1  # in bytes; strings of Arrow's have no larger numbers
_BAND_NAMES = (*(f"top {percent}%" for percent in BANDS), REST)
_NAMES = pa.array(_BAND_NAMES, pa.string())
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
    (limits,) = _limits(scores.size, [evident])
    return np.searchsorted(limits, users_at_least_as_exposed(scores)).astype(np.int32)


class RankedTopicUsers(NamedTuple):
    """The users by one measure for one topic."""

    rows: pa.RecordBatch
    """As ``RANKS``, the most exposed first."""
    evident: int
    """How many of them have written anything that speaks for the topic."""
    summary: dict[str, object]
    """How many are in each band and have evidence, and how far the first stand apart."""


@dataclass(frozen=True, repr=False)
class Ranking:
    """Who stands out, by measure and topic: private, like the posts it was made from.

    Printed it shows counts only; ``table``, ``select`` and ``to_frame`` name users.

    >>> import sottovoce as sv
    >>> community = sv.simulate(users=60, weeks=2, background_documents=1)
    >>> ranking = sv.assess_posts(community.posts, topics=community.topics, measures="bow-t")
    >>> ranking
    Ranking(users=60, measures=1, topics=5)
    >>> ranking.select("bow-t", "pregnancy").column_names
    ['user', 'score', 'rank', 'band']
    """

    table: pa.Table
    """measure, user, topic, score, rank, band."""
    summary: tuple[dict[str, object], ...]
    """How many users are in each band and have evidence, by measure and topic."""
    source: "Assessed | None" = field(default=None, compare=False)
    """What it was made from, where that is known."""

    @property
    def users(self) -> int:
        """How many users were ranked."""
        return int(self.table.num_rows // len(self.summary))

    def select(self, measure: str, topic: str) -> pa.Table:
        """The ranking by one measure for one topic: user, score, rank, band; the first first."""
        for name, wanted in (("measure", measure), ("topic", topic)):
            check_choice(name, wanted, list(dict.fromkeys(str(row[name]) for row in self.summary)))
        chosen = (pc.field("measure") == measure) & (pc.field("topic") == topic)
        return self.table.filter(chosen).drop_columns(["measure", "topic"])

    def explain(
        self,
        user: str,
        topic: str,
        *,
        measure: str | None = None,
        posts: Sources | None = None,
        without: Sequence[int] = (),
        most: int = 10,
    ) -> "Explanation":
        """Why ``user`` stands where they stand: their posts and words by what these add.

        As ``sottovoce explain``. ``measure`` may be left out where there is only one, or the
        command's default among them; ``posts``: all that a ``state`` was made from, one source or
        several; ``without``: numbers of the user's posts, from 1: their rank without these.
        """
        if self.source is None:
            raise ParameterError(
                "this ranking does not know its posts, so it cannot explain; rank them with "
                "assess_posts."
            )
        return self.source.explain(
            str(user), topic, measure, posts=posts, without=without, most=most
        )

    def alerts(
        self,
        *,
        top: Sequence[int] = BANDS,
        hysteresis: float = 0.2,
        out: str | PathLike[str] | None = None,
    ) -> "Alerts":
        """Who entered or left a band since the last check, by the measures of this ranking.

        As ``sottovoce alerts``: it needs a ``state``, beside which it keeps this. ``top``: percent.
        """
        if self.source is None:
            raise ParameterError(
                "alerts need a state, which keeps who was in which band; give assess_posts a state."
            )
        return self.source.alerts(bands=top, hysteresis=hysteresis, out=out)

    def lifts(self, concerned: float | None = None) -> BandedLifts:
        """What the bands are worth, by a test on bloggers; ``concerned`` is a share you suppose."""
        return banded_lifts((str(row["measure"]) for row in self.summary), concerned)

    def to_frame(self, library: FrameLibrary = "arrow") -> Any:  # noqa: ANN401 - a frame of any library
        """All ranks as a table of ``arrow``, or a frame of ``pandas`` or ``polars``."""
        return as_frame(self.table, library)

    def save(self, path: str | PathLike[str]) -> None:
        """Write ``ranks.parquet``, readable by its owner only."""
        with whole_file(Path(path), private=True) as temporary:
            pq.write_table(self.table, temporary, compression="zstd")

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
    return ranking_of(
        rank_batches(state, measures, topics=topics, setting=setting, threads=threads)
    )


def ranking_of(ranks: Iterable[RankedTopicUsers], source: "Assessed | None" = None) -> Ranking:
    """The ranking that consists of these batches, one for each measure and topic."""
    ranked = list(ranks)
    table = pa.Table.from_batches([each.rows for each in ranked], RANKS)
    for name in ("measure", "topic"):
        table = table.set_column(
            RANKS.get_field_index(name), RANKS.field(name), _join_names(ranked, name)
        )
    return Ranking(table, tuple(each.summary for each in ranked), source)


def _join_names(ranked: Sequence[RankedTopicUsers], column: str) -> pa.ChunkedArray:
    """A column that has one name in each batch, with one dictionary for all of them.

    Batches of a name share the numbers that stand for it: a large ranking has thousands.
    """
    found = [(str(each.summary[column]), each.rows.num_rows) for each in ranked]
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
    threads = threads or available_cores()

    def rank_part(measure: str, some: Sequence[str]) -> list[RankedTopicUsers]:
        method = measures[measure]
        scores = np.ascontiguousarray(method.scores(state, some, setting), np.float64)
        evident = method.evident_users(state, some)
        order = ordered_topics(scores, by_name, _limits(len(state), evident))
        return _rank_topics(measure, some, names, order, evident)

    chosen = chosen_topics(state, topics)
    most = -(-len(measures) * len(chosen) // (_STEPS_OF_A_THREAD * threads))
    most = min(most, _SCORES_AT_ONCE // len(state), _LARGEST_NAMES // max(1, names.nbytes))
    parts = list(_parts(state, chosen, most))
    tasks = [partial(rank_part, measure, some) for measure in measures for some in parts]
    few = len(measures) * len(chosen) * len(state) < _SCORES_FOR_THREADS
    return chain.from_iterable(in_turn(tasks, 1 if few else threads))


def _parts(state: State, topics: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    """The topics in order, at most so many at once (at least one), none from two blocks."""
    for _, same in groupby(topics, lambda topic: state.column(topic) // TOPICS_AT_ONCE):
        block = list(same)
        yield from (block[at : at + max(1, most)] for at in range(0, len(block), max(1, most)))


def chosen_topics(state: State, topics: Sequence[str] | None) -> Sequence[str]:
    """The topics called ``topics``, by default the sensitive ones."""
    if topics is None:
        topics = [topic.name for topic in state.header.catalogue.sensitive]
        if not topics:
            raise ParameterError(
                "the catalogue marks no topic as sensitive; mark one, or name the topics to rank."
            )
    if not topics:
        raise ParameterError(
            "topic must name at least 1 topic, got none; leave it out for the sensitive ones."
        )
    return state.header.catalogue.find_names(topics)


def bands_apart(summary: Iterable[Mapping[str, object]]) -> list[dict[str, object]]:
    """Rows of a summary under headings that say that each user is counted once."""
    names = dict(zip(_BAND_NAMES, (*BANDS_APART, REST), strict=True))
    return [{names.get(name, name): value for name, value in row.items()} for row in summary]


def without_evidence(summary: Iterable[Mapping[str, object]]) -> list[str]:
    """Sentences about the rankings for which nobody has evidence; their ranks mean nothing."""
    measures: dict[str, list[str]] = {}
    for row in summary:
        if not row[EVIDENCE]:
            measures.setdefault(str(row["topic"]), []).append(str(row["measure"]))
    alike: dict[str, list[str]] = {}
    for topic, names in measures.items():
        alike.setdefault(", ".join(names), []).append(topic)
    return [
        f"Nobody has written anything that speaks for {', '.join(topics)} (by {names}): nobody is "
        "in a band, and the order means nothing."
        for names, topics in alike.items()
    ]


def _limits(users: int, evident: Sequence[int]) -> NDArray[np.int64]:
    """Topics x bands: how many users may score as high as one in the band, or higher."""
    # In whole numbers, so that 5% of 20 users are one.
    limits = np.array(BANDS) * users // 100
    return np.array([limits * (number > 0) for number in evident])


def _rank_topics(
    measure: str,
    topics: Sequence[str],
    names: pa.Array,
    order: OrderedTopics,
    evident: Sequence[int],
) -> list[RankedTopicUsers]:
    """One for each of ``topics``, which are the rows of ``order``."""
    users = len(names)
    places = np.repeat(np.arange(len(topics), dtype=np.int32), users)
    columns = [
        pa.DictionaryArray.from_arrays(pa.array(np.zeros_like(places)), pa.array([measure])),
        rearrange_names(names, order.rows),
        pa.DictionaryArray.from_arrays(pa.array(places), pa.array(topics)),
        pa.array(order.scores.reshape(-1)),
        pa.array(order.first.reshape(-1)),
        pa.DictionaryArray.from_arrays(pa.array(order.bands.reshape(-1)), _NAMES),
    ]
    rows = pa.RecordBatch.from_arrays(columns, schema=RANKS)
    apart, in_band = separations(order.scores), order.in_band.tolist()
    summaries = (
        {
            "measure": measure,
            "topic": topic,
            **dict(zip(_BAND_NAMES, in_band[place], strict=True)),
            EVIDENCE: evident[place],
            "separation": apart[place],
        }
        for place, topic in enumerate(topics)
    )
    return [
        RankedTopicUsers(rows.slice(place * users, users), evident[place], summary)
        for place, summary in enumerate(summaries)
    ]
