"""Where the shards of a release are being written, for whoever must remove them.

A note beside the ledger, for its owner only, on disk before the first shard is begun and removed
when the release is on record. It holds an address and the name of a folder there, and nothing that
noise follows from. If it is found, whoever wrote it is dead, since one process at a time draws for
a spend; what lies there was never published, and has a noise that nobody can draw again.
"""

import json
from collections.abc import Callable
from pathlib import Path

from sottovoce.errors import LedgerError
from sottovoce.files import nearest_folder, whole_file
from sottovoce.json import parse_json
from sottovoce.privacy.randomness import system_bytes
from sottovoce.release.shards import SHARD_FOLDERS
from sottovoce.release.stores import LocalStore, ReleaseStore


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
