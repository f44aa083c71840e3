"""What an audit found, and two checks on any noise: that it is fresh, and on the integers.

A `Finding` is a small value that prints and says whether a claim survives it; an `AuditReport`
holds when all of its findings do. Noise that is drawn from a reused keystream shows as blocks that
repeat (`audit_freshness`). Floating-point noise has a porous support, in which single outputs give
a neighbour away outright (`audit_lattice`, `audit_porous_support`).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce._notebook import html_table

_CHANCE_OF_A_REPEAT = 1e-12
_CALLS = 3
_SAMPLES = 1 << 20
_OUTPUTS = 2000


@dataclass(frozen=True)
class Finding:
    """One check: what was claimed, what was seen, and whether the claim survives it."""

    name: str
    holds: bool
    detail: str
    claim: float | None = None
    bound: float | None = None
    is_figure: bool = False
    """Whether it is no check, but a figure that whoever answers for the release should know."""

    @property
    def tightness(self) -> float | None:
        """The lower bound on epsilon as a share of the claim: near 1, the check was powerful."""
        if self.claim is None or self.bound is None:
            return None
        return self.bound / self.claim

    def by(self, way: str) -> "Finding":
        """The same finding, with the way in which the noise was drawn in its name."""
        return replace(self, name=f"{self.name} ({way})")

    def __str__(self) -> str:
        return f"{'holds' if self.holds else 'FAILS'}  {self.name}: {self.detail}"


@dataclass(frozen=True)
class AuditReport:
    """The findings of one audit; it holds when each of them does.

    >>> print(AuditReport((Finding("noise is there", True, "seen in 3 of 3 rows"),)))
    holds  noise is there: seen in 3 of 3 rows
    """

    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether no check contradicts the claim."""
        return all(finding.holds for finding in self.findings)

    def _repr_html_(self) -> str:
        rows = [
            {"check": each.name, "holds": each.holds, "detail": each.detail}
            for each in self.findings
        ]
        return html_table(rows, "The claim holds" if self.holds else "The claim is refuted")

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self.findings)


def together(reports: Sequence[AuditReport]) -> AuditReport:
    """Each check once: as it failed first, or as the first part passed it."""
    if len(reports) == 1:
        return reports[0]
    merged = []
    for same in zip(*(report.findings for report in reports), strict=True):
        told = next((finding for finding in same if not finding.holds), same[0])
        merged.append(replace(told, detail=f"of {len(same)} parts, one: {told.detail}"))
    return AuditReport(tuple(merged))


def audit_freshness(
    rate: Fraction, draw: Callable[[int], NDArray[np.signedinteger]]
) -> AuditReport:
    """Look for repeated blocks within and between several calls of ``draw``."""
    draws = (draw(_SAMPLES) for _ in range(_CALLS))
    return AuditReport((repeated_blocks(draws, block_length(rate)),))


def repeated_blocks(draws: Iterable[NDArray[np.signedinteger]], length: int) -> Finding:
    """Look for blocks of ``length`` draws that stand twice in any of ``draws``."""
    blocks = [block for noise in draws for block in _blocks(noise, length)]
    repeated = len(blocks) - len(set(blocks))
    return Finding(
        name="fresh noise",
        holds=repeated == 0,
        detail=f"{repeated} of {len(blocks)} blocks of {length} draws were seen before",
    )


def block_length(rate: Fraction) -> int:
    """How long a block must be never to repeat by chance: a power of two.

    Two draws agree with probability sum p^2 = ((1-a)/(1+a))^2 (1+a^2)/(1-a^2); a block of that
    many draws repeats among B blocks with probability at most B^2/2 (sum p^2)^length.
    """
    alpha = math.exp(-float(rate))
    agree = ((1 - alpha) / (1 + alpha)) ** 2 * (1 + alpha**2) / (1 - alpha**2)
    pairs = (_CALLS * _SAMPLES) ** 2 / 2
    wanted = math.log(_CHANCE_OF_A_REPEAT / pairs) / math.log(agree)
    return min(_SAMPLES // 4, 1 << math.ceil(math.log2(max(wanted, 2))))


def _blocks(noise: NDArray[np.signedinteger], length: int) -> list[bytes]:
    whole = noise[: noise.size // length * length].reshape(-1, length)
    return [row.tobytes() for row in whole]


class FloatNoise(Protocol):
    """Noise in floating point whose draws can be enumerated."""

    def release(self, counts: NDArray[np.integer]) -> NDArray[np.float64]:
        """Noised counts."""

    def reachable(self, outputs: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
        """Which outputs some draw gives from ``count``."""


def audit_lattice(noise: Callable[[NDArray[np.int64]], NDArray[np.generic]]) -> AuditReport:
    """Integer counts must come out as integers: then the support is the same for all of them."""
    kind = noise(np.zeros(_OUTPUTS, dtype=np.int64)).dtype.kind
    finding = Finding(
        name="support on the integers",
        holds=kind in "iu",
        detail="outputs are integers" if kind in "iu" else "outputs are floating-point numbers",
    )
    return AuditReport((finding,))


def audit_porous_support(noise: FloatNoise, count: int = 1, neighbour: int = 0) -> AuditReport:
    """Count outputs of ``count`` that ``neighbour`` can never give: each is an infinite epsilon."""
    outputs = noise.release(np.full(_OUTPUTS, count, dtype=np.int64))
    own = noise.reachable(outputs, count)
    betraying = int(np.count_nonzero(own & ~noise.reachable(outputs, neighbour)))
    finding = Finding(
        name="support shared by neighbours",
        holds=betraying == 0,
        detail=f"{betraying} of {_OUTPUTS} outputs cannot come from the neighbour",
    )
    return AuditReport((finding,))
