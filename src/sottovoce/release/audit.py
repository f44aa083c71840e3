"""The audit of a release: its card's noise replayed, and a gross check on the draw itself.

How well the one draw that was published hides its documents cannot be tested, but that there is as
much noise in it as the card says can be, grossly (`audit_presence`). What holds for any counts: a
cell with count y comes out at y + Z, so that the number of cells that are not 0 is at least as
likely to be large as if all counts were 0 (P(y + Z = 0) <= P(Z = 0)). Of C cells

    non-zero cells  >=  Binomial(C, P(Z != 0))   in distribution,

and likewise from a threshold t on, P(y + Z >= t) >= P(Z >= t). Fewer refute the noise.

`CONTROLS` are negative controls: releases that break their promise in known ways, and must be
flagged. One of them draws under a known key, which no mechanism, estimator or command takes.
"""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray
from scipy import sparse, stats

from sottovoce.errors import ParameterError
from sottovoce.privacy.audit.black_box import audit_noise
from sottovoce.privacy.audit.findings import (
    AuditReport,
    Finding,
    audit_freshness,
    audit_lattice,
    audit_porous_support,
)
from sottovoce.privacy.audit.lines import Published, audit_lines
from sottovoce.privacy.audit.sampler import audit_mechanism
from sottovoce.privacy.exact import exact
from sottovoce.privacy.expected import zero_cell_chance
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.release.baselines import LaplaceBaseline
from sottovoce.release.card import ReleaseCard
from sottovoce.release.counts import Counts
from sottovoce.release.counts_file import CountsFile, ShardedRows
from sottovoce.release.folder import released_rows, verified_card
from sottovoce.release.settings import account
from sottovoce.release.trial import Draw, audit_whole_way, written_noise

FALSE_ALARM = 1e-9
# The work of an experiment grows with N squared; the rate it tests is the same at any N.
_LARGEST_N = 1000
_CLAIM = LimitedPrecision(2, 1)
# The paper's synthetic study.
_WORDS, _COLUMNS = 100, 10


def audit_release(folder: Path, *, trials: int | None = None) -> AuditReport:
    """Check the card and the files, then replay the card's mechanism on neighbours.

    How well the one draw that was published hides its documents cannot be tested: what can be is
    that there is noise in it, and that the card's noise keeps the card's promise. An unusable
    folder, or a card that contradicts itself, is an error, not a finding.
    """
    card = verified_card(folder)
    return audit_published(card, released_rows(folder, card), trials=trials)


def audit_published(
    card: ReleaseCard, counts: "Counts | CountsFile | ShardedRows", *, trials: int | None = None
) -> AuditReport:
    """The same for a card and counts that were found to belong together."""
    rate = exact(card.noise_rate, "noise_rate")
    noise = LimitedPrecision.at_rate(rate, n=min(card.guarantee.n, _LARGEST_N))
    replayed = audit_sampler(noise, threshold=card.threshold, trials=trials)
    match counts:
        case sparse.csr_array():
            seen = audit_cells(card, counts)
        case CountsFile():
            seen = audit_cells(card, counts.whole())
        case _:
            seen = counts.audit(card)
    return AuditReport((*seen.findings, *replayed.findings))


def audit_cells(card: ReleaseCard, counts: Counts, parts: int = 1) -> AuditReport:
    """What can be seen in the published counts themselves, whatever the documents were.

    ``parts``: of how many that are looked at these counts are one.
    """
    rate = exact(card.noise_rate, "noise_rate")
    presence = audit_presence(counts, rate, card.threshold, parts)
    published = Published(counts, rate, card.threshold, parts)
    return AuditReport((*presence.findings, *audit_lines(published)))


def audit_sampler(
    claim: LimitedPrecision,
    *,
    threshold: int | None = None,
    trials: int | None = None,
    others: dict[str, Draw] | None = None,
) -> AuditReport:
    """Audit noise at ``claim`` by the function that writes releases: what ``--sampler`` does.

    ``others`` are further functions that write releases, by their names.
    """
    mechanism = audit_mechanism(claim, threshold=threshold, trials=trials, written=written_noise)
    return AuditReport((*mechanism.findings, *audit_whole_way(claim.rate, threshold, others)))


def audit_presence(
    counts: sparse.csr_array, rate: Fraction, threshold: int | None = None, parts: int = 1
) -> AuditReport:
    """Refuse counts with fewer cells than noise at ``rate`` leaves of zeros alone.

    Nor may a zero be stored, nor what a threshold drops: they tell of a count before the noise.
    """
    cells = counts.shape[0] * counts.shape[1]
    chance = zero_cell_chance(rate, threshold)
    seen = int(counts.count_nonzero())
    least = int(stats.binom.ppf(FALSE_ALARM / parts, cells, chance))
    idle = int((counts.data == 0 if threshold is None else counts.data < threshold).sum())
    finding = Finding(
        name="noise in the published counts",
        holds=seen >= least and not idle,
        detail=f"{seen} of {cells} cells are not 0; noise alone leaves at least {least}; "
        f"{idle} cells that say nothing are stored, where counts may have been",
    )
    return AuditReport((finding,))


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


class FixedKeystream:
    """AES-256-CTR under the key that ``seed`` names: draws that repeat, never for a release."""

    def __init__(self, seed: int) -> None:
        self._cipher = Cipher(AES(seed.to_bytes(32, "big")), CTR(bytes(16))).encryptor()

    def fill(self, out: NDArray[np.uint8]) -> None:
        """Overwrite ``out`` with the next bytes of the keystream."""
        self._cipher.update_into(bytes(out.size), out.data)


class _ReusedKeystream(GeometricMechanism):
    """Every call and every thread under the same key."""

    _make_source = staticmethod(lambda: FixedKeystream(0))


CONTROLS: dict[str, Callable[[], AuditReport]] = {
    "paper-accounting": paper_accounting,
    "float-noise": float_noise,
    "reused-keystream": reused_keystream,
}
