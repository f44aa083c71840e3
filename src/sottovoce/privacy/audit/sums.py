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

The audit of a share of noise: its table, its law, and that it is fresh at every draw.

The table is checked as the geometric sampler's are, entry by entry against decimal's own functions.
Draws must have the law of a share in all values (chi-square), no block of them may come a second
time within or between calls, and no run of draws under one key. The chance that a sound share fails
any of these is `LEVEL` at most for each.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.sparse import csr_array

from sottovoce.privacy.audit._reuse import DRAWS, audit_runs, unlikely_length
from sottovoce.privacy.audit.black_box import (
    FALSE_ALARM,
    ScoreTally,
    bound_by,
    bound_finding,
    lacks_power,
)
from sottovoce.privacy.audit.findings import AuditReport, Finding, repeated_blocks
from sottovoce.privacy.audit.lines import LEVEL
from sottovoce.privacy.audit.sampler import check_sampler
from sottovoce.privacy.exact import float_up
from sottovoce.privacy.opened_noise import SharesLaw
from sottovoce.privacy.randomness import SystemKeystream
from sottovoce.privacy.shares import NoiseShare, share_sampler

_CALLS = 3
_SAMPLES = 1 << 20
_LEAST_EXPECTED = 20.0
_BINS = 500


def audit_share(share: NoiseShare, *, number: int = DRAWS) -> AuditReport:
    """Audit what ``share`` draws against the law that its parameters claim.

    ``number`` draws of one key are looked through for runs that come again.

    >>> audit_share(NoiseShare(epsilon=1, norm=4, among=3), number=1 << 20).holds
    True
    """
    sampler = share_sampler(share.rate, share.among)
    law = SharesLaw(share.rate, shares=1, among=share.among)
    draws = [share.draw(_SAMPLES) for _ in range(_CALLS)]
    likeliest = float(sampler.table.boundaries[0]) / 2.0**64
    findings = (
        check_sampler(sampler),
        law_of_noise(np.concatenate(draws), law),
        fresh_noise(draws, law),
        audit_runs(
            unlikely_length(likeliest, number),
            lambda wanted: sampler.draw(wanted, SystemKeystream()),
            number,
        ),
    )
    return AuditReport(findings)


def law_of_noise(noise: NDArray[np.signedinteger], law: SharesLaw) -> Finding:
    """The chi-square test of all values against P(Z = z), rare ones on each side together."""
    name = "law of the noise"
    tails = law.at_least(np.arange(1, law.reach + 1))
    reach = int(np.count_nonzero(tails * noise.size > _LEAST_EXPECTED))
    if not reach:
        return Finding(name, holds=True, detail="too few cells to test any value")
    inner = law.probability(np.arange(1 - reach, reach))
    tail = float(law.at_least(reach))
    expected = noise.size * np.concatenate([[tail], inner, [tail]])
    seen = np.bincount(np.clip(noise, -reach, reach) + reach, minlength=2 * reach + 1)
    starts = _full_bins(expected)
    seen, expected = np.add.reduceat(seen, starts), np.add.reduceat(expected, starts)
    chance = float(stats.chisquare(seen, expected * (seen.sum() / expected.sum())).pvalue)
    return Finding(
        name,
        holds=chance >= LEVEL,
        detail=f"{noise.size} cells: a chance of {chance:.2g} for values as far from the law",
    )


def _full_bins(expected: NDArray[np.float64]) -> list[int]:
    """Where bins start: about `_BINS` at most; the last expects enough, having the tail."""
    least = max(_LEAST_EXPECTED, float(expected.sum()) / _BINS)
    starts, filled = [0], 0.0
    for i, number in enumerate(expected.tolist()):
        if filled >= least:
            starts.append(i)
            filled = 0.0
        filled += number
    return starts


def fresh_noise(draws: list[NDArray[np.int64]], law: SharesLaw) -> Finding:
    """Look for blocks that come again, long enough never to do so by chance."""
    number = sum(noise.size for noise in draws)
    length = unlikely_length(law.most_common, number)
    if 2 * length > number:
        return Finding("fresh noise", holds=True, detail="noise is too rare to see it come again")
    return repeated_blocks(draws, length)


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
        findings.append(_bound_sum(name, experiment, float_up(share.epsilon), trials, tight))
    return AuditReport(tuple(findings))


def _documents(norm: int) -> dict[str, list[int]]:
    """Vectors of L1 norm S: in one cell, and over several."""
    width = min(norm, _WIDEST)
    spread = [norm * (i + 1) // width - norm * i // width for i in range(width)]
    found = {"a document in one cell": [norm]}
    return found if width == 1 else found | {f"a document over {width} cells": spread}


def _bound_sum(
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
    def _documents_at_once(self) -> int:
        """How many documents one sum tries."""
        return max(1, self.cells // self.vector.size)

    def tally(self, trials: int) -> ScoreTally:
        """At least ``trials`` documents, with and without."""
        sums = ceil(trials / self._documents_at_once)
        left = _add_draws([self._scores(present=True) for _ in range(sums)])
        right = _add_draws([self._scores(present=False) for _ in range(sums)])
        return ScoreTally(left, right, sums * self._documents_at_once)

    def _scores(self, *, present: bool) -> NDArray[np.int64]:
        """How often each step of L was seen in one sum, from the lowest to the highest."""
        out = np.atleast_2d(self.opened(self._votes(present)))
        documents = out[:, : self._documents_at_once * self.vector.size].reshape(
            -1, self.vector.size
        )
        score = sum(table[self._place(documents[:, i])] for i, table in enumerate(self._tables))
        steps = np.asarray(score).reshape(len(out), self._documents_at_once).sum(axis=0)
        reach = _STEPS * len(out)
        return np.bincount(_step(steps, reach), minlength=2 * reach + 1)

    def _votes(self, present: bool) -> csr_array:
        width, number = self.vector.size, self._documents_at_once if present else 0
        values = np.tile(self.vector, number)
        starts = np.arange(number + 1) * width
        shape = (number, self._documents_at_once * width)
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


def _add_draws(tallies: list[NDArray[np.int64]]) -> NDArray[np.int64]:
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
