"""Approximate ranks without ordering anybody: sketches of parts, merged as a tree.

Each part of the users makes one `RankSketch` for each ranking; sixteen at a time are merged until
one is left for each; it goes to all workers, who look their users up. The rank is a bracket that
always holds the true one, at most the stated share of all users wide, and exact in the top 1%.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from sottovoce_spark._output import Spark
from sottovoce_spark._ranks import band_numbers, rank_columns, scored_users
from sottovoce_spark._states import CommunityCounts
from sottovoce_spark._workers import Shipped
from sottovoce_spark.rank_sketch import RankSketch

SKETCHES = "place bigint, part bigint, sketch binary"
BRACKETS = (
    "measure string, user string, topic string, score double, `rank` bigint, rank_most bigint, "
    "band string"
)
FAN_IN = 16


@dataclass(frozen=True)
class Precision:
    """How wide a bracket may be, as a share of all users."""

    error: float = 0.001
    exact: float = 0.01

    def sketch(self, users: int) -> RankSketch:
        """An empty sketch for so many users."""
        return RankSketch(users, error=self.error, exact=self.exact)


def sketch_ranks(
    states: Spark, shipped: Shipped, community: CommunityCounts, precision: Precision
) -> Spark:
    """Brackets of all users' ranks."""
    context = states.sparkSession.sparkContext
    made = partial(sketch_users, shipped, community, precision)
    merged = _as_one(states.mapInArrow(made, SKETCHES), states.rdd.getNumPartitions())
    final = [bytes(row["sketch"]) for row in merged.orderBy("place").collect()]
    sent = context.broadcast(final)
    return states.mapInArrow(partial(look_up, shipped, community, sent), BRACKETS)


def sketch_users(
    shipped: Shipped,
    community: CommunityCounts,
    precision: Precision,
    rows: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """One sketch for each ranking of one part of the users."""
    from pyspark import TaskContext  # noqa: PLC0415 - an extra

    sketches = [precision.sketch(community.users) for _ in shipped.work().places]
    for _, scores in scored_users(shipped, community, rows):
        for sketch, of_place in zip(sketches, scores, strict=True):
            sketch.add(of_place)
    context = TaskContext.get()
    part = 0 if context is None else context.partitionId()
    yield from _rows((place, part, sketch) for place, sketch in enumerate(sketches))


def merge_sketches(rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All sketches of one ranking and part into one."""
    merged: dict[tuple[int, int], RankSketch] = {}
    for batch in rows:
        for row in batch.to_pylist():
            one, key = RankSketch.from_bytes(row["sketch"]), (row["place"], row["part"])
            if key in merged:
                merged[key].merge(one)
            else:
                merged[key] = one
    yield from _rows((*key, sketch) for key, sketch in merged.items())


def look_up(
    shipped: Shipped, community: CommunityCounts, sent: Spark, rows: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Users with the brackets of their ranks; the band is certain in the top 1%."""
    places = shipped.work().places
    sketches = [RankSketch.from_bytes(each) for each in sent.value]
    for users, scores in scored_users(shipped, community, rows):
        for place, sketch, of_place, evident in zip(
            places, sketches, scores, community.evident, strict=True
        ):
            low, high = sketch.ranks(of_place)
            _, most = sketch.at_least(of_place)
            bands = band_numbers(most, community.users, evident=evident)
            scored = {"user": users, "score": pa.array(of_place)}
            widest = pa.array(high, pa.int64())
            yield pa.record_batch(
                rank_columns(place, **scored, rank=low, bands=bands, rank_most=widest)
            )


def _as_one(sketches: Spark, parts: int) -> Spark:
    """Merge sixteen parts into one, and again, until there is one."""
    from pyspark.sql import functions as sql  # noqa: PLC0415 - an extra

    while parts > 1:
        parts = -(-parts // FAN_IN)
        grouped = sketches.withColumn("part", sql.floor(sql.col("part") / FAN_IN).cast("bigint"))
        sketches = grouped.repartition("place", "part").mapInArrow(merge_sketches, SKETCHES)
    return sketches


def _rows(sketches: Iterable[tuple[int, int, RankSketch]]) -> Iterator[pa.RecordBatch]:
    for place, part, sketch in sketches:
        row = {"place": place, "part": part, "sketch": sketch.to_bytes()}
        yield pa.RecordBatch.from_pylist([row])
