"""An assessment from files to files on Spark: whole output, or none."""

from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce.assess.ranking import BANDS, REST
from sottovoce.cluster.assess import Plan, ranked
from sottovoce.cluster.failures import told
from sottovoce.cluster.output import whole_folder
from sottovoce.cluster.reading import read_rows
from sottovoce.cluster.session import tuned
from sottovoce.cluster.shipping import Place
from sottovoce.cluster.untyped import Spark
from sottovoce.corpus.reading.options import ReadOptions
from sottovoce.corpus.reading.tally import Tally
from sottovoce.corpus.schema import POSTS


@dataclass(frozen=True)
class Outcome:
    """What was written, in numbers."""

    users: int
    posts: int
    summary: list[dict[str, object]]
    """How many users are in each band, by measure and topic."""
    tally: Tally


def assess_files(session: Spark, posts: str, out: str, plan: Plan, reading: ReadOptions) -> Outcome:
    """Rank the users who wrote ``posts`` into a folder of Parquet files, most exposed first."""
    with (
        told(f"assess {posts}"),
        tuned(session, plan.partitions),
        whole_folder(session, out) as unfinished,
    ):
        rows = read_rows(session, posts, POSTS, reading)
        with ranked(rows, plan) as found:
            found.table.write.parquet(unfinished, compression="zstd")
            written = session.read.parquet(unfinished)
            counts = written.groupBy("measure", "topic", "band").count().collect()
            bands = {(row["measure"], row["topic"], row["band"]): row["count"] for row in counts}
            community = found.community
            summary = summary_of(found.places, bands)
    return Outcome(community.users, community.posts, summary, community.tally)


def summary_of(
    places: Sequence[Place], bands: dict[tuple[str, str, str], int]
) -> list[dict[str, object]]:
    """How many users are in each band, in the order in which rankings were asked for."""
    names = [*(f"top {percent}%" for percent in BANDS), REST]
    return [
        {
            "measure": place.measure,
            "topic": place.topic,
            **{name: bands.get((place.measure, place.topic, name), 0) for name in names},
        }
        for place in places
    ]
