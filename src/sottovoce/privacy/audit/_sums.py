"""Lower bounds on the epsilon of a noised sum, through whatever code opens it.

A document is a vector u of L1 norm S in cells of its own; it takes part or does not. The attacker
knows all else, the shares of who colludes too, and orders what is opened by

    L = sum over its cells of  ln P(Z = out - u) - ln P(Z = out)

with Z the noise of the shares that it does not know. On an event {L >= t}, picked on draws of its
own, epsilon >= ln(P(event | with) / P(event | without)) is bounded from below with Clopper-Pearson
limits. Many documents, each in cells of its own, are tried by one opening: the noise of the cells
is independent, which the chi-square test and the search for repeated blocks would refute.

All that is given out for one payment counts as one outcome: where a sum can be asked for again, L
is added up over the answers. The same answer again tells nothing more; fresh noise under the same
payment is averaged away, and the bound says so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sottovoce.privacy.audit.black_box import (
    FALSE_ALARM,
    ScoreTally,
    bound_by,
    bound_finding,
    lacks_power,
)
from sottovoce.privacy.audit.findings import AuditReport, Finding
from sottovoce.privacy.audit.shares import fresh_noise, law_of_noise
from sottovoce.privacy.exact import float_up
from sottovoce.privacy.shares.share import NoiseShare
from sottovoce.privacy.shares.total import SharesLaw

Document = TypeVar("Document")
Opened: TypeAlias = Callable[[csr_array], NDArray[np.int64]]
"""Votes in, a row for each document that takes part; what one payment opens out.

That is a total for each cell, less what the attacker knows to be in it; a row for each answer where
the sum was asked for several times.
"""

TRIALS = 1 << 18
# A small epsilon differs little from a slightly larger one: it takes more trials to see.
_SMALL_CLAIM = 1.0
_SMALL_CLAIM_TRIALS = 1 << 20
_LEAST_POWERFUL_CLAIM = 0.5
CELLS = 1 << 17
# Over more cells the same epsilon takes many more trials to see.
_WIDEST = 2
# L is counted in so many steps from 0 to epsilon.
_STEPS = 64


def audit_sum(
    share: NoiseShare,
    opened: Opened,
    *,
    unknown: int | None = None,
    trials: int | None = None,
    cells: int = CELLS,
    documents: Mapping[str, Sequence[int]] | None = None,
) -> AuditReport:
    """Try the epsilon of ``share`` on the sums that ``opened`` opens, each of about ``cells``.

    ``unknown`` says how many shares in them the attacker does not know, by default as many as are
    counted on. Only with these, a claim of 0.5 to 5 and the usual number of ``trials`` is the bound
    asked to come near the claim. ``documents`` are the vectors to try, by name, where votes cannot
    be any.

    >>> share = NoiseShare(epsilon=1, norm=2, among=3)
    >>> def opened(votes, peers=3):
    ...     return votes.sum(axis=0) + sum(share.draw(votes.shape[1]) for _ in range(peers))
    >>> audit_sum(share, opened, trials=1 << 16).holds
    True
    >>> audit_sum(share, lambda votes: opened(votes, peers=2), trials=1 << 16).holds
    False
    """
    known_law = SharesLaw(share.rate, shares=unknown or share.among, among=share.among)
    empty: csr_array = csr_array((0, cells), dtype=np.int64)
    noise = [np.atleast_2d(opened(empty))[0] for _ in range(2)]
    tight = known_law.shape == 1 and trials is None
    findings = [law_of_noise(np.concatenate(noise), known_law), fresh_noise(noise, known_law)]
    for name, vector in (documents or _documents(share.norm)).items():
        experiment = _Experiment(opened, known_law, np.array(vector), cells)
        findings.append(_bounded(name, experiment, float_up(share.epsilon), trials, tight))
    return AuditReport(tuple(findings))


def _documents(norm: int) -> dict[str, list[int]]:
    """Vectors of L1 norm S: in one cell, and over several."""
    width = min(norm, _WIDEST)
    spread = [norm * (i + 1) // width - norm * i // width for i in range(width)]
    found = {"a document in one cell": [norm]}
    return found if width == 1 else found | {f"a document over {width} cells": spread}


def _bounded(
    name: str, experiment: "_Experiment", epsilon: float, trials: int | None, tight: bool
) -> Finding:
    usual = _SMALL_CLAIM_TRIALS if epsilon < _SMALL_CLAIM else TRIALS
    bound = bound_by(experiment.tally, trials or usual, FALSE_ALARM / 2)
    powerful = tight and epsilon >= _LEAST_POWERFUL_CLAIM
    return bound_finding(name, bound, epsilon, weak=powerful and lacks_power(bound, epsilon))


@dataclass(frozen=True)
class _Experiment:
    """Sums with many documents of one vector each in its own cells, and sums with none."""

    opened: Opened
    law: SharesLaw
    vector: NDArray[np.int64]
    cells: int

    @cached_property
    def _together(self) -> int:
        """How many documents one sum tries."""
        return max(1, self.cells // self.vector.size)

    def tally(self, trials: int) -> ScoreTally:
        """At least ``trials`` documents, with and without."""
        sums = ceil(trials / self._together)
        left = _added([self._scores(present=True) for _ in range(sums)])
        right = _added([self._scores(present=False) for _ in range(sums)])
        return ScoreTally(left, right, sums * self._together)

    def _scores(self, *, present: bool) -> NDArray[np.int64]:
        """How often each step of L was seen in one sum, from the lowest to the highest."""
        out = np.atleast_2d(self.opened(self._votes(present)))
        documents = out[:, : self._together * self.vector.size].reshape(-1, self.vector.size)
        score = sum(table[self._place(documents[:, i])] for i, table in enumerate(self._tables))
        steps = np.asarray(score).reshape(len(out), self._together).sum(axis=0)
        reach = _STEPS * len(out)
        return np.bincount(_step(steps, reach), minlength=2 * reach + 1)

    def _votes(self, present: bool) -> csr_array:
        width, number = self.vector.size, self._together if present else 0
        values = np.tile(self.vector, number)
        starts = np.arange(number + 1) * width
        shape = (number, self._together * width)
        return csr_array((values, np.arange(values.size), starts), shape=shape)

    def _place(self, out: NDArray[np.int64]) -> NDArray[np.int64]:
        reach = self.law.reach
        return np.clip(out, -reach, reach) + reach

    @cached_property
    def _tables(self) -> list[NDArray[np.float64]]:
        """For each cell of the vector L by what was opened, in steps."""
        z = np.arange(-self.law.reach, self.law.reach + 1)
        norm = int(self.vector.sum())
        unit = _STEPS / (float(self.law.rate) * norm)
        return [unit * (self._log(z - u) - self._log(z)) for u in self.vector]

    def _log(self, z: NDArray[np.int64]) -> NDArray[np.float64]:
        inside = np.clip(z, -self.law.reach, self.law.reach)
        beyond = np.abs(z - inside) * float(self.law.rate)
        return np.asarray(np.log(self.law.probability(inside)) - beyond)


def _step(score: NDArray[np.float64], reach: int) -> NDArray[np.int64]:
    return np.clip(np.rint(score), -reach, reach).astype(np.int64) + reach


def _added(tallies: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.asarray(np.sum(tallies, axis=0))


def audit_votes(
    documents: Sequence[Document],
    summed: Callable[[Sequence[Document]], NDArray[np.integer]],
    norm: int,
    *,
    tried: int = 20,
) -> AuditReport:
    """Removing any of ``documents`` must change their sum by exactly its own vector, of norm <= S.

    ``summed`` gives the sum of the vectors that a peer with these documents would send, without
    noise. Documents evenly over the list are tried, ``tried`` of them at most.

    >>> count = lambda rows: np.bincount(rows, minlength=5)
    >>> audit_votes([0, 3, 3, 1], count, norm=1).holds
    True
    >>> audit_votes([0, 3, 3, 1], lambda rows: count(rows) * len(rows), norm=1).holds
    False
    """
    total = summed(documents)
    places = range(0, len(documents), max(1, len(documents) // tried))
    changes = [total - summed([*documents[:i], *documents[i + 1 :]]) for i in places]
    own = [summed([documents[i]]) for i in places]
    wrong = sum(not np.array_equal(a, b) for a, b in zip(changes, own, strict=True))
    above = sum(int(np.abs(change).sum()) > norm for change in changes)
    return AuditReport(
        (
            Finding(
                name="a document's vote is its own",
                holds=wrong == 0,
                detail=f"{wrong} of {len(places)} changed the sum by another vector than theirs",
            ),
            Finding(
                name="no document casts more than its votes",
                holds=above == 0,
                detail=f"{above} of {len(places)} changed the sum by more than {norm}",
            ),
        )
    )
