"""Counting what nobody sees: Prio3 of draft-irtf-cfrg-vdaf, by which servers add up secret shares.

Each report comes with a proof that both servers check together, so that a client can change a
histogram by one valid bucket and by nothing else, and no server alone learns which one. Begin with
`_prio3`, the steps; `_circuits` says what is valid, `_proof` proves it, `_messages` are the bytes;
beneath lie `_xof` on `_keccak`, and `_field` on `_modular` with `_polynomials`. No module does I/O.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = ["Prio3Count", "Prio3Histogram", "Prio3Report", "Prio3SumVec", "VerifyState"]

if TYPE_CHECKING:
    from sottovoce.privacy.vdaf._messages import Prio3Report, VerifyState
    from sottovoce.privacy.vdaf._prio3 import Prio3Count, Prio3Histogram, Prio3SumVec
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Prio3Count": "sottovoce.privacy.vdaf._prio3",
            "Prio3Histogram": "sottovoce.privacy.vdaf._prio3",
            "Prio3SumVec": "sottovoce.privacy.vdaf._prio3",
            "Prio3Report": "sottovoce.privacy.vdaf._messages",
            "VerifyState": "sottovoce.privacy.vdaf._messages",
        },
        extra="release",
    )
