"""Checks on noise that is known cell by cell: what was published, less counts that are known.

All of it must be independent draws of the two-sided geometric law, whatever is true of a cell. So
cells are put into classes by all that could tell them apart before the noise was drawn: their true
count and those around it, row, column, place, draw (`findings`). In a class of n cells, an event of
chance p (a value, a tail, a remainder) is seen k times with a chance of at most

    2 exp(-n KL(k/n || p)),

and a sum of |Z| over them that is n x, of the law at the rate at which E|Z| = x, with a chance of
at most 2 exp(-n KL(that law || the law)): Chernoff's bounds, which hold for any n. A class is told
when its bound is below the level over all events and classes looked at, so that sound noise fails
with a chance of `LEVEL` at most. That noise is shared is looked for in `_reuse`.

Where a threshold cut a cell, what it hid is filled in by the law, given that it was below: sound
noise is then the law's again, and everything above is asked of it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from sottovoce.arrays import Floats
from sottovoce.privacy.audit._reuse import audit_reuse, fractions, unlike_before
from sottovoce.privacy.audit.findings import CellClasses, Finding, Known, by_count, classes_of
from sottovoce.privacy.audit.lines import LEVEL
from sottovoce.privacy.noise_law import NoiseLaw

_EXACT, _GROWTH, _FARTHEST = 64, 1.15, 45.0
_EQUAL, _DIVISORS = 12, (2, 3, 4, 5, 7, 8, 10, 16, 32, 64)
_FAMILIES = 8
_TINY = 1e-300
_MOST_LINES = 640


def audit_law(known: Known, parts: int = 1) -> list[Finding]:
    """Whether noise that is ``known`` is what its rate gives; ``parts`` share the level."""
    level = LEVEL / _FAMILIES / parts
    law = Events(float(known.rate))
    codes = law.codes(known.noise)
    families: dict[str, list[CellClasses]] = {}
    for classes in classes_of(known):
        families.setdefault(classes.family, []).append(classes)
    found = [_of_family(name, law, codes, known, each, level) for name, each in families.items()]
    return [*found, _audit_relations(known, law, level), *audit_reuse(known, level)]


def audit_together(known: Sequence[Known], parts: int = 1) -> list[Finding]:
    """The same of all noise at one rate, however it was drawn: for what is rare, or comes again."""
    noise, truth = (np.concatenate(each)[:, None] for each in zip(
        *((each.noise.ravel(), each.truth.ravel()) for each in known), strict=True
    ))  # fmt: skip
    level, law = LEVEL / _FAMILIES / parts, Events(float(known[0].rate))
    one = Known(noise, truth, known[0].rate, truth, np.zeros(noise.size, np.int64))
    found = _of_family("all noise together", law, law.codes(noise), one, by_count(truth), level)
    return [found, unlike_before(one, level)]


@dataclass(frozen=True)
class WorstClass:
    """What is farthest from the law: how surprising it is, in nats, and what it is."""

    nats: float = 0.0
    told: str = "nothing"
    looked_at: int = 0

    def finding(self, name: str, level: float) -> Finding:
        """Whether chance may give it."""
        most = log(max(1, self.looked_at) * 2 / level)
        return Finding(
            name,
            holds=bool(self.nats <= most),
            detail=f"{self.told}: {self.nats:.1f} nats from the law, where the largest of "
            f"{self.looked_at} may be {most:.1f}",
        )


class Events:
    """The values of a draw in bins, and events made of bins with their chances."""

    def __init__(self, rate: float) -> None:
        self.law = NoiseLaw(rate)
        beyond = _EXACT * _GROWTH ** np.arange(1, max(2.0, np.log(_FARTHEST / rate / _EXACT) * 8))
        self.edges = np.concatenate([np.arange(1, _EXACT + 1), beyond.astype(np.int64)])
        self.size = 2 * self.edges.size + 1

    def codes(self, noise: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bin of each draw."""
        bins = np.searchsorted(self.edges, np.abs(noise), side="right")
        return np.asarray(np.sign(noise) * bins + self.edges.size, np.int64)

    @cached_property
    def chances(self) -> Floats:
        """How likely each bin is."""
        above = self.law.at_least(self.edges)
        side = above - np.append(above[1:], 0)
        return np.concatenate([side[::-1], [self.law.most_common], side])

    @cached_property
    def events(self) -> dict[str, NDArray[np.bool_]]:
        """Which bins each event is made of."""
        middle = self.edges.size
        bins = np.arange(self.size) - middle
        found = {f"= {v}": bins == v for v in range(-_EQUAL, _EQUAL + 1)}
        last, above = 2.0, self.law.at_least(self.edges)
        for place, edge in enumerate(self.edges.tolist(), 1):
            if above[place - 1] <= last / 2:
                last = above[place - 1]
                tails = {f">= {edge}": bins >= place, f"<= -{edge}": bins <= -place}
                found |= {**tails, f"of {edge} or more": abs(bins) >= place}
        exact = np.abs(bins) < _EXACT
        found |= {f"divisible by {m}": exact & (bins % m == 0) for m in _DIVISORS}
        return found

    @cached_property
    def matrix(self) -> Floats:
        """The events as columns over the bins."""
        return np.column_stack(list(self.events.values())).astype(np.float64)

    def surprises(self, seen: Floats, number: Floats, events: Floats) -> Floats:
        """Give n KL(k/n || p) for k seen of n, for each of the ``events`` (columns)."""
        likely, unlikely = self.chances @ events, self.chances @ (1 - events)
        rest = number - seen
        share = np.maximum(number, 1)
        return np.asarray(
            xlogy(seen, seen / share / np.maximum(likely, _TINY))
            + xlogy(rest, rest / share / np.maximum(unlikely, _TINY))
        )

    def spread(self, sums: Floats, number: Floats) -> Floats:
        """Give n KL of the law whose E|Z| is the mean of so many draws of such a sum of |Z|."""
        mean = sums / np.maximum(number, 1)
        root = np.sqrt(1 + mean * mean)
        alike = np.log((1 + root - mean) / (1 + root + mean)) - np.log(self.law.most_common)
        return np.asarray(number * (alike + xlogy(mean, mean / (1 + root)) + mean * self.law.rate))


def _of_family(
    name: str,
    law: Events,
    codes: NDArray[np.int64],
    known: Known,
    classes: Iterable[CellClasses],
    level: float,
) -> Finding:
    worst, looked_at = WorstClass(), 0
    sizes = np.abs(known.noise).ravel().astype(np.float64)
    for each in classes:
        labels = np.broadcast_to(each.labels, codes.shape).ravel()
        most = int(labels.max()) + 1
        table = np.bincount(labels * law.size + codes.ravel(), minlength=most * law.size)
        table = table.reshape(most, law.size)
        number = table.sum(axis=1).astype(np.float64)
        seen = table @ law.matrix
        nats = np.column_stack(
            [
                law.surprises(seen, number[:, None], law.matrix),
                law.spread(np.bincount(labels, sizes, most).astype(np.float64), number),
            ]
        )
        looked_at += nats.size
        label, event = np.unravel_index(int(nats.argmax()), nats.shape)
        if nats[label, event] > worst.nats:
            told = _describe_deviation(law, seen, sizes, labels == label, int(label), int(event))
            worst = WorstClass(float(nats[label, event]), f"{each.name_class(int(label))}: {told}")
    return WorstClass(worst.nats, worst.told, looked_at).finding(name, level)


def _describe_deviation(
    law: Events, seen: Floats, sizes: Floats, chosen: NDArray[np.bool_], label: int, event: int
) -> str:
    cells = int(chosen.sum())
    if event == len(law.events):
        expected = law.law.at_least(law.edges) @ np.diff(law.edges, append=law.edges[-1]) * 2
        return (
            f"in {cells} cells noise is {sizes[chosen].mean():.3g} in the mean, not {expected:.3g}"
        )
    due = cells * float(law.chances @ law.matrix[:, event])
    what, times = list(law.events)[event], int(seen[label, event])
    return f"noise {what} in {times} of {cells} cells, not {due:.1f}"


def _audit_relations(known: Known, law: Events, level: float) -> Finding:
    """No column's (or row's) noise depends on what another word's (or row's) counts are."""
    bins = np.arange(law.size) - law.edges.size
    events = np.column_stack([bins == 0, bins > 0, bins < 0, abs(bins) > 2 / law.law.rate])
    codes, chances = law.codes(known.noise), events.astype(np.float64)
    worst = WorstClass()
    looked_at = 0
    frequent = np.argsort(-(known.words > 0).sum(axis=0), kind="stable")[:_MOST_LINES]
    sides = [("column", codes[:, :_MOST_LINES], known.words[:, frequent])]
    if known.words.shape == codes.shape:
        sides.append(("row", codes[:_MOST_LINES].T, known.words[:_MOST_LINES].T))
    for line, noise, counts in sides:
        for what, held in (
            ("a count", counts > 0),
            ("an odd one", counts % 2 == 1),
            ("1", counts == 1),
        ):
            given = held.astype(np.float32)
            number = given.sum(axis=0, dtype=np.float64)
            for event in range(events.shape[1]):
                happened = events[:, event][noise].astype(np.float32)
                seen = (happened.T @ given).astype(np.float64)
                nats = law.surprises(seen[..., None], number[None, :, None], chances[:, [event]])
                looked_at += nats.size
                if nats.size and nats.max() > worst.nats:
                    one, other = np.unravel_index(int(nats.argmax()), nats.shape)[:2]
                    other = frequent[other] if line == "column" else other
                    told = f"noise of {line} {one} where {line} {other} has {what}"
                    worst = WorstClass(float(nats.max()), told)
    name = "noise that knows nothing of the counts"
    return WorstClass(worst.nats, worst.told, looked_at).finding(name, level)


def fill_dropped(
    published: NDArray[np.int64], truth: NDArray[np.int64], rate: Fraction, threshold: int | None
) -> NDArray[np.int64]:
    """The noise; where a threshold cut cells, theirs is filled in by the law."""
    if threshold is None:
        return published - truth
    law, r = NoiseLaw(float(rate)), float(rate)
    noise = published - truth
    below = (threshold - truth)[published == 0]
    uniform = np.maximum(fractions(below.shape), _TINY)
    deep = below - 1 - np.floor(np.log(uniform) / -r)
    share = uniform * (1 - law.at_least(np.maximum(below, 1)))
    odds = share * (1 + law.alpha)
    high = np.ceil(np.log(np.maximum((1 + law.alpha) * (1 - share), _TINY)) / -r) - 1
    shallow = np.where(odds <= 1, -np.floor(np.log(odds) / -r), high)
    noise[published == 0] = np.where(below <= 1, deep, np.minimum(shallow, below - 1))
    return noise
