"""Whether noise is drawn anew: a reused keystream shows as blocks of noise that repeat."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sottovoce.release.audit.result import AuditReport, Finding

_CHANCE_OF_A_REPEAT = 1e-12
_CALLS = 3
_SAMPLES = 1 << 20


def audit_freshness(
    rate: Fraction, draw: Callable[[int], NDArray[np.signedinteger]]
) -> AuditReport:
    """Look for repeated blocks within and between several calls of ``draw``."""
    length = block_length(rate)
    blocks = [block for _ in range(_CALLS) for block in _blocks(draw(_SAMPLES), length)]
    repeated = len(blocks) - len(set(blocks))
    finding = Finding(
        name="fresh noise",
        holds=repeated == 0,
        detail=f"{repeated} of {len(blocks)} blocks of {length} draws were seen before",
    )
    return AuditReport((finding,))


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
