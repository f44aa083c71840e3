"""The whole audit of the noise at one claim: tables, experiments, fresh bits."""

from sottovoce.release.audit.black_box import audit_noise
from sottovoce.release.audit.freshness import audit_freshness
from sottovoce.release.audit.result import AuditReport
from sottovoce.release.audit.support import audit_lattice
from sottovoce.release.audit.tables import audit_tables
from sottovoce.release.exact import Exact, positive
from sottovoce.release.guarantee import LimitedPrecision
from sottovoce.release.mechanism import GeometricMechanism


def audit_mechanism(
    claim: LimitedPrecision, *, noise_rate: Exact | None = None, trials: int | None = None
) -> AuditReport:
    """Audit noise at ``noise_rate`` (by default the claim's own) against ``claim``.

    A released folder is audited by the claim and the noise rate on its card, since the one draw
    that was published cannot be tested.
    """
    rate = claim.rate if noise_rate is None else positive(noise_rate, "noise_rate")
    mechanism = GeometricMechanism(rate)
    reports = (
        audit_tables([rate]),
        audit_lattice(mechanism.dense),
        audit_freshness(rate, mechanism.noise),
        audit_noise(claim, mechanism.dense, trials=trials),
    )
    return AuditReport(tuple(finding for report in reports for finding in report.findings))
