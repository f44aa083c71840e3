"""A release that many draw, from beginning to end: spend, draw, list, keep, publish.

1. The ledger commits the spend.
2. Where the shards will lie is noted beside the ledger. Then what all noise follows from is drawn:
   the secret, the public maps, the frequencies that were bought. It is in memory alone.
3. Workers write their shards where the release is to lie. A shard that is written twice, by
   whichever attempt of a task, has the same noise (``privacy._repeatable``).
4. The shards are listed with their hashes. The ledger keeps the list, the card and all else but the
   counts themselves.
5. The list and the rest are put beside the shards, the card last and in one step. Until then there
   is no release, whatever lies in the folder.

A driver that dies before 4 takes the secret with it, and leaves shards that are none's. The same
request removes them, by the note, and only then draws, without spending: of what can be read, there
is never a second noise. After 4 it only goes on with 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from sottovoce.arrays import Floats
from sottovoce.errors import InputError, LedgerError
from sottovoce.privacy.ledger import Ledger, Spend
from sottovoce.privacy.repeatable import noise_secret
from sottovoce.release._attempt import clear_attempt, new_attempt
from sottovoce.release.card import ReleaseCard, read_card
from sottovoce.release.compression import WordMap
from sottovoce.release.counts import Counts
from sottovoce.release.folder import (
    CARD_FILE,
    WHERE_FILE,
    opened_bundle,
    small_parts,
    write_parts,
)
from sottovoce.release.job import Job
from sottovoce.release.plan import ReleasePlan, maps_of
from sottovoce.release.shards import SHARDS_FILE, Shard, listed
from sottovoce.release.stores import (
    ReleaseStore,
    check_found,
    publish_bundle,
    shards_in,
    unfinished,
)


@dataclass(frozen=True, eq=False)
class Drawing:
    """What the noise of a release follows from, the same for every attempt of a task."""

    secret: bytes = field(repr=False)
    """Never written down: it ends with the process that drew it."""
    maps: tuple[WordMap, ...]
    frequencies: Floats


class ShardWriters(Protocol):
    """Whoever has the true counts and draws their noise: a cluster."""

    def store_at(self, address: str) -> ReleaseStore:
        """The folder at ``address``, which an earlier run may have written to."""

    def frequencies_from(self, prior: str) -> Counts:
        """What frequencies are bought from."""

    def draw(self, drawing: Drawing, plan: ReleasePlan, folder: str) -> Sequence[Shard]:
        """Write all shards into the new ``folder``, and say what lies there then."""

    def found(self, folder: str) -> Sequence[Shard]:
        """The shards that lie in ``folder``."""


def release_to_shards(
    job: Job, ledger: Ledger, store: ReleaseStore, writers: ShardWriters
) -> ReleaseCard:
    """Spend, have the noise drawn once, and put the release into ``store``.

    Raises `BudgetError`, with nothing spent or drawn, when the budget does not allow it.
    """
    request = ledger.kept(job.request)
    refuse_another(store, job, ledger.find(request))
    spend = ledger.commit(request)
    drawn: list[bool] = []
    draw = partial(_draw, job=job, ledger=ledger, spend=spend, store=store, writers=writers)
    stored = ledger.release(request, lambda path: drawn.append(draw(path)))
    if stored.output is None:
        raise LedgerError("an output was stored but cannot be read back.")
    shards = shards_in(stored.output.path)
    card = bundled_card(stored.output.path)
    if replace(card, files={}) != job.card(spend.id):
        raise LedgerError("the stored output is not what was asked for; do not publish it.")
    if shards is not None and not drawn and where_in(stored.output.path) == store.address:
        check_found(shards, writers.found(shards.folder), store.address)
    publish_bundle(stored.output.path, store)
    return card


def refuse_another(store: ReleaseStore, job: Job, own: Spend | None) -> None:
    """What lies there may have been published: only the same release may be put there."""
    text = store.read(CARD_FILE)
    if text is None:
        if own is None and unfinished(store):
            raise another_unfinished(store)
        return
    if own is None or replace(read_card(text.decode()), files={}) != job.card(own.id):
        raise InputError(
            f"{store.address} holds another release; give another folder, or remove that one first."
        )


def another_unfinished(store: ReleaseStore) -> InputError:
    """That a folder is taken."""
    return InputError(
        f"{store.address} holds shards and no {CARD_FILE}: another release that was not "
        "finished. Run its command again, remove the folder, or give another."
    )


def bundled_card(bundle: Path) -> ReleaseCard:
    """The card in a bundle."""
    with opened_bundle(bundle) as archive:
        return read_card(archive.read(CARD_FILE).decode())


def where_in(bundle: Path) -> str | None:
    """Where the shards of a bundle lie."""
    with opened_bundle(bundle) as archive:
        return archive.read(WHERE_FILE).decode() if WHERE_FILE in archive.namelist() else None


def _draw(
    path: Path, job: Job, ledger: Ledger, spend: Spend, store: ReleaseStore, writers: ShardWriters
) -> bool:
    note = ledger.drawing_file(spend)
    clear_attempt(note, writers.store_at)
    if unfinished(store):
        raise another_unfinished(store)
    folder = new_attempt(note, store.address)
    drawing = new_drawing(job.plan, writers)
    card = job.card(spend.id)
    found = writers.draw(drawing, job.plan, folder)
    shards = listed(card.documents, card.columns, card.noise_rate, found)
    parts = small_parts(drawing.maps, drawing.frequencies, job.documents.vocabulary, card)
    parts[SHARDS_FILE] = shards.as_json().encode()
    write_parts(path, parts, card, {WHERE_FILE: store.address.encode()})
    return True


def new_drawing(plan: ReleasePlan, writers: ShardWriters) -> Drawing:
    """A fresh secret, the frequencies that are bought, and maps that are fitted to them."""
    frequencies = plan.buy_frequencies(writers.frequencies_from(plan.settings.prior))
    return Drawing(noise_secret(), maps_of(plan.fitted(frequencies)), frequencies)
