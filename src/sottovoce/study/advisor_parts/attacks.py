"""What a server that keeps all reports finds out about somebody whose bucket does not change."""

import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.advisor.rank.client import RankClient
from sottovoce.advisor.rank.description import Description
from sottovoce.advisor.rank.one_hot import MOST_REACH, OneHotNoise
from sottovoce.study.advisor_parts.crowds import TOPIC
from sottovoce.study.result import Row

PERIODS = 52


def attacked(epsilon: Fraction, buckets: int, people: int, seed: int = 0) -> list[Row]:
    """How often adding up reports finds the bucket: kept for ever, drawn anew, and unclamped."""
    bits = OneHotNoise(epsilon, buckets)
    unclamped = OneHotNoise(epsilon, buckets, reach=MOST_REACH)
    generator = np.random.default_rng(seed)
    true = generator.integers(buckets, size=people)
    kept = bits.reports(true)
    cases = {
        "kept, 1 period": kept,
        f"kept, {PERIODS} periods": kept * PERIODS,
        f"drawn anew, {PERIODS} periods": _summed(bits, true),
        f"drawn anew and not clamped, {PERIODS} periods": _summed(unclamped, true),
    }
    return [
        {"case": case, "people": people, "found": _found(total, true, generator)}
        for case, total in cases.items()
    ]


def _summed(noise: OneHotNoise, true: NDArray[np.int64]) -> NDArray[np.int64]:
    total = np.zeros((true.size, noise.buckets), dtype=np.int64)
    for _ in range(PERIODS):
        total += noise.reports(true)
    return total


def _found(
    total: NDArray[np.int64], true: NDArray[np.int64], generator: np.random.Generator
) -> float:
    """The share of people whose largest entry, ties broken by lot, is that of their bucket."""
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
