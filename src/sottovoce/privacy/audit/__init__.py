"""Checks that the noise keeps its promise, and that the checks would notice if it did not.

`_sampler` is the whole audit of the noise at one claim; `_black_box` bounds epsilon from below by
experiment, and `_findings` is what an audit returns, with the checks on repeated and porous noise.
`_shares` audits a party's share of noise, and `_sums` what a sum of such shares opens.
`_lines` asks of published counts what holds for any documents. `_law` tests noise that is known,
because the counts are, in all `_classes` of cells, `_reuse` looks in it for noise that is shared,
and `_repeats` for draws of one key that come again.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "AuditReport",
    "Finding",
    "audit_mechanism",
    "audit_noise",
    "audit_share",
    "audit_sum",
    "audit_votes",
]

if TYPE_CHECKING:
    from sottovoce.privacy.audit._sums import audit_sum, audit_votes
    from sottovoce.privacy.audit.black_box import audit_noise
    from sottovoce.privacy.audit.findings import AuditReport, Finding
    from sottovoce.privacy.audit.sampler import audit_mechanism
    from sottovoce.privacy.audit.shares import audit_share
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "AuditReport": "sottovoce.privacy.audit.findings",
            "Finding": "sottovoce.privacy.audit.findings",
            "audit_mechanism": "sottovoce.privacy.audit.sampler",
            "audit_noise": "sottovoce.privacy.audit.black_box",
            "audit_share": "sottovoce.privacy.audit.shares",
            "audit_sum": "sottovoce.privacy.audit._sums",
            "audit_votes": "sottovoce.privacy.audit._sums",
        },
        extra="release",
    )
