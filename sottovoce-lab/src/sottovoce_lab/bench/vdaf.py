"""Prio3Histogram as the rank servers' mode `shares` uses it, on one core.

Reports are made and verified one by one, and the histogram must be that of the buckets. Times are
processor time of one report, the least of several rounds in turns. Verifying is all that one server
does: its first step, both servers' verifier shares together, its second step. Sizes are the shares'
own bytes, however they travel. These have no peer.

How elements are multiplied is compared: our compiled words with whole numbers of Python and of
gmpy2, where it is installed.
"""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sottovoce.errors import CheckFailedError
from sottovoce.privacy.vdaf.field import FIELD128
from sottovoce.privacy.vdaf.prio3 import Prio3Histogram, Prio3Report, VerifyState
from sottovoce_lab.bench.rows import SECONDS, BenchRow, Work, bench_row, best_times, optional_module

BUCKETS, CHUNK_LENGTH = 20, 4
PEER = "none"
_row = partial(bench_row, "vdaf")
_KEY = bytes(range(32))
_PRODUCTS = 2000
_PACE = 300
"""Reports a second that a server must verify on one core."""


def bench_vdaf(reports: int, *, seconds: float = SECONDS) -> list[BenchRow]:
    """Shard, verify, the pace that follows, bytes, and products of elements."""
    buckets = [place % BUCKETS for place in range(reports)]
    ours = _Ours.from_buckets(buckets)
    if ours.counts() != np.bincount(buckets, minlength=BUCKETS).tolist():
        raise CheckFailedError("Prio3 does not count what was reported: nothing to measure.")
    return [*_time_rows(ours, seconds), _size_row(ours), *_product_rows(seconds)]


@dataclass(frozen=True)
class _Ours:
    """Reports, and the second server's first step for each (``helper``).

    That step is made beforehand: what is timed is the first server alone, the leader.
    """

    histogram: Prio3Histogram
    buckets: list[int]
    reports: list[Prio3Report]
    helper: list[tuple[VerifyState, bytes]]

    @classmethod
    def from_buckets(cls, buckets: list[int]) -> "_Ours":
        histogram = Prio3Histogram(BUCKETS, CHUNK_LENGTH, context=b"bench")
        reports = [histogram.shard(bucket) for bucket in buckets]
        return cls(histogram, buckets, reports, _begin_verifying(histogram, reports, 1))

    def shard(self) -> object:
        return [self.histogram.shard(bucket) for bucket in self.buckets]

    def verify(self) -> list[bytes]:
        """The leader's output shares."""
        begun = _begin_verifying(self.histogram, self.reports, 0)
        return [
            self.histogram.verify_next(state, self.histogram.verifier_message([share, other]))
            for (state, share), (_, other) in zip(begun, self.helper, strict=True)
        ]

    def counts(self) -> list[int]:
        outputs = self.verify(), [state.output_share for state, _ in self.helper]
        return self.histogram.unshard([self.histogram.aggregate(each) for each in outputs])


def _begin_verifying(
    histogram: Prio3Histogram, reports: Sequence[Prio3Report], place: int
) -> list[tuple[VerifyState, bytes]]:
    return [
        histogram.verify_init(_KEY, place, each.nonce, each.public_share, each.input_shares[place])
        for each in reports
    ]


def _time_rows(ours: _Ours, seconds: float) -> list[BenchRow]:
    reports = len(ours.buckets)
    works: dict[str, Work] = {"shard": ours.shard, "verify": ours.verify}
    best = best_times(works, seconds=seconds, clock=time.process_time)
    each = {name: 1000 * best[name] / reports for name in works}
    case = f"{BUCKETS} buckets, chunk length {CHUNK_LENGTH}, {reports:,} reports"
    rows = [_row(f"{name} a report, {case}", "ms", each[name], PEER, None) for name in works]
    pace, asked = 1000 / each["verify"], f"asked for {_PACE}/s"
    return [*rows, _row(f"verified on one core, {case}", "reports/s", pace, asked, _PACE)]


def _size_row(ours: _Ours) -> BenchRow:
    case = f"bytes a report, {BUCKETS} buckets, chunk length {CHUNK_LENGTH}, without nonce"
    return _row(case, "bytes", ours.reports[0].size, PEER, None)


def _product_rows(seconds: float) -> list[BenchRow]:
    """Products of elements of Field128, added up."""
    p, chance = FIELD128.modulus, random.Random(0)  # noqa: S311 - numbers to multiply, no secret
    left, right = ([chance.randrange(p) for _ in range(_PRODUCTS)] for _ in range(2))
    first, second = FIELD128.elements(left), FIELD128.elements(right)
    works: dict[str, Work] = {"ours": lambda: FIELD128.dot(first, second)}
    works["Python's int"] = lambda: _dot(left, right, p)
    whole = optional_module("gmpy2")
    if whole is not None:
        fast_left, fast_right = ([whole.mpz(each) for each in numbers] for numbers in (left, right))
        works["gmpy2's mpz"] = lambda: _dot(fast_left, fast_right, whole.mpz(p))
    best = best_times(works, seconds=seconds, clock=time.process_time)
    speed = {name: _PRODUCTS / best[name] / 1e6 for name in works}
    case = f"products in Field128, vectors of {_PRODUCTS:,}"
    return [
        _row(case, "millions/s", speed["ours"], name, speed.get(name))
        for name in ("Python's int", "gmpy2's mpz")
    ]


def _dot(left: Sequence[Any], right: Sequence[Any], p: Any) -> Any:  # noqa: ANN401 - either's numbers
    total = 0
    for a, b in zip(left, right, strict=True):
        total = (total + a * b) % p
    return total
