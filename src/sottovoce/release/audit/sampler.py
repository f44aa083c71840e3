"""The whole audit of the noise at one claim: tables, experiments, fresh bits.

Experiments go through the two ways in which noise reaches counts: the sparse one, which releases
use, and the dense one of the constant-work mode.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sottovoce.release.audit.black_box import audit_noise
from sottovoce.release.audit.freshness import audit_freshness
from sottovoce.release.audit.result import AuditReport, Finding
from sottovoce.release.audit.support import audit_lattice
from sottovoce.release.audit.tables import audit_tables
from sottovoce.release.exact import Exact, positive
from sottovoce.release.guarantee import LimitedPrecision
from sottovoce.release.mechanism import GeometricMechanism

Noise: TypeAlias = Callable[[NDArray[np.int64]], NDArray[np.int64]]

_COLUMNS = 64
# With a threshold most of what the noise says is dropped: a check that it is there, not how tight.
_THRESHOLD_TRIALS = 1 << 18


def audit_mechanism(
    claim: LimitedPrecision,
    *,
    noise_rate: Exact | None = None,
    threshold: int | None = None,
    trials: int | None = None,
) -> AuditReport:
    """Audit noise at ``noise_rate`` (by default the claim's own) against ``claim``.

    A released folder is audited by the claim, the noise rate and the threshold on its card, since
    the one draw that was published cannot be tested.
    """
    rate = claim.rate if noise_rate is None else positive(noise_rate, "noise_rate")
    mechanism = GeometricMechanism(rate)
    released = partial(_as_released, mechanism)
    findings = list(audit_tables([rate], 2 if threshold is None else threshold).findings)
    findings += _experiments(claim, rate, released, trials)
    constant_work = _experiments(claim, rate, mechanism.dense, trials)
    findings += [finding.by("constant work") for finding in constant_work]
    if threshold is not None:
        cut = partial(_as_released, mechanism, threshold=threshold)
        report = audit_noise(claim, cut, trials=trials or _THRESHOLD_TRIALS)
        findings += [finding.by(f"from {threshold} on") for finding in report.findings]
    return AuditReport(tuple(findings))


def _experiments(
    claim: LimitedPrecision, rate: Fraction, noise: Noise, trials: int | None
) -> list[Finding]:
    reports = (
        audit_lattice(_on_rows(noise)),
        audit_freshness(rate, partial(_noise_alone, noise)),
        audit_noise(claim, noise, trials=trials),
    )
    return [finding for report in reports for finding in report.findings]


def _as_released(
    mechanism: GeometricMechanism, counts: NDArray[np.int64], threshold: int | None = None
) -> NDArray[np.int64]:
    """Noise on ``counts`` by the way that a release takes."""
    return np.asarray(mechanism.sparse(csr_array(counts), threshold=threshold).toarray())


def _noise_alone(noise: Noise, number: int) -> NDArray[np.int64]:
    return noise(np.zeros((number // _COLUMNS, _COLUMNS), dtype=np.int64)).ravel()


def _on_rows(noise: Noise) -> Noise:
    return lambda counts: noise(counts.reshape(-1, 1))
