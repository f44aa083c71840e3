"""Guarantees, exact noise and its randomness, the ledger, and audits of samplers.

Begin with `guarantee`: what is promised, as a value. `mechanism` draws the noise that keeps it, by
the exact `sampler` of the `_laws` (tables of proven probabilities) and bits of `randomness`;
`shares` draws it in parts, by several parties, whole only in their sum.
The `ledger` spends before anything is drawn, and `audit` tries to refute what is claimed.
"""

from sottovoce.lazy import TYPE_CHECKING, attach

if TYPE_CHECKING:
    from sottovoce.privacy.audit.black_box import audit_noise as audit_noise
    from sottovoce.privacy.audit.findings import AuditReport as AuditReport
    from sottovoce.privacy.audit.sampler import audit_mechanism as audit_mechanism
    from sottovoce.privacy.guarantee import LimitedPrecision as LimitedPrecision
    from sottovoce.privacy.guarantee import LocalPrivacy as LocalPrivacy
    from sottovoce.privacy.guarantee import NoGuarantee as NoGuarantee
    from sottovoce.privacy.ledger.accounts import SpendRequest as SpendRequest
    from sottovoce.privacy.ledger.ledger import Ledger as Ledger
    from sottovoce.privacy.mechanism import GeometricMechanism as GeometricMechanism
    from sottovoce.privacy.opened_noise import SharesLaw as SharesLaw
    from sottovoce.privacy.shares import NoiseShare as NoiseShare
    from sottovoce.privacy.whole_document import WholeDocument as WholeDocument
    from sottovoce.privacy.whole_document import compose_counts as compose_counts
    from sottovoce.privacy.whole_document import compose_disjoint as compose_disjoint
    from sottovoce.privacy.whole_document import compose_overlapping as compose_overlapping
else:
    __getattr__, __dir__ = attach(__name__, extra="release")
