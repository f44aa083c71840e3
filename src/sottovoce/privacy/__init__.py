"""Guarantees, exact noise and its randomness, the ledger, and audits of samplers.

Begin with `_guarantee`: what is promised, as a value. `_mechanism` draws the noise that keeps it,
by the exact `_sampler` of the `_laws` (tables of proven probabilities) and bits of `_randomness`;
`shares` draws it in parts, by several parties, whole only in their sum.
The `ledger` spends before anything is drawn, and `audit` tries to refute what is claimed.
"""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

__all__ = [
    "Account",
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
    from sottovoce.privacy._composition import (
        compose_counts,
        compose_disjoint,
        compose_overlapping,
    )
    from sottovoce.privacy._guarantee import (
        LimitedPrecision,
        LocalPrivacy,
        NoGuarantee,
    )
    from sottovoce.privacy._mechanism import GeometricMechanism
    from sottovoce.privacy._whole_document import WholeDocument
    from sottovoce.privacy.audit._black_box import audit_noise
    from sottovoce.privacy.audit._findings import AuditReport
    from sottovoce.privacy.audit._sampler import audit_mechanism
    from sottovoce.privacy.ledger._accounts import Account, SpendRequest
    from sottovoce.privacy.ledger._ledger import Ledger
    from sottovoce.privacy.shares._share import NoiseShare
    from sottovoce.privacy.shares._total import SharesLaw
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Account": "sottovoce.privacy.ledger._accounts",
            "AuditReport": "sottovoce.privacy.audit._findings",
            "GeometricMechanism": "sottovoce.privacy._mechanism",
            "Ledger": "sottovoce.privacy.ledger._ledger",
            "LimitedPrecision": "sottovoce.privacy._guarantee",
            "LocalPrivacy": "sottovoce.privacy._guarantee",
            "NoGuarantee": "sottovoce.privacy._guarantee",
            "NoiseShare": "sottovoce.privacy.shares._share",
            "SharesLaw": "sottovoce.privacy.shares._total",
            "SpendRequest": "sottovoce.privacy.ledger._accounts",
            "WholeDocument": "sottovoce.privacy._whole_document",
            "audit_mechanism": "sottovoce.privacy.audit._sampler",
            "audit_noise": "sottovoce.privacy.audit._black_box",
            "compose_counts": "sottovoce.privacy._composition",
            "compose_disjoint": "sottovoce.privacy._composition",
            "compose_overlapping": "sottovoce.privacy._composition",
        },
        extra="release",
    )
