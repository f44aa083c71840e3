"""A release of made-up documents as workers draw it, for the sampler's audit to look into."""

from pathlib import Path
from tempfile import TemporaryDirectory

from sottovoce.errors import InputError
from sottovoce.release.inputs import CountsElsewhere
from sottovoce.release.job import Job
from sottovoce.release.plan import maps_of
from sottovoce.release.trial import DrawnRelease
from sottovoce_spark._noise import Block, BlockName, NoiseTask, block_row, write_shards
from sottovoce_spark.repeatable import noise_secret
from sottovoce_spark.shards import Shard, ShardedCounts, list_shards

_BLOCK, _SHARD = 60, 150


def drawn_in_shards(job: Job) -> DrawnRelease:
    """Each block of documents noised by its task and written into a shard, read back together."""
    plan, counts = job.plan, job.documents.counts
    if isinstance(counts, CountsElsewhere):
        raise InputError("these counts are on a cluster already.")
    frequencies = plan.buy_frequencies(counts)
    maps = maps_of(plan.fit_maps(frequencies))
    firsts = range(0, counts.shape[0], _BLOCK)
    rows = [block_row("", at, 0, counts[at : at + _BLOCK]) for at in firsts]
    blocks = {
        BlockName("", at, 0): Block(place, at, row["digest"][0].as_py())
        for place, (at, row) in enumerate(zip(firsts, rows, strict=True))
    }
    task = NoiseTask.from_plan(noise_secret(), blocks, maps, plan)
    with TemporaryDirectory() as name:
        folder = Path(name) / f"counts-{0:016x}"
        folder.mkdir()
        found = [
            Shard(**row)
            for batch in write_shards(task, str(folder), _SHARD, rows)
            for row in batch.to_pylist()
        ]
        shards = list_shards(counts.shape[0], plan.columns, str(plan.noise.rate), found)
        released = ShardedCounts(Path(name), shards).whole()
    return DrawnRelease(released.toarray(), list(maps), frequencies)
