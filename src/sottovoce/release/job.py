"""A release from beginning to end: spend, draw, keep, unpack.

The order makes crashes harmless: the ledger commits the spend before noise is drawn and keeps
what was drawn, so that the same request, made again, gives the same bytes and never new noise.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from sottovoce.release.card import Card, make_card
from sottovoce.release.documents import Documents
from sottovoce.release.folder import unpack_bundle, verified_card, write_bundle
from sottovoce.release.guarantee import LimitedPrecision
from sottovoce.release.ledger import Account, Ledger, Request
from sottovoce.release.plan import Plan


@dataclass(frozen=True, eq=False)
class Job:
    """Documents to release by a plan.

    ``declared`` names what the data chose and the caller owns up to; ``label`` tells apart two
    releases that are otherwise the same, for whoever wants to spend twice.
    """

    documents: Documents
    plan: Plan
    declared: tuple[str, ...] = ()
    label: str = ""

    @property
    def request(self) -> Request:
        """What is asked of the ledger; the same job is the same request."""
        guarantee = LimitedPrecision.at_rate(self.plan.guarantee.rate, n=self.plan.guarantee.n)
        return Request(self._fingerprint(), self.documents.corpus, guarantee)

    def card(self, spend: int | None) -> Card:
        """The release's card, but for the hashes of its files."""
        return make_card(
            self.plan,
            self.documents.vocabulary,
            documents=self.documents.counts.shape[0],
            documents_per_user=self.documents.per_user,
            declared=self.declared,
            spend=spend,
        )

    def _fingerprint(self) -> str:
        settings = self.plan.settings
        frequencies = settings.frequencies
        facts = {
            **{name: str(value) for name, value in vars(settings).items() if name != "embedding"},
            "guarantee": str((settings.guarantee.n, settings.guarantee.epsilon)),
            "frequencies": None if frequencies is None else frequencies.tobytes().hex(),
            "vocabulary": self.documents.vocabulary.fingerprint,
            "corpus": self.documents.corpus,
            "per_user": self.documents.per_user,
            "label": self.label,
        }
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def release_to_folder(job: Job, ledger: Ledger, folder: Path) -> Card:
    """Spend, draw once, and put the release into ``folder``.

    Raises `BudgetError`, with nothing spent or drawn, when the budget does not allow it.
    """
    spend = ledger.commit(job.request)

    def draw(path: Path) -> None:
        released = job.plan.draw(job.documents.counts)
        write_bundle(path, released, job.documents.vocabulary, job.card(spend.id))

    stored = ledger.release(job.request, draw)
    if stored.output is not None:
        unpack_bundle(stored.output.path, folder)
    return verified_card(folder)


def open_account(ledger: Ledger, job: Job, budget: LimitedPrecision | None) -> Account:
    """The account of the job's corpus; a new ledger gives it ``budget``, or just this release's.

    A ledger that knows other corpora but not this one needs the budget said outright.
    """
    known = {account.corpus for account in ledger.accounts()}
    if job.documents.corpus not in known and (budget is not None or not known):
        ledger.set_budget(job.documents.corpus, budget or job.request.guarantee)
    elif budget is not None:
        ledger.set_budget(job.documents.corpus, budget)
    return ledger.account(job.documents.corpus)
