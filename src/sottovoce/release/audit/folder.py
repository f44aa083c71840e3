"""The audit of a released folder, by its card."""

from pathlib import Path

from scipy import sparse

from sottovoce.release.audit.presence import audit_presence
from sottovoce.release.audit.result import AuditReport
from sottovoce.release.audit.sampler import audit_mechanism
from sottovoce.release.card import Card
from sottovoce.release.counts import Counts
from sottovoce.release.exact import exact
from sottovoce.release.folder import COUNTS_FILE, verified_card
from sottovoce.release.guarantee import LimitedPrecision

# The work of an experiment grows with N squared; the rate it tests is the same at any N.
_LARGEST_N = 1000


def audit_release(folder: Path, *, trials: int | None = None) -> AuditReport:
    """Check the card and the files, then replay the card's mechanism on neighbours.

    How well the one draw that was published hides its documents cannot be tested: what can be is
    that there is noise in it, and that the card's noise keeps the card's promise. An unusable
    folder, or a card that contradicts itself, is an error, not a finding.
    """
    card = verified_card(folder)
    counts = sparse.csr_array(sparse.load_npz(folder / COUNTS_FILE))
    return audit_published(card, counts, trials=trials)


def audit_published(card: Card, counts: Counts, *, trials: int | None = None) -> AuditReport:
    """The same for a card and counts that were found to belong together."""
    rate = exact(card.noise_rate, "noise_rate")
    noise = LimitedPrecision.at_rate(rate, n=min(card.guarantee.n, _LARGEST_N))
    presence = audit_presence(counts, rate, card.threshold)
    mechanism = audit_mechanism(noise, threshold=card.threshold, trials=trials)
    return AuditReport((*presence.findings, *mechanism.findings))
