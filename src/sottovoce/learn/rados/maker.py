"""Making rados so that no party gets both their signatures and their clear values.

Whoever knows the signatures and about m clear rados solves for the examples exactly, and sparse
text falls to far fewer (tests show both). So signatures are sealed: they can be applied, not read.
The owner of examples applies them to its own rows and gives away clear rados without signatures
(`RadoMaker`); an intermediary applies its own to ciphertexts only (`SealedSignatures` refuses
clear rows of anybody but an owner). The paper's arrangement is there by its name only.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import ParameterError
from sottovoce.learn.examples import Floats, LeakError, Rows, checked_rows, checked_signs
from sottovoce.learn.rados.definition import all_signatures, rademacher_observations
from sottovoce.privacy.randomness import random_bytes

if TYPE_CHECKING:  # rados in the clear need no gmpy2
    from sottovoce.learn.paillier import EncryptedArray

PaperMode: TypeAlias = Literal["paper: whoever gets both reconstructs the examples"]
PAPER_MODE: PaperMode = "paper: whoever gets both reconstructs the examples"


def fresh_signatures(number: int, examples: int) -> NDArray[np.int8]:
    """Uniform signatures from the operating system's randomness."""
    bits = np.unpackbits(np.frombuffer(random_bytes(-(-number * examples // 8)), np.uint8))
    return (2 * bits[: number * examples].reshape(number, examples).astype(np.int8)) - np.int8(1)


class SealedSignatures:
    """Signatures that can be applied but not read, printed, copied or sent."""

    __slots__ = ("_signatures",)

    def __init__(self, number: int, examples: int) -> None:
        _check_number(number)
        self._signatures = fresh_signatures(number, examples)

    @property
    def shape(self) -> tuple[int, int]:
        """How many rados they make, of how many examples."""
        return self._signatures.shape

    def combined(self, ciphertexts: "EncryptedArray") -> "EncryptedArray":
        """Sums of encrypted rows with these signs; what is clear has no such method."""
        return ciphertexts.combined(self._signatures, weight=self.shape[1])

    def added(self, labels: "EncryptedArray") -> "EncryptedArray":
        """Each signature plus the encrypted labels, a row for each rado."""
        return labels.reshape(1, -1).plus_integers(self._signatures, bound=1)

    def __repr__(self) -> str:
        """Their number only."""
        number, examples = self.shape
        return f"<{number} sealed signatures of {examples} examples>"

    def __reduce__(self) -> NoReturn:
        raise LeakError("sealed signatures must not leave their maker.")


class RadoMaker:
    """The owner of examples, who makes rados of them and gives the rados away, never the rest."""

    def __init__(self, rows: Rows, labels: ArrayLike) -> None:
        self._rows = checked_rows(rows)
        self._signs = checked_signs(labels, len(self._rows))

    def __repr__(self) -> str:
        """The size of what it holds only."""
        return f"<maker of rados from {len(self._rows)} examples>"

    def __reduce__(self) -> NoReturn:
        raise LeakError("a maker of rados must not leave its process: it holds the examples.")

    def sampled(self, number: int) -> Floats:
        """Clear rados under fresh signatures, which are forgotten at once."""
        _check_number(number)
        signatures = fresh_signatures(number, len(self._rows))
        return rademacher_observations(self._rows, self._signs, signatures)

    def all(self) -> Floats:
        """All 2^m rados, in an order that says nothing; for at most 20 examples.

        Together they determine the examples' second moments, as `sums` of the examples would.
        """
        rados = rademacher_observations(self._rows, self._signs, all_signatures(len(self._rows)))
        order = np.frombuffer(random_bytes(8 * len(rados)), np.uint64).argsort()
        return rados[order]

    def with_signatures(self, number: int, *, mode: PaperMode) -> "PaperRados":
        """Clear rados with their signatures: the paper's leak, for reproducing it."""
        if mode != PAPER_MODE:
            raise LeakError(
                f'signatures and clear rados go together only with mode="{PAPER_MODE}".'
            )
        _check_number(number)
        signatures = fresh_signatures(number, len(self._rows))
        return PaperRados(rademacher_observations(self._rows, self._signs, signatures), signatures)


@dataclass(frozen=True, repr=False)
class PaperRados:
    """What a party of the paper's pipeline may hold: enough to reconstruct the examples."""

    rados: Floats
    signatures: NDArray[np.int8]


def _check_number(number: int) -> None:
    if number < 1:
        raise ParameterError(f"the number of rados must be >= 1, got {number}.")
