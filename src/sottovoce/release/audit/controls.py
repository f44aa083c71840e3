"""Negative controls: releases that break their promise in known ways, and must be flagged."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from sottovoce.errors import ParameterError
from sottovoce.release.accounting import account
from sottovoce.release.audit.black_box import audit_noise
from sottovoce.release.audit.fixed import FixedKeystream
from sottovoce.release.audit.freshness import audit_freshness
from sottovoce.release.audit.result import AuditReport
from sottovoce.release.audit.support import audit_lattice, audit_porous_support
from sottovoce.release.baselines.laplace import LaplaceBaseline
from sottovoce.release.guarantee import LimitedPrecision
from sottovoce.release.mechanism import GeometricMechanism

_CLAIM = LimitedPrecision(2, 1)
# The paper's synthetic study.
_WORDS, _COLUMNS = 100, 10


class _ReusedKeystream(GeometricMechanism):
    """Every call and every thread under the same key."""

    _make_source = staticmethod(lambda: FixedKeystream(0))


def audit_control(name: str) -> AuditReport:
    """Run the control ``name``; its report must not hold."""
    if name not in CONTROLS:
        raise ParameterError(f"control must be one of {', '.join(CONTROLS)}.")
    return CONTROLS[name]()


def paper_accounting() -> AuditReport:
    """The per-entry budget M epsilon / K, claimed as epsilon (paper, section 4)."""
    accounted = account(_CLAIM, "paper", words=_WORDS, columns=_COLUMNS)
    noisy = GeometricMechanism(accounted.noise_rate)
    return audit_noise(_CLAIM, noisy.dense, trials=1 << 19)


def float_noise() -> AuditReport:
    """Laplace noise in double precision."""
    laplace = LaplaceBaseline(rate=float(_CLAIM.rate))
    findings = audit_porous_support(laplace).findings + audit_lattice(laplace.release).findings
    return AuditReport(findings)


def reused_keystream() -> AuditReport:
    """The exact sampler, fed the same random bits twice."""
    rate = Fraction(1, 2)
    noisy = _ReusedKeystream(rate)
    return audit_freshness(rate, lambda number: noisy.noise(number).astype(np.int64))


CONTROLS: dict[str, Callable[[], AuditReport]] = {
    "paper-accounting": paper_accounting,
    "float-noise": float_noise,
    "reused-keystream": reused_keystream,
}
