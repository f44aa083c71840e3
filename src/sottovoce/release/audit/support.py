"""Whether outputs give a neighbour away outright: the porous support of floating-point noise."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.release.audit.result import AuditReport, Finding

_OUTPUTS = 2000


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
