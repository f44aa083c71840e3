"""Assessment on Spark: the same scores and ranks as on one machine, bit for bit.

Posts are scored where they lie, by the function that scores them on one machine; Spark brings the
states of each user together; what all users must be known for (how many there are, who else uses a
word) is added up; each part of the users is scored by the measures themselves; and ranks are
assigned by range (``_ranks``). The driver sees numbers per part, per word and per ranking. From
files to files the output is whole, or there is none.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.assess.measures.measure import check_community
from sottovoce.assess.ranking import BANDS, EVIDENCE, REST, chosen_topics
from sottovoce.assess.setting import M_KEPT, Bucket, Setting
from sottovoce.assess.state.state import State
from sottovoce.corpus.read.tally import DEFAULT_LINE_BYTES, ReadOptions, Tally
from sottovoce.corpus.schema import POSTS
from sottovoce.errors import CorpusError
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.space import Mode, Space
from sottovoce_spark import _ranks
from sottovoce_spark._output import Spark, translate_errors, whole_folder
from sottovoce_spark._ranks import Edge
from sottovoce_spark._read import read_rows
from sottovoce_spark._states import (
    COUNTS,
    CommunityCounts,
    community_of,
    count_community,
    merge_rows,
    schema_text,
    score_posts,
    value_columns,
)
from sottovoce_spark._workers import RankingKey, Shipped, digest_of, pack_work
from sottovoce_spark.session import apply_settings
from sottovoce_spark.sketches import Precision, sketch_ranks

_ROWS_PER_PART = 1 << 20


@dataclass(frozen=True)
class SparkRanks:
    """Ranks as a table of Spark's, most exposed first within each measure and topic."""

    table: Spark
    community: CommunityCounts
    places: tuple[RankingKey, ...]


@dataclass(frozen=True)
class SparkAssessPlan:
    """What to rank and how; the same defaults as on one machine."""

    catalogue: Catalogue
    spaces: Sequence[Space] = ()
    measures: Sequence[str] = ("all",)
    topics: Sequence[str] | None = None
    setting: Setting = Setting()  # noqa: RUF009 - frozen
    bucket: Bucket = Bucket(1, "w")  # noqa: RUF009 - frozen
    kept: int | None = None
    timezone: str = "UTC"
    longest_text: int = DEFAULT_LINE_BYTES
    partitions: int | None = None
    precision: Precision | None = None
    """None: exact ranks; else brackets of them."""
    clean: bool = False
    """Whether posts are scored without what is not their author's."""

    def ship(self, context: Spark) -> tuple[Shipped, tuple[RankingKey, ...]]:
        """Broadcast all that workers need, once."""
        chosen, scoring = plan_scoring(
            self.catalogue,
            self.spaces,
            self.measures,
            bucket=self.bucket,
            kept=max(self.setting.m, self.kept or M_KEPT),
            mode=self.setting.mode,
            clean=self.clean,
        )
        topics = chosen_topics(State(scoring.header), self.topics)
        archive = pack_work(
            scoring,
            self.spaces,
            tuple(chosen),
            topics,
            self.setting,
            timezone=self.timezone,
            longest_text=self.longest_text,
        )
        places = tuple(RankingKey(measure, topic) for measure in chosen for topic in topics)
        return Shipped(context.broadcast(archive), digest_of(archive)), places


def score_on_spark(
    posts: Spark,
    spaces: Sequence[Space],
    catalogue: Catalogue,
    *,
    measures: Sequence[str] = ("all",),
    topics: Sequence[str] | None = None,
    k: float = 0.3,
    m: int = 3,
    bucket: str = "1w",
    mode: Mode = "corrected",
    timezone: str = "UTC",
    partitions: int | None = None,
    precision: Precision | None = None,
) -> Spark:
    """Rank the users of a community, given as a Spark DataFrame with user, time and text.

    Returns a DataFrame with measure, user, topic, score, rank and band, in the order and with the
    very bits that ``sottovoce.assess.score`` gives; with ``precision`` the rank is a bracket, from
    rank to rank_most, and rows are in no order. It is kept on the workers' disks until it is
    unpersisted or the session ends.
    """
    plan = SparkAssessPlan(
        catalogue,
        spaces,
        measures,
        topics,
        Setting(k, m, mode),
        Bucket.parse(bucket),
        timezone=timezone,
        partitions=partitions,
        precision=precision,
    )
    with translate_errors("score posts"), rank_posts(posts, plan) as found:
        table = found.table.persist(on_disk())
        table.count()
        return table


@contextmanager
def rank_posts(posts: Spark, plan: SparkAssessPlan) -> Iterator[SparkRanks]:
    """Ranks that can be read inside the block; what was kept on the way is dropped after it."""
    session = posts.sparkSession
    shipped, places = plan.ship(session.sparkContext)
    with apply_settings(session, plan.partitions), ExitStack() as kept:
        kept.callback(shipped.sent.unpersist)
        states = merged_states(posts, shipped).persist(on_disk())
        kept.callback(states.unpersist)
        community = gather_community(states, shipped)
        check_enough(community)
        if plan.precision is not None:
            table = sketch_ranks(states, shipped, community, plan.precision)
        else:
            ordered = in_order(states, shipped, community, len(places)).persist(on_disk())
            kept.callback(ordered.unpersist)
            table = number_ranks(ordered, places, community)
        yield SparkRanks(table, community, places)


def merged_states(posts: Spark, shipped: Shipped) -> Spark:
    """One row for each user."""
    from pyspark.sql import functions as sql  # noqa: PLC0415 - an extra

    header = shipped.work().header
    raw = posts.select("user", "time", "text")
    scored = raw.mapInArrow(partial(score_posts, shipped), schema_text(header))
    gathered = scored.groupBy("user").agg(
        sql.collect_list(sql.struct(*value_columns(header))).alias("parts")
    )
    return gathered.mapInArrow(partial(merge_rows, shipped), schema_text(header))


def gather_community(states: Spark, shipped: Shipped) -> CommunityCounts:
    """What must be known of all users."""
    counts = states.mapInArrow(partial(count_community, shipped), COUNTS)
    sums = counts.groupBy("what").sum("amount").collect()
    work = shipped.work()
    return community_of({row[0]: row[1] for row in sums}, work.header.words, len(work.places))


def check_enough(community: CommunityCounts) -> None:
    """Refuse posts of which nothing can be used, and a community of one."""
    if not community.posts:
        raise CorpusError(f"no usable row: {community.tally}.")
    check_community(community.users)


def in_order(states: Spark, shipped: Shipped, community: CommunityCounts, places: int) -> Spark:
    """All scores, in parts that follow one another and are sorted."""
    from pyspark.sql import functions as sql  # noqa: PLC0415 - an extra

    scores = states.mapInArrow(partial(_ranks.score_users, shipped, community), _ranks.SCORES)
    parts = int(states.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    parts = max(parts, community.users * places // _ROWS_PER_PART)
    ranges = scores.repartitionByRange(parts, *_ranks.ORDER).sortWithinPartitions(*_ranks.ORDER)
    # Kept with the rows: a part that is worked out again keeps its number.
    return ranges.withColumn("part", sql.spark_partition_id())


def number_ranks(
    ordered: Spark, places: tuple[RankingKey, ...], community: CommunityCounts
) -> Spark:
    """Ranks and bands for scores in order."""
    edges = [Edge(*row) for row in ordered.mapInArrow(_ranks.edges_of, _ranks.EDGES).collect()]
    known = {part: dict(of_part) for part, of_part in _ranks.positions(edges).items()}
    return ordered.mapInArrow(
        partial(_ranks.number_rows, places, community.evident, known), _ranks.RANKS
    )


def on_disk() -> Spark:
    """Where tables that are read twice are kept: on the workers' disks."""
    from pyspark import StorageLevel  # noqa: PLC0415 - an extra

    return StorageLevel.DISK_ONLY


@dataclass(frozen=True)
class WrittenAssessment:
    """What was written, in numbers."""

    users: int
    posts: int
    summary: list[dict[str, object]]
    """How many users are in each band, by measure and topic."""
    tally: Tally


def assess_files(
    session: Spark, posts: str, out: str, plan: SparkAssessPlan, reading: ReadOptions
) -> WrittenAssessment:
    """Rank the users who wrote ``posts`` into a folder of Parquet files, most exposed first."""
    with (
        translate_errors(f"assess {posts}"),
        apply_settings(session, plan.partitions),
        whole_folder(session, out) as unfinished,
    ):
        rows = read_rows(session, posts, POSTS, reading)
        with rank_posts(rows, plan) as found:
            found.table.write.parquet(unfinished, compression="zstd")
            written = session.read.parquet(unfinished)
            counts = written.groupBy("measure", "topic", "band").count().collect()
            bands = {(row["measure"], row["topic"], row["band"]): row["count"] for row in counts}
            community = found.community
            summary = summary_of(found.places, bands, community.evident)
    return WrittenAssessment(community.users, community.posts, summary, community.tally)


def summary_of(
    places: Sequence[RankingKey], bands: dict[tuple[str, str, str], int], evident: Sequence[int]
) -> list[dict[str, object]]:
    """How many users are in each band, in the order in which rankings were asked for."""
    names = [*(f"top {percent}%" for percent in BANDS), REST]
    return [
        {
            "measure": place.measure,
            "topic": place.topic,
            **{name: bands.get((place.measure, place.topic, name), 0) for name in names},
            EVIDENCE: held,
        }
        for place, held in zip(places, evident, strict=True)
    ]
