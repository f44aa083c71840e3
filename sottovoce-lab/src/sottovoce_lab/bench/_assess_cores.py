"""What further threads bring to an assessment: three paths from a Parquet file, and their bits.

A simulated query log ranked by ``lda-dt``; the same log read and counted, and read, counted and
scored, nothing kept; and forum posts ranked by every paper's measure that the bag of words and a
topic model allow, for 200 sensitive topics of one domain. Each says a digest of its results, which
must be the same on any number of threads: else nothing is compared.
"""

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.assess import Ranking, score
from sottovoce.compiled import available_cores, in_turn, on_threads
from sottovoce.corpus.counts import count_batches
from sottovoce.corpus.read.corpus import open_posts
from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import simulate
from sottovoce.errors import CheckFailedError
from sottovoce.topics import Catalogue
from sottovoce_lab.bench.rows import SECONDS, BenchRow, Work, bench_row, best_times
from sottovoce_lab.query_log import QueryLog
from sottovoce_lab.scale import MEASURE, Workload

TOPICS = 200
MOST_THREADS = 16
_QUERIES_OF_A_USER = 121
# 64 MB a thread, more than any cache holds.
_NUMBERS_COPIED = 1 << 23
_COPIES = 10
# As an assessment cuts its batches: memory of this size is used again, more is mapped each time.
_STRENGTHS_AT_ONCE = 1 << 21
_FORUM_USERS, _FORUM_POSTS = 1_818, 96_538
"""Of one simulated forum; a larger one is made of several such, each with users of its own."""


@dataclass(frozen=True)
class CoreCase:
    """One path: how it runs on a number of threads, and the digest of what comes out."""

    name: str
    posts: int
    run: Callable[[int], Any]
    digest: Callable[[Any, int], str]
    """Of what ``run`` gave; a stream that it did not keep is run again on so many threads."""


def core_rows(posts: int, *, topics: int = TOPICS, seconds: float = SECONDS) -> list[BenchRow]:
    """Each case on two threads, four and so on, beside the same on one, and memory alone."""
    rows = memory_rows(seconds, numbers=min(_NUMBERS_COPIED, topics * posts))
    with tempfile.TemporaryDirectory() as folder:
        for case in core_cases(Path(folder), posts, topics):
            rows += _rows(case, _numbers_of_threads(), seconds)
    return rows


def memory_rows(seconds: float = SECONDS, *, numbers: int = _NUMBERS_COPIED) -> list[BenchRow]:
    """How much memory threads copy together, beside one: if it does not grow, memory is short."""
    counted = _numbers_of_threads()
    arrays = [(np.ones(numbers), np.zeros(numbers)) for _ in range(max(counted))]

    def copy_memory(threads: int) -> None:
        on_threads([partial(_copy, *each) for each in arrays[:threads]])

    works: dict[str, Work] = {str(threads): partial(copy_memory, threads) for threads in counted}
    best = best_times(works, seconds=seconds)
    # What is read and what is written.
    size = 2 * 8 * numbers * _COPIES
    speed = {name: size * int(name) / time / 1e9 for name, time in best.items()}
    return _beside_one("memory copied, {} threads", "GB/s", speed, "1 thread")


def _copy(source: Floats, to: Floats) -> None:
    for _ in range(_COPIES):
        np.copyto(to, source)


def _numbers_of_threads() -> list[int]:
    most = min(MOST_THREADS, available_cores())
    return [threads for threads in (1, 2, 4, 8, 16) if threads <= most]


def _rows(case: CoreCase, numbers: Sequence[int], seconds: float) -> list[BenchRow]:
    digest = same_digest(case, numbers)
    works: dict[str, Work] = {str(threads): partial(case.run, threads) for threads in numbers}
    speed = {name: case.posts / time for name, time in best_times(works, seconds=seconds).items()}
    named = f"{case.name}, {{}} threads, digest {digest}"
    rows = _beside_one(named, "posts/s", speed, "ours, 1 thread")
    return [*rows, *_serial_rows(case.name, speed)]


def serial_share(threads: int, gain: float) -> float:
    """The share of the work that one thread does alone, by Amdahl's law: g = 1/(s + (1 - s)/n)."""
    return min(1.0, max(0.0, (threads / gain - 1) / (threads - 1)))


def _serial_rows(case: str, speed: Mapping[str, float]) -> list[BenchRow]:
    """What the gain of the most threads says of the serial share, and so of still more threads."""
    most = max(int(threads) for threads in speed)
    if most == 1:
        return []
    share = serial_share(most, speed[str(most)] / speed["1"])
    model = ", ".join(f"{1 / (share + (1 - share) / n):.1f} on {n}" for n in (2, 4, 8, 16))
    told = f"{case}, serial share seen on {most} threads; so many times as fast: {model}"
    return [bench_row("assess", told, "share", share, "Amdahl's law", None)]


def _beside_one(case: str, unit: str, speed: Mapping[str, float], peer: str) -> list[BenchRow]:
    """A row for each further number of threads, which ``case`` has a place for, beside one."""
    return [
        bench_row("assess", case.format(threads), unit, speed[threads], peer, speed["1"])
        for threads in speed
        if threads != "1"
    ]


def same_digest(case: CoreCase, numbers: Sequence[int]) -> str:
    """The digest of the results; refused if it depends on the number of threads."""
    digests = {case.digest(case.run(threads), threads) for threads in numbers}
    if len(digests) > 1:
        raise CheckFailedError(f"{case.name}: the results depend on the number of threads.")
    return digests.pop()


def core_cases(folder: Path, posts: int, topics: int = TOPICS) -> Iterator[CoreCase]:
    """The cases on about ``posts`` posts; their files lie in ``folder``, and are made once."""
    log = QueryLog(posts, max(50, posts // _QUERIES_OF_A_USER), topics)
    work, path = Workload(log), folder / "log.parquet"
    if not path.exists():
        log.write(path)
    yield _ranking_case(f"{MEASURE} of a query log", path, work, work.catalogue, MEASURE)
    kept = pq.read_metadata(path).num_rows
    yield CoreCase(
        f"a query log read and counted, {kept:,} posts",
        kept,
        lambda threads: sum(part.nnz for part in _count_posts(path, work, threads)),
        lambda _, threads: counts_digest(_count_posts(path, work, threads)),
    )
    yield CoreCase(
        f"a query log read, counted and scored, {kept:,} posts, {len(work.catalogue)} topics",
        kept,
        lambda threads: sum(len(part) for part in _score_pieces(path, work, threads)),
        lambda _, threads: _digest_of(_score_pieces(path, work, threads)),
    )
    forum = folder / "forum.parquet"
    if not forum.exists():
        write_forum(forum, posts)
    name = "every measure of forum posts"
    yield _ranking_case(name, forum, work, one_domain(work.catalogue), "all")


def _ranking_case(
    name: str, path: Path, work: Workload, catalogue: Catalogue, measure: str
) -> CoreCase:
    def rank_posts(threads: int) -> Ranking:
        return score(path, work.model, catalogue, measures=(measure,), threads=threads)

    posts = pq.read_metadata(path).num_rows
    sensitive = len(catalogue.sensitive)
    case = f"{name}, {posts:,} posts, {len(catalogue)} topics, {sensitive} of them sensitive"
    return CoreCase(case, posts, rank_posts, lambda ranking, _: ranking_digest(ranking))


def counts_digest(parts: Iterable[sparse.csr_array]) -> str:
    """Of all cells, however the rows were cut into parts."""
    lengths, columns, counts = (hashlib.sha256() for _ in range(3))
    for part in parts:
        lengths.update(np.diff(part.indptr).astype(np.int64).data)
        columns.update(part.indices.astype(np.int64).data)
        counts.update(part.data.astype(np.int64).data)
    whole = b"".join(each.digest() for each in (lengths, columns, counts))
    return hashlib.sha256(whole).hexdigest()[:16]


def _count_posts(path: Path, work: Workload, threads: int) -> Iterator[sparse.csr_array]:
    texts = (batch["text"] for batch in open_posts(path))
    return count_batches(texts, work.model.vocabulary, work.model.rules, threads=threads)


def _score_pieces(path: Path, work: Workload, threads: int) -> Iterator[Floats]:
    """As an assessment does: each thread scores a piece, while others are read and counted."""
    scorer = work.model.scorer(work.catalogue)
    most = max(1, _STRENGTHS_AT_ONCE // len(work.catalogue))
    pieces = (
        partial(scorer.strengths, counts[first : first + most], threads=1)
        for counts in _count_posts(path, work, threads)
        for first in range(0, counts.shape[0], most)
    )
    return in_turn(pieces, threads)


def _digest_of(arrays: Iterator[np.ndarray]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:16]


def ranking_digest(ranking: Ranking) -> str:
    """Of every user's score and rank by each measure for each topic, in the order of the ranks."""
    table = ranking.table
    digest = hashlib.sha256("\n".join(table["user"].to_pylist()).encode())
    for name in ("score", "rank"):
        digest.update(table[name].to_numpy().data)
    digest.update("\n".join(table["band"].cast(pa.string()).to_pylist()).encode())
    return digest.hexdigest()[:16]


def one_domain(catalogue: Catalogue) -> Catalogue:
    """The same topics, all sensitive and of one domain."""
    topics = tuple(replace(topic, domain="one", sensitive=True) for topic in catalogue)
    return Catalogue(topics, catalogue.model)


def write_forum(path: Path, posts: int) -> None:
    """Posts of simulated forums side by side, each with its own users, in the order of time."""
    forums = max(1, round(posts / _FORUM_POSTS))
    users = max(50, round(_FORUM_USERS * min(1.0, posts / _FORUM_POSTS)))
    table = simulate(
        SimulationParameters(users=users, weeks=26, background_documents=1)
    ).posts.slice(0, posts)
    name = table.schema.get_field_index("user")
    parts = [
        table.set_column(
            name,
            table.schema.field(name),
            pc.binary_join_element_wise(table["user"], str(forum), "-"),
        )
        for forum in range(forums)
    ]
    whole = pa.concat_tables(parts)
    order = pc.sort_indices(whole["time"])
    pq.write_table(whole.take(order), path, row_group_size=64 * 1024)
