"""Guarantees, exact noise and its randomness, the ledger, and audits of samplers.

Begin with `guarantee`: what is promised, as a value. `mechanism` draws the noise that keeps it, by
the exact `sampler` of the `_laws` (tables of proven probabilities) and bits of `randomness`;
`shares` draws it in parts, by several parties, whole only in their sum.
The `ledger` spends before anything is drawn, and `audit` tries to refute what is claimed.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "AuditReport",
    "GeometricMechanism",
    "Ledger",
    "LimitedPrecision",
    "LocalPrivacy",
    "NoGuarantee",
    "NoiseShare",
    "SharesLaw",
    "SpendRequest",
    "WholeDocument",
    "audit_mechanism",
    "audit_noise",
    "compose_counts",
    "compose_disjoint",
    "compose_overlapping",
]

if TYPE_CHECKING:
    from sottovoce.privacy.audit.black_box import audit_noise
    from sottovoce.privacy.audit.findings import AuditReport
    from sottovoce.privacy.audit.sampler import audit_mechanism
    from sottovoce.privacy.guarantee import (
        LimitedPrecision,
        LocalPrivacy,
        NoGuarantee,
    )
    from sottovoce.privacy.ledger.accounts import SpendRequest
    from sottovoce.privacy.ledger.ledger import Ledger
    from sottovoce.privacy.mechanism import GeometricMechanism
    from sottovoce.privacy.opened_noise import SharesLaw
    from sottovoce.privacy.shares import NoiseShare
    from sottovoce.privacy.whole_document import (
        WholeDocument,
        compose_counts,
        compose_disjoint,
        compose_overlapping,
    )
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "AuditReport": "sottovoce.privacy.audit.findings",
            "GeometricMechanism": "sottovoce.privacy.mechanism",
            "Ledger": "sottovoce.privacy.ledger.ledger",
            "LimitedPrecision": "sottovoce.privacy.guarantee",
            "LocalPrivacy": "sottovoce.privacy.guarantee",
            "NoGuarantee": "sottovoce.privacy.guarantee",
            "NoiseShare": "sottovoce.privacy.shares",
            "SharesLaw": "sottovoce.privacy.opened_noise",
            "SpendRequest": "sottovoce.privacy.ledger.accounts",
            "WholeDocument": "sottovoce.privacy.whole_document",
            "audit_mechanism": "sottovoce.privacy.audit.sampler",
            "audit_noise": "sottovoce.privacy.audit.black_box",
            "compose_counts": "sottovoce.privacy.whole_document",
            "compose_disjoint": "sottovoce.privacy.whole_document",
            "compose_overlapping": "sottovoce.privacy.whole_document",
        },
        extra="release",
    )
