"""A release that many draw, from beginning to end: spend, draw, list, keep, publish.

1. The ledger commits the spend.
2. Where the shards will lie is noted beside the ledger. Then what all noise follows from is drawn:
   the secret, the public maps, the frequencies that were bought. It is in memory alone.
3. Workers write their shards where the release is to lie. A shard that is written twice, by
   whichever attempt of a task, has the same noise (``repeatable``).
4. The shards are listed with their hashes. The ledger keeps the list, the card and all else but the
   counts themselves.
5. The list and the rest are put beside the shards, the card last and in one step. Until then there
   is no release, whatever lies in the folder.

A driver that dies before 4 takes the secret with it, and leaves shards that are none's. The same
request removes them, by the note, and only then draws, without spending: of what can be read, there
is never a second noise. After 4 it only goes on with 5.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from sottovoce.arrays import Floats
from sottovoce.errors import InputError, LedgerError
from sottovoce.files import file_digest, nearest_folder, output_folder, whole_file
from sottovoce.parsing import parse_json
from sottovoce.privacy.ledger.ledger import Ledger, Spend
from sottovoce.privacy.randomness import system_bytes
from sottovoce.release import folder as release_folder
from sottovoce.release.card import ReleaseCard, read_card
from sottovoce.release.compression.word_map import WordMap
from sottovoce.release.counts import Counts
from sottovoce.release.folder import CARD_FILE, SHARD_FOLDERS, SHARDS_FILE, opened_bundle
from sottovoce.release.job import Job
from sottovoce.release.plan import ReleasePlan, maps_of
from sottovoce_spark.repeatable import noise_secret
from sottovoce_spark.shards import Shard, ShardList, list_in, list_shards

if TYPE_CHECKING:
    from sottovoce_spark._store import SparkStore

WHERE_FILE = "where.txt"
"""In the ledger's bundle alone: where the shards lie."""
_TRIES = 3


@dataclass(frozen=True)
class LocalStore:
    """A folder that this machine reaches by its path."""

    folder: Path

    @property
    def address(self) -> str:
        """Its path, in full."""
        return str(self.folder.resolve())

    def names(self) -> list[str]:
        """What is in it; nothing where it is not there."""
        return sorted(each.name for each in self.folder.iterdir()) if self.folder.is_dir() else []

    def read(self, name: str) -> bytes | None:
        """The content of a small file in it, or None."""
        try:
            return (self.folder / name).read_bytes()
        except OSError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """Put a file there, whole or not at all."""
        with whole_file(output_folder(self.folder) / name) as temporary:
            temporary.write_bytes(content)

    def remove(self, name: str) -> None:
        """Remove a file or a folder in it."""
        path = self.folder / name
        for _ in range(_TRIES):
            if not path.is_dir():
                path.unlink(missing_ok=True)
                return
            # A task of a dead run may be writing there still.
            shutil.rmtree(path, ignore_errors=True)
        if path.exists():
            raise InputError(f"cannot remove {path}; see that nobody writes there, and try again.")


ReleaseStore: TypeAlias = "LocalStore | SparkStore"
"""A folder for a release, wherever it lies; both kinds answer alike."""


def list_unfinished(store: ReleaseStore) -> list[str]:
    """Folders of shards in a store that has no card."""
    names = store.names()
    return [] if CARD_FILE in names else [name for name in names if SHARD_FOLDERS.fullmatch(name)]


class Bundled(NamedTuple):
    """What a ledger's bundle says of its release."""

    card: ReleaseCard
    shards: ShardList | None
    """None: it holds its counts itself."""
    where: str | None
    """The store that the shards lie in."""


def read_bundle(bundle: Path) -> Bundled:
    """The card in a bundle, and its shards with where they lie."""
    with opened_bundle(bundle) as archive:
        card = read_card(archive.read(CARD_FILE).decode())
        if SHARDS_FILE not in archive.namelist():
            return Bundled(card, None, None)
        shards = list_in(archive.read(SHARDS_FILE).decode(), str(bundle))
        return Bundled(card, shards, archive.read(WHERE_FILE).decode())


def publish_bundle(bundle: Path, store: ReleaseStore) -> None:
    """Put the release that a ledger keeps in ``bundle`` into ``store``, its card last.

    Shards are in their place already, or are copied from there: a ledger keeps none of them.
    """
    _, shards, where = read_bundle(bundle)
    if shards is None and isinstance(store, LocalStore):
        release_folder.unpack_bundle(bundle, store.folder)
        return
    if shards is not None and where is not None:
        if where != store.address:
            _copy_shards(shards, where, store)
        _remove_others(shards, store)
    with opened_bundle(bundle) as archive:
        public = set(archive.namelist()) - {WHERE_FILE}
        for name in sorted(public, key=lambda name: name == CARD_FILE):
            store.write(name, archive.read(name))


def check_found(shards: ShardList, found: Sequence[Shard], address: str) -> None:
    """Refuse to publish a list of shards that are not there as they were drawn."""
    if tuple(sorted((e for e in found if e.documents), key=lambda e: e.first)) != shards.shards:
        raise LedgerError(
            f"the shards in {address} are missing or not what was drawn, and cannot be drawn "
            "again under the same request. Restore them, or make a new request, which spends again."
        )


def _remove_others(shards: ShardList, store: ReleaseStore) -> None:
    """Whatever shards unfinished runs left there; once a card is there, none may lie beside it."""
    for name in store.names():
        if SHARD_FOLDERS.fullmatch(name) and name != shards.folder:
            store.remove(name)


def _copy_shards(shards: ShardList, where: str, store: ReleaseStore) -> None:
    if not isinstance(store, LocalStore) or not Path(where).is_dir():
        raise InputError(
            f"this release was made on a cluster and lies in {where}; its ledger keeps no second "
            "copy of the counts. Copy that folder, or give it again."
        )
    output_folder(store.folder / shards.folder)
    for shard in shards.shards:
        source, target = Path(where) / shard.name, store.folder / shard.name
        if not source.is_file():
            raise LedgerError(f"the shard {source} is missing; restore it: it is the only copy.")
        with whole_file(target) as temporary:
            shutil.copyfile(source, temporary)
        if file_digest(target) != shard.sha256:
            raise LedgerError(f"the shard {source} is not what was drawn; restore it.")


def new_attempt(note: Path, address: str) -> str:
    """The name of a new folder of shards at ``address``, noted before anything is in it."""
    folder = f"counts-{system_bytes(8).hex()}"
    with whole_file(note, private=True) as temporary:
        noted = {"where": address, "folder": folder, "device": _device(address)}
        temporary.write_text(json.dumps(noted))
    return folder


def clear_attempt(note: Path, store_at: Callable[[str], ReleaseStore]) -> None:
    """Remove the shards that a dead process noted, if one did: two noises must never lie about."""
    if not note.exists():
        return
    try:
        found = parse_json(note.read_text())
        where, folder = found["where"], found["folder"]
        known = bool(SHARD_FOLDERS.fullmatch(folder)) and isinstance(where, str)
    except (OSError, ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise LedgerError(
            f"{note} cannot be read, and says where shards of an unfinished release lie; remove "
            "that release's folder, and then this file."
        )
    if not Path(where).exists() and found.get("device") != _device(where):
        raise LedgerError(
            f"shards of an unfinished release lie in {where}, which cannot be reached: see that "
            f"its disk is there. If they are gone for good, remove {note}."
        )
    store_at(where).remove(folder)


def _device(address: str) -> int | None:
    """The disk that a folder of this machine is on, or would be; None for one of a cluster's."""
    return nearest_folder(Path(address)).stat().st_dev if address.startswith("/") else None


def local_store_at(address: str) -> LocalStore:
    """The folder at ``address``, where a process without a cluster can reach it."""
    if not address.startswith("/"):
        raise LedgerError(
            f"noise of these documents was drawn into {address} on a cluster, and not finished; "
            "run the same request with --engine spark, which removes it first."
        )
    return LocalStore(Path(address))


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

    def find_shards(self, folder: str) -> Sequence[Shard]:
        """The shards that lie in ``folder``."""


def release_to_shards(
    job: Job, ledger: Ledger, store: ReleaseStore, writers: ShardWriters
) -> ReleaseCard:
    """Spend, have the noise drawn once, and put the release into ``store``.

    Raises `BudgetError`, with nothing spent or drawn, when the budget does not allow it.
    """
    request = ledger.key_names(job.request)
    refuse_another(store, job, ledger.find(request))
    spend = ledger.commit(request)
    drawn: list[bool] = []
    draw = partial(_draw, job=job, ledger=ledger, spend=spend, store=store, writers=writers)
    stored = ledger.release(request, lambda path: drawn.append(draw(path)))
    if stored.output is None:
        raise LedgerError("an output was stored but cannot be read back.")
    card, shards, where = read_bundle(stored.output.path)
    if replace(card, files={}) != job.card(spend.id):
        raise LedgerError("the stored output is not what was asked for; do not publish it.")
    if shards is not None and not drawn and where == store.address:
        check_found(shards, writers.find_shards(shards.folder), store.address)
    publish_bundle(stored.output.path, store)
    return card


def refuse_another(store: ReleaseStore, job: Job, own: Spend | None) -> None:
    """What lies there may have been published: only the same release may be put there."""
    text = store.read(CARD_FILE)
    if text is None:
        if own is None and list_unfinished(store):
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


def _draw(
    path: Path, job: Job, ledger: Ledger, spend: Spend, store: ReleaseStore, writers: ShardWriters
) -> bool:
    note = ledger.drawing_file(spend)
    clear_attempt(note, writers.store_at)
    if list_unfinished(store):
        raise another_unfinished(store)
    folder = new_attempt(note, store.address)
    drawing = new_drawing(job.plan, writers)
    card = job.card(spend.id)
    found = writers.draw(drawing, job.plan, folder)
    shards = list_shards(card.documents, card.columns, card.noise_rate, found)
    parts = release_folder.small_parts(
        drawing.maps, drawing.frequencies, job.documents.vocabulary, card
    )
    parts[SHARDS_FILE] = shards.as_json().encode()
    release_folder.write_parts(path, parts, card, {WHERE_FILE: store.address.encode()})
    return True


def new_drawing(plan: ReleasePlan, writers: ShardWriters) -> Drawing:
    """A fresh secret, the frequencies that are bought, and maps that are fitted to them."""
    frequencies = plan.buy_frequencies(writers.frequencies_from(plan.settings.prior))
    return Drawing(noise_secret(), maps_of(plan.fit_maps(frequencies)), frequencies)
