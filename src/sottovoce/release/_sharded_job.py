"""A release that many draw, from beginning to end: spend, draw, list, keep, publish.

1. The ledger commits the spend.
2. What all noise follows from is drawn once and kept beside the ledger, for its owner only: the
   secret, the public maps, the frequencies that were bought. Whoever tries again takes the same.
3. Workers write their shards where the release is to lie. A shard that is written twice, by
   whichever attempt of whichever run, has the same noise (``privacy._repeatable``).
4. The shards are read back where they lie, and listed with their hashes. The ledger keeps the list,
   the card and all else but the counts themselves, and the secret is removed.
5. The list and the rest are put beside the shards, the card last and in one step. Until then there
   is no release, whatever lies in the folder.

A driver that dies before 4 leaves shards that are none's; the same command removes them and has
the same noise drawn again, without spending. After 4 it only goes on with 5.
"""

import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Protocol

import numpy as np

from sottovoce._arrays import Floats
from sottovoce._files import whole_file
from sottovoce.errors import InputError, LedgerError
from sottovoce.privacy._randomness import system_bytes
from sottovoce.privacy._repeatable import noise_secret
from sottovoce.privacy.ledger import Ledger, Spend
from sottovoce.release._card import ReleaseCard, read_card
from sottovoce.release._counts import Counts
from sottovoce.release._folder import CARD_FILE, WHERE_FILE, small_parts, write_parts
from sottovoce.release._job import Job
from sottovoce.release._plan import ReleasePlan, maps_of
from sottovoce.release._shards import SHARDS_FILE, Shard, listed
from sottovoce.release._stores import (
    ReleaseStore,
    check_found,
    publish_bundle,
    shards_in,
    unfinished,
)
from sottovoce.release.compression import WordMap


@dataclass(frozen=True, eq=False)
class Drawing:
    """What the noise of a release follows from, the same for every attempt."""

    secret: bytes = field(repr=False)
    maps: tuple[WordMap, ...]
    frequencies: Floats
    cut: str
    """How the documents were divided between tasks, as a hash: noise is drawn part by part."""
    where: str
    """The address of the folder that they write to."""


class ShardWriters(Protocol):
    """Whoever has the true counts and draws their noise: a cluster."""

    @property
    def cut(self) -> str:
        """A hash of how the documents are divided."""

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
            raise InputError(
                f"{store.address} holds shards and no {CARD_FILE}: another release that was not "
                "finished. Run its command again, remove the folder, or give another."
            )
        return
    if own is None or replace(read_card(text.decode()), files={}) != job.card(own.id):
        raise InputError(
            f"{store.address} holds another release; give another folder, or remove that one first."
        )


def bundled_card(bundle: Path) -> ReleaseCard:
    """The card in a bundle."""
    with zipfile.ZipFile(bundle) as archive:
        return read_card(archive.read(CARD_FILE).decode())


def where_in(bundle: Path) -> str | None:
    """Where the shards of a bundle lie."""
    with zipfile.ZipFile(bundle) as archive:
        return archive.read(WHERE_FILE).decode() if WHERE_FILE in archive.namelist() else None


def _draw(
    path: Path, job: Job, ledger: Ledger, spend: Spend, store: ReleaseStore, writers: ShardWriters
) -> bool:
    drawing = kept_drawing(ledger.drawing_file(spend), job.plan, store, writers)
    # Nobody has seen these as a release; and what is drawn now has the same noise.
    for name in unfinished(store):
        store.remove(name)
    card = job.card(spend.id)
    found = writers.draw(drawing, job.plan, f"counts-{system_bytes(8).hex()}")
    shards = listed(card.documents, card.columns, card.noise_rate, found)
    parts = small_parts(drawing.maps, drawing.frequencies, job.documents.vocabulary, card)
    parts[SHARDS_FILE] = shards.as_json().encode()
    write_parts(path, parts, card, {WHERE_FILE: store.address.encode()})
    return True


def kept_drawing(
    path: Path, plan: ReleasePlan, store: ReleaseStore, writers: ShardWriters
) -> Drawing:
    """What an earlier attempt drew, or what is drawn now; on disk before any worker sees it."""
    if path.exists():
        found = read_drawing(path, plan)
        if found.cut == writers.cut:
            return found
        if found.where != store.address:
            raise LedgerError(
                f"noise of these documents was drawn into {found.where}, from files that were cut "
                "otherwise, and not finished; give that folder again, so that it can be removed."
            )
        for name in unfinished(store):
            store.remove(name)
    frequencies = plan.buy_frequencies(writers.frequencies_from(plan.settings.prior))
    maps = maps_of(plan.fitted(frequencies))
    made = Drawing(noise_secret(), maps, frequencies, writers.cut, store.address)
    with whole_file(path, private=True) as temporary:
        _write_drawing(temporary, made)
    return made


def _write_drawing(path: Path, drawing: Drawing) -> None:
    parts = {
        "secret": drawing.secret,
        "maps": _packed(np.stack([each.column for each in drawing.maps])),
        "frequencies": _packed(drawing.frequencies),
        "about": json.dumps({"cut": drawing.cut, "where": drawing.where}).encode(),
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content)


def read_drawing(path: Path, plan: ReleasePlan) -> Drawing:
    """What is kept of a release that is being drawn."""
    try:
        with zipfile.ZipFile(path) as archive:
            maps, frequencies = (
                np.load(BytesIO(archive.read(name)), allow_pickle=False)
                for name in ("maps", "frequencies")
            )
            about = json.loads(archive.read("about"))
            secret = archive.read("secret")
        columns = tuple(WordMap(each, plan.columns) for each in maps)
        return Drawing(secret, columns, frequencies, about["cut"], about["where"])
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        raise LedgerError(
            f"{path} cannot be read, and the noise of an unfinished release follows from it; "
            "restore it, or remove it together with that release's folder."
        ) from None


def _packed(array: np.ndarray) -> bytes:
    buffer = BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()
