"""Where the shards of a release are being written, for whoever must remove them.

A note beside the ledger, for its owner only, on disk before the first shard is begun and removed
when the release is on record. It holds an address and the name of a folder there, and nothing that
noise follows from. If it is found, whoever wrote it is dead, since one process at a time draws for
a spend; what lies there was never published, and has a noise that nobody can draw again.
"""

import json
from collections.abc import Callable
from pathlib import Path

from sottovoce._files import whole_file
from sottovoce.errors import LedgerError
from sottovoce.privacy._randomness import system_bytes
from sottovoce.release._shards import SHARD_FOLDERS
from sottovoce.release._stores import LocalStore, ReleaseStore


def new_attempt(note: Path, address: str) -> str:
    """The name of a new folder of shards at ``address``, noted before anything is in it."""
    folder = f"counts-{system_bytes(8).hex()}"
    with whole_file(note, private=True) as temporary:
        temporary.write_text(json.dumps({"where": address, "folder": folder}))
    return folder


def clear_attempt(note: Path, store_at: Callable[[str], ReleaseStore]) -> None:
    """Remove the shards that a dead process noted, if one did: two noises must never lie about."""
    if not note.exists():
        return
    try:
        found = json.loads(note.read_text())
        where, folder = found["where"], found["folder"]
        known = bool(SHARD_FOLDERS.fullmatch(folder)) and isinstance(where, str)
    except (OSError, ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise LedgerError(
            f"{note} cannot be read, and says where shards of an unfinished release lie; remove "
            "that release's folder, and then this file."
        )
    store_at(where).remove(folder)


def local_store_at(address: str) -> LocalStore:
    """The folder at ``address``, where a process without a cluster can reach it."""
    if not address.startswith("/"):
        raise LedgerError(
            f"noise of these documents was drawn into {address} on a cluster, and not finished; "
            "run the same request with --engine spark, which removes it first."
        )
    return LocalStore(Path(address))
