"""Where a release is put: a folder of this machine, or of whatever a cluster writes to.

Files become visible whole, and the card last. Without its card a folder is no release: readers say
so, and the next run of the same command removes what is there, or goes on from it.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sottovoce.errors import InputError, LedgerError
from sottovoce.files import file_digest, nearest_folder, output_folder, whole_file
from sottovoce.release.folder import CARD_FILE, WHERE_FILE, opened_bundle, unpack_bundle
from sottovoce.release.inputs import CountsElsewhere
from sottovoce.release.plan import ReleasePlan, Sized
from sottovoce.release.shards import SHARD_FOLDERS, SHARDS_FILE, Shard, ShardList, list_in

# A count and its column, in the uncompressed archive that the ledger keeps; and in a shard.
_BYTES_PER_CELL, _BYTES_PER_SHARD_CELL = 12, 4
_TRIES = 3


class ReleaseStore(Protocol):
    """A folder for a release, wherever it lies."""

    @property
    def address(self) -> str:
        """What it is called, the same whoever asks."""

    def names(self) -> list[str]:
        """What is in it; nothing where it is not there."""

    def read(self, name: str) -> bytes | None:
        """The content of a small file in it, or None."""

    def write(self, name: str, content: bytes) -> None:
        """Put a file there, whole or not at all."""

    def remove(self, name: str) -> None:
        """Remove a file or a folder in it."""


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


def unfinished(store: ReleaseStore) -> list[str]:
    """Folders of shards in a store that has no card."""
    names = store.names()
    return [] if CARD_FILE in names else [name for name in names if SHARD_FOLDERS.fullmatch(name)]


def shards_in(bundle: Path) -> ShardList | None:
    """The shards that a bundle lists; None: it holds its counts itself."""
    with opened_bundle(bundle) as archive:
        if SHARDS_FILE not in archive.namelist():
            return None
        return list_in(archive.read(SHARDS_FILE).decode(), str(bundle))


def publish_bundle(bundle: Path, store: ReleaseStore) -> None:
    """Put the release that a ledger keeps in ``bundle`` into ``store``, its card last.

    Shards are in their place already, or are copied from there: a ledger keeps none of them.
    """
    shards = shards_in(bundle)
    if shards is None and isinstance(store, LocalStore):
        unpack_bundle(bundle, store.folder)
        return
    with opened_bundle(bundle) as archive:
        if shards is not None:
            where = archive.read(WHERE_FILE).decode()
            if where != store.address:
                _copy_shards(shards, where, store)
            _remove_others(shards, store)
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
