"""Simulated people: their scores, the buckets of these, and where each truly stands.

Also what a server that keeps all reports finds out about those whose bucket does not change.
"""

import tempfile
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.advisor.rank.client import RankClient
from sottovoce.advisor.rank.description import Buckets, Description, Mode, RankedTopic
from sottovoce.advisor.rank.histogram import BANDS, REST, band_of
from sottovoce.advisor.rank.noise import Noised, OneHotNoise
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.report.result import Row

TOPIC = "topic"
BAND_NAMES = (*(f"top {band}%" for band in BANDS), REST)
# Most people hardly touch a topic; some do much.
_EXPOSED = 0.07


@dataclass(frozen=True, eq=False)
class BucketedCrowd:
    """People by bucket; everybody in a bucket counts as tied."""

    buckets: NDArray[np.int64]
    scores: NDArray[np.float64]
    counts: NDArray[np.int64]

    @property
    def people(self) -> int:
        """How many there are."""
        return self.buckets.size

    @property
    def at_least(self) -> NDArray[np.int64]:
        """How many people are in bucket k or higher, k = 0 to B."""
        return np.append(np.cumsum(self.counts[::-1])[::-1], 0)

    @cached_property
    def bands_by_score(self) -> NDArray[np.int64]:
        """The place in `BAND_NAMES` of each person's band, by their exact score."""
        positions = np.argsort(np.argsort(-self.scores)) + 1
        return np.searchsorted(np.array(BANDS) * self.people, positions * 100, side="left")

    def band(self, bucket: int) -> str:
        """The true band of everybody in ``bucket``."""
        return band_of(int(self.at_least[bucket]), self.people)


def crowd(people: int, rules: Description, seed: int) -> BucketedCrowd:
    """Scores between 0 and 1, drawn from two Beta laws."""
    generator = np.random.default_rng(seed)
    exposed = generator.random(people) < _EXPOSED
    scores = np.where(exposed, generator.beta(5, 6, people), generator.beta(1.2, 9, people))
    edges = rules.topic(TOPIC).buckets.edges
    buckets = np.searchsorted(edges, scores, side="right")
    return BucketedCrowd(buckets, scores, np.bincount(buckets, minlength=len(edges) + 1))


def rules_for(mode: Mode, epsilon: Fraction, buckets: int) -> Description:
    """The server's rules: even buckets between 0 and 1."""
    ranked = RankedTopic(TOPIC, "lda", Buckets.even(0, 1, buckets))
    return Description(mode, epsilon, (ranked,))


PERIODS = 52


def attacked(epsilon: Fraction, buckets: int, people: int, seed: int = 0) -> list[Row]:
    """How often adding up reports finds the bucket: kept for ever, drawn again, and unclamped."""
    bits = OneHotNoise(epsilon, buckets)
    generator = np.random.default_rng(seed)
    true = generator.integers(buckets, size=people)
    kept = bits.reports(true)
    cases = {
        "kept, 1 period": kept,
        f"kept, {PERIODS} periods": kept * PERIODS,
        f"drawn again, {PERIODS} periods": _sum_periods(bits.add_noise, true, buckets),
        f"drawn again and not clamped, {PERIODS} periods": _sum_periods(
            GeometricMechanism(bits.guarantee.rate).dense, true, buckets
        ),
    }
    return [
        {"case": case, "people": people, "found": _found(total, true, generator)}
        for case, total in cases.items()
    ]


def _sum_periods(noised: Noised, true: NDArray[np.int64], buckets: int) -> NDArray[np.int64]:
    one_hot = np.eye(buckets, dtype=np.int64)[true]
    total = np.zeros_like(one_hot)
    for _ in range(PERIODS):
        total += noised(one_hot)
    return total


def _found(
    total: NDArray[np.int64], true: NDArray[np.int64], generator: np.random.Generator
) -> float:
    """The share of people whose largest entry, ties broken by chance, is that of their bucket."""
    guesses = np.argmax(total + generator.random(total.shape), axis=1)
    return float(np.mean(guesses == true))


class _Deaf:
    """A server that only listens: it keeps what is sent, and a period passes with each report."""

    def __init__(self, rules: Description) -> None:
        self._rules = rules
        self.heard: list[tuple[int, ...]] = []

    def call(self, method: str, path: str, body: Any = None) -> Any:  # noqa: ANN401, ARG002 - JSON
        if body is None:
            return self._rules.record() | {"period": len(self.heard)}
        self.heard.append(tuple(body["entries"]))
        return {"stored": True}


def heard_over_periods(rules: Description) -> int:
    """How many different reports a server hears from one unchanged person over all periods."""
    server = _Deaf(rules)
    with tempfile.TemporaryDirectory() as folder:
        client = RankClient(server, Path(folder), budget=rules.epsilon)
        for _ in range(PERIODS):
            client.report(TOPIC, 0.5)
        client.close()
    return len(set(server.heard))
