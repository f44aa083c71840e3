"""Disks that are full or read-only for one process: mounts in a name space of its own."""

import ctypes
import os
from pathlib import Path

from support.failing_calls import in_child

_NEW_MOUNTS, _PRIVATE = 0x20000, 1 << 18 | 1 << 14
_BIND, _AGAIN, _READ_ONLY = 4096, 32, 1


def mount_read_only(folder: Path) -> None:
    """Let this process, and whom it starts, see ``folder`` on a disk that nobody writes to."""
    _own_mounts()
    _mount(folder, folder, None, _BIND)
    _mount(folder, folder, None, _BIND | _AGAIN | _READ_ONLY)


def mount_small(folder: Path, kilobytes: int, user: int) -> None:
    """Let this process see an empty disk of so many kilobytes at ``folder``, a user's own."""
    _own_mounts()
    _mount(Path("none"), folder, "tmpfs", 0, f"size={kilobytes}k,uid={user},gid={user},mode=700")


def can_mount() -> bool:
    """Whether this machine lets us."""
    return os.geteuid() == 0 and in_child(_tried) == ""


def _tried() -> str:
    _own_mounts()
    return ""


def _own_mounts() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_MOUNTS):
        raise OSError(ctypes.get_errno(), "unshare")
    _mount(Path("none"), Path("/"), None, _PRIVATE)


def _mount(source: Path, target: Path, kind: str | None, flags: int, how: str = "") -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    given = (os.fsencode(source), os.fsencode(target), kind and kind.encode())
    if libc.mount(*given, ctypes.c_ulong(flags), how.encode() or None):
        raise OSError(ctypes.get_errno(), "mount")
