"""Score posts of a fixed community, again and again, and print the peak memory; run as a script."""

import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa

from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.corpus.schema import POSTS
from sottovoce.topics.catalogue import Catalogue, Topic

USERS, WEEKS, BATCH = 20_000, 26, 20_000
_WEEK = 7 * 86_400_000_000
_START = int(datetime(2024, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000


def batches(count: int) -> Iterator[pa.RecordBatch]:
    """Each has a post by every user; the weeks come round, so the state is full after WEEKS."""
    generator = np.random.default_rng(0)
    users = pa.array([f"user{number}" for number in range(USERS)])
    words = np.array([f"word{number}" for number in range(200)])
    for batch in range(count):
        time = np.full(BATCH, _START + (batch % WEEKS) * _WEEK)
        pairs = words[generator.integers(0, 200, (2, BATCH))]
        texts = pa.array(np.char.add(np.char.add(pairs[0], " "), pairs[1]).tolist())
        yield pa.record_batch([users, pa.array(time).cast(POSTS.field(1).type), texts], POSTS)


def main(count: str) -> None:
    topics = tuple(
        Topic(f"topic{n}", tuple(f"word{n * 20 + i}" for i in range(20)), "all") for n in range(10)
    )
    _, scoring = plan_scoring(Catalogue(topics), [], ("bow-dt", "ent"))
    state = scoring.state_of(batches(int(count)))
    status = Path("/proc/self/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found
    sys.stdout.write(f"{int(state.posts.sum())} {int(found[1]) / 1024:.1f}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
