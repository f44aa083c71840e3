"""Releasing a corpus of word counts end to end: ours, OpenDP a document at a time, dense numpy.

Two settings on the same simulated corpus: its 6,800 words compressed to 100 columns at half a nat
per word, and all of its words at five nats, where the output is sparse. Speeds are the best of
several rounds in which each takes its turn; peers whose cost per document is constant are timed on
a part, and say so. Peak memory is what a fresh process needs beyond its input; a peer's that would
not fit is scaled up from a part, document by document.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from scipy import sparse

from sottovoce.compiled import available_cores
from sottovoce.release.counts import Counts
from sottovoce_lab.bench import noise
from sottovoce_lab.bench.memory import (
    WAYS,
    ReleaseBenchSetting,
    Way,
    check_release,
    ours,
    release_memory,
)
from sottovoce_lab.bench.rows import SECONDS, BenchRow, Work, bench_row, best_times

DOCUMENTS = 100_000
_WORDS_PER_DOCUMENT = 100
_MB = 1e6
_ONE_THREAD = "ours, 1 thread"
_PEERS = {"opendp": noise.OPENDP_NAME, "numpy": "dense numpy geometric differences"}


@dataclass(frozen=True)
class ReleaseBenchCase:
    """A setting; ``parts`` says on how many documents each peer is measured."""

    setting: ReleaseBenchSetting
    parts: dict[str, int]

    def name(self, documents: int) -> str:
        """The case in words."""
        columns, words = self.setting.columns, self.setting.words
        kept = "all columns" if columns == words else f"{columns} columns"
        rate = float(self.setting.rate)
        return f"{documents:,} documents x {words:,} words, {kept}, rate {rate:g}"


CASES = (
    ReleaseBenchCase(
        ReleaseBenchSetting(6800, 100, Fraction(1, 2)), {"opendp": 200, "numpy": DOCUMENTS}
    ),
    ReleaseBenchCase(ReleaseBenchSetting(6800, 6800, Fraction(5)), {"opendp": 10, "numpy": 2000}),
)


def bench_release(documents: int = DOCUMENTS, *, seconds: float = SECONDS) -> list[BenchRow]:
    """All cases on a corpus of ``documents`` documents."""
    counts = zipf_corpus(documents, CASES[0].setting.words)
    return [
        row
        for case in CASES
        for row in (*_speed_rows(case, counts, seconds), _memory_row(case, counts))
    ]


def zipf_corpus(documents: int, words: int, *, seed: int = 0) -> Counts:
    """A corpus of 100 words a document on average; the word of rank k has weight 1/k."""
    generator = np.random.default_rng(seed)
    weights = 1 / np.arange(1, words + 1)
    totals = generator.multinomial(documents * _WORDS_PER_DOCUMENT, weights / weights.sum())
    # Sorted by word already, so that no row needs sorting after the scatter.
    word = np.repeat(np.arange(words, dtype=np.int32), totals)
    document = generator.integers(documents, size=word.size, dtype=np.int32)
    ones = np.ones(word.size, dtype=np.int64)
    return sparse.csr_array(sparse.coo_array((ones, (document, word)), shape=(documents, words)))


def _speed_rows(case: ReleaseBenchCase, counts: Counts, seconds: float) -> list[BenchRow]:
    documents = counts.shape[0]
    measured = {"ours": documents, _ONE_THREAD: documents, **_parts(case, documents)}
    works = {name: _work(name, case, counts[:part]) for name, part in measured.items()}
    best = best_times(works, seconds=seconds)
    speed = {name: measured[name] / time for name, time in best.items()}
    row = partial(bench_row, "release")
    name, unit = f"{case.name(documents)}, 1 thread", "documents/s"
    rows = [
        row(name, unit, speed[_ONE_THREAD], _peer_name(peer, measured, documents), speed.get(peer))
        for peer in _PEERS
    ]
    if available_cores() > 1:
        name = f"{case.name(documents)}, all cores"
        rows.append(row(name, unit, speed["ours"], _ONE_THREAD, speed[_ONE_THREAD]))
    return rows


def _work(name: str, case: ReleaseBenchCase, counts: Counts) -> Work:
    """One way's work, after a check that what it releases is right."""
    way: Way = partial(ours, threads=1) if name == _ONE_THREAD else WAYS[name]
    check_release(name, case.setting, counts, way(case.setting, counts))
    return partial(way, case.setting, counts)


def _memory_row(case: ReleaseBenchCase, counts: Counts) -> BenchRow:
    documents = counts.shape[0]
    parts = _parts(case, documents)
    needed = release_memory("ours", case.setting, counts)
    theirs = release_memory("numpy", case.setting, counts[: parts["numpy"]]).peak
    return bench_row(
        "release",
        f"{case.name(documents)}, all cores, peak for an output of {needed.output / _MB:.0f} MB",
        "MB",
        needed.peak / _MB,
        _peer_name("numpy", parts, documents),
        theirs * documents / parts["numpy"] / _MB,
        less_is_better=True,
    )


def _parts(case: ReleaseBenchCase, documents: int) -> dict[str, int]:
    """How many documents each installed peer is measured on."""
    parts = {peer: min(documents, part) for peer, part in case.parts.items()}
    if noise.laplace_on_vectors(case.setting.rate) is None:
        del parts["opendp"]
    return parts


def _peer_name(peer: str, parts: dict[str, int], documents: int) -> str:
    part = parts.get(peer, documents)
    scaled = f", scaled up from {part:,} documents" if part < documents else ""
    return _PEERS[peer] + scaled
