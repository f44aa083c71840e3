"""The audit of a released folder, by its card."""

from pathlib import Path

from sottovoce.release.audit.result import AuditReport, Finding
from sottovoce.release.audit.sampler import audit_mechanism
from sottovoce.release.card import Card
from sottovoce.release.exact import exact, text_up
from sottovoce.release.folder import verified_card
from sottovoce.release.guarantee import LimitedPrecision

# The work of an experiment grows with N squared; the rate it tests is the same at any N.
_LARGEST_N = 1000


def audit_release(folder: Path, *, trials: int | None = None) -> AuditReport:
    """Check the card and the files, then replay the card's mechanism on neighbours.

    The one draw that was published cannot be tested: what can be is that the card's noise keeps
    the card's promise. An unusable folder is an error, not a finding.
    """
    card = verified_card(folder)
    n = min(card.guarantee.n, _LARGEST_N)
    noise = LimitedPrecision.at_rate(exact(card.noise_rate, "noise_rate"), n=n)
    mechanism = audit_mechanism(noise, trials=trials)
    return AuditReport((_arithmetic(card), *mechanism.findings))


def _arithmetic(card: Card) -> Finding:
    """Noise and frequencies together must cost what the guarantee says, and no less."""
    spent = exact(card.noise_rate, "noise_rate") + exact(card.prior["rate"], "rate")
    return Finding(
        name="the card's arithmetic",
        holds=spent <= card.guarantee.rate,
        detail=f"noise and frequencies cost {text_up(spent)} nats per word, "
        f"claimed {text_up(card.guarantee.rate)}",
    )
