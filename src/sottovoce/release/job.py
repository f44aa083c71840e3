"""A release from beginning to end: spend, draw, keep, unpack.

The order makes crashes harmless: the ledger commits the spend before noise is drawn and keeps
what was drawn, so that the same request, made again, gives the same bytes and never new noise.
"""

import hashlib
import json
import shutil
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import InputError, LedgerError, ParameterError
from sottovoce.files import check_folder, nearest_folder
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.accounts import SpendRequest
from sottovoce.privacy.ledger.ledger import Ledger, Spend
from sottovoce.release.card import ReleaseCard, make_card
from sottovoce.release.folder import (
    CARD_FILE,
    needs_spark,
    publish_bundle,
    released_card,
    verified_card,
    write_bundle,
)
from sottovoce.release.groups import labels_digest
from sottovoce.release.inputs import VOUCHED, CountedDocuments, CountsElsewhere
from sottovoce.release.plan import Released, ReleasePlan, Sized

# A count and its column, in the uncompressed archive that the ledger keeps; and in a shard.
_BYTES_PER_CELL, _BYTES_PER_SHARD_CELL = 12, 4


@dataclass(frozen=True, eq=False)
class Job:
    """Documents to release by a plan.

    ``declared`` names what the data chose and the caller declares; ``label`` tells apart two
    releases that are otherwise the same, for whoever wants to spend twice.
    """

    documents: CountedDocuments
    plan: ReleasePlan
    declared: tuple[str, ...] = ()
    label: str = ""

    def __post_init__(self) -> None:
        """Refuse what could only fail once the spend is committed."""
        documents, maps = self.documents.counts.shape[0], self.plan.settings.maps
        if maps > documents:
            raise ParameterError(f"maps must be at most one per document, {documents}, got {maps}.")

    @cached_property
    def request(self) -> SpendRequest:
        """What is asked of the ledger; the same job is the same request."""
        guarantee = LimitedPrecision.at_rate(self.plan.guarantee.rate, n=self.plan.guarantee.n)
        return SpendRequest(
            self._fingerprint(),
            self.documents.corpus,
            guarantee,
            documents=self.documents.documents,
            others=VOUCHED in self.declared,
        )

    def card(self, spend: int | None) -> ReleaseCard:
        """The release's card, but for the hashes of its files."""
        return make_card(
            self.plan,
            self.documents.vocabulary,
            documents=self.documents.counts.shape[0],
            documents_per_user=self.documents.per_user,
            declared=self.declared,
            spend=spend,
            labels=self.documents.labels,
            grouping=self.documents.grouping,
        )

    def _fingerprint(self) -> str:
        settings, vocabulary = self.plan.settings, self.documents.vocabulary
        plain = {
            name: str(value)
            for name, value in vars(settings).items()
            if name not in {"embedding", "frequencies", "guarantee"}
        }
        facts = {
            **plain,
            # What frequencies would have cost is no part of a release that buys none.
            "prior_share": str(settings.prior_rate),
            "guarantee": str((settings.guarantee.n, settings.guarantee.epsilon)),
            "frequencies": _digest(settings.frequencies),
            "map": _digest(self._embedded_words()),
            "vocabulary": (vocabulary.fingerprint, vocabulary.data_dependent, vocabulary.origin),
            "counts": self._counts(),
            "corpus": self.documents.corpus,
            "per_user": self.documents.per_user,
            "declared": self.declared,
            "label": self.label,
        }
        # Named only where there are some: the requests of earlier releases stay what they were.
        if self.documents.labels is not None:
            facts["labels"] = labels_digest(self.documents.labels)
        if self.documents.grouping is not None:
            facts["groups"] = self.documents.grouping.facts(self.documents.groups)
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    def _embedded_words(self) -> NDArray[np.float64] | None:
        embedding = self.plan.settings.embedding
        return None if embedding is None else embedding.lookup(self.plan.vocabulary)[0]

    def _counts(self) -> list[str | None]:
        """What is released follows from the corpus and every rule that was applied to it."""
        counts = self.documents.counts
        if isinstance(counts, CountsElsewhere):
            return list(counts.digests)
        # In 64 bits each, whatever scipy chose for a matrix of this size.
        parts = (counts.data, counts.indices, counts.indptr)
        return [_digest(part.astype(np.int64, copy=False)) for part in parts]

    def draw(self) -> Released:
        """Draw noise here, for counts that are here."""
        if isinstance(self.documents.counts, CountsElsewhere):
            raise InputError("these counts are on a cluster; draw there.")
        return self.plan.draw(self.documents.counts)


def _digest(array: NDArray[np.generic] | None) -> str | None:
    return None if array is None else hashlib.sha256(array.tobytes()).hexdigest()


def release_to_folder(job: Job, ledger: Ledger, folder: Path) -> ReleaseCard:
    """Spend, draw once, and put the release into ``folder``.

    Raises `BudgetError`, with nothing spent or drawn, when the budget does not allow it.
    """
    request = ledger.key_names(job.request)
    check_folder(folder)
    refuse_another_release(folder, job, ledger.find(request))
    check_room(folder, ledger.path.parent, job.plan, job.documents.counts)
    spend = ledger.commit(request)
    note = ledger.drawing_file(spend)

    def draw(path: Path) -> None:
        if note.exists():
            # A cluster died over the same request.
            with needs_spark():
                from sottovoce_spark import sharded_job  # noqa: PLC0415 - another distribution
            sharded_job.clear_attempt(note, sharded_job.local_store_at)
        draw_bundle(path, job, spend.id)

    stored = ledger.release(request, draw)
    if stored.output is not None:
        publish_bundle(stored.output.path, folder)
    card = verified_card(folder)
    if replace(card, files={}) != job.card(spend.id):
        raise LedgerError("the stored output is not what was asked for; do not publish it.")
    return card


def draw_bundle(path: Path, job: Job, spend: int | None) -> None:
    """Draw ``job`` into the one file that is kept of it: every release, and every audit of one."""
    released = job.draw()
    documents = job.documents
    public = documents.labels, documents.public_ids
    write_bundle(path, released, documents.vocabulary, job.card(spend), *public)


def refuse_another_release(folder: Path | None, job: Job, own: Spend | None) -> None:
    """What lies in ``folder`` may have been published: only the same release may be put there."""
    if folder is None or not (folder / CARD_FILE).exists():
        return
    if own is None or replace(released_card(folder), files={}) != job.card(own.id):
        raise InputError(
            f"{folder} holds another release; give another folder, or remove that one first."
        )


def check_room(folder: Path | None, outputs: Path, plan: ReleasePlan, counts: Sized) -> None:
    """Refuse before anything is spent what the disk could not hold, in the ledger's folder too."""
    cells = plan.expected_nonzeros(counts)
    if isinstance(counts, CountsElsewhere):
        # Shards are kept once, where they are written.
        places = [] if folder is None else [nearest_folder(folder)]
        needed = cells * _BYTES_PER_SHARD_CELL
    else:
        places = [nearest_folder(outputs), *([] if folder is None else [nearest_folder(folder)])]
        shared = len({place.stat().st_dev for place in places}) < len(places)
        needed = cells * _BYTES_PER_CELL * (1 + shared)
    free = min((shutil.disk_usage(place).free for place in places), default=needed)
    if free < needed:
        raise InputError(
            f"the release needs about {_in_bytes(needed)} of disk, {_in_bytes(free)} are free; "
            "nothing was spent or released."
        )


def _in_bytes(number: int) -> str:
    """So many bytes, in the largest unit of which there is one."""
    units = ("bytes", "kB", "MB", "GB", "TB")
    place = min(len(units) - 1, (len(str(number)) - 1) // 3)
    return f"{number / 1000**place:.1f} {units[place]}" if place else f"{number} bytes"
