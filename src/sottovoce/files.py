"""Output files that are whole or absent, secrets for their owner only, and why a file is of no use.

A writer fills a temporary name in the destination's own folder; only a finished file is renamed
to its final name, so a crash, an error or Ctrl-C never leaves half a file under that name. The
writer holds a lock on the temporary file, which the system drops when a process dies: whoever
writes there next removes what a dead one left.
"""

import errno
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from sottovoce.errors import InputError

FilePath: TypeAlias = str | os.PathLike[str]
PRIVATE_MODE = 0o600
_PRIVATE_FOLDER = 0o700
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{8}\.part")
PATIENCE_S = 5.0
_TRY_AGAIN_S = 0.05


@contextmanager
def whole_file(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a temporary path that becomes ``path`` when the block ends without an error.

    A ``private`` file is readable by its owner only, from the moment it exists.
    """
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder.")
    temporary = _temporary_name(path)
    descriptor = None
    try:
        _remove_stale(path)
        descriptor = _create(temporary, private=private)
        yield temporary
        flush_to_disk(temporary)
        temporary.replace(path)
        flush_to_disk(path.parent)
    except OSError as error:
        # Several files may be under way at once, and any of them may be the one that failed.
        why = cause_of(error, "it failed")
        raise InputError(f"cannot write into {path.parent}: {why}.") from error
    finally:
        # What stays is removed by whoever writes here next.
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if descriptor is not None:
            os.close(descriptor)


@contextmanager
def only_one(path: Path, *, patience_s: float | None = None) -> Iterator[None]:
    """Let no other command update ``path`` meanwhile; refuse when one does and goes on doing so.

    The lock is on a file beside it, which goes when the block ends. The system drops the lock of a
    process that dies, so none can be left behind.
    """
    lock = path.with_name(f"{path.name}.lock")
    patience_s = PATIENCE_S if patience_s is None else patience_s
    descriptor = _lock_file(lock, path, time.monotonic() + patience_s)
    try:
        yield
    finally:
        # A lock file that stays holds nobody up.
        with suppress(OSError):
            lock.unlink(missing_ok=True)
        os.close(descriptor)


@contextmanager
def second_name(path: Path, other: Path) -> Iterator[None]:
    """Give the file at ``path`` a second name in a private folder, on disk before the block begins.

    Until the block ends nobody takes it there for a leftover: ``remove_others`` lets it be.
    """
    try:
        other.parent.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
        with path.open("rb") as file:
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            other.unlink(missing_ok=True)
            _link_or_copy(path, other)
            flush_to_disk(other.parent)
            flush_to_disk(path.parent)
            yield
    except OSError as error:
        raise InputError(
            f"cannot write into {other.parent}: {cause_of(error, 'it failed')}."
        ) from error


def remove_others(folder: Path, name: re.Pattern[str], keep: Collection[str]) -> None:
    """Remove from ``folder`` what bears such a ``name`` but is not to be kept, then it, if empty.

    What a living process is about to use stays.
    """
    with suppress(OSError):
        for entry in others_in(folder, name, keep):
            with suppress(OSError):
                remove_unlocked(entry)
        folder.rmdir()


def others_in(folder: Path, name: re.Pattern[str], keep: Collection[str]) -> list[Path]:
    """What bears such a ``name`` in ``folder``, or is unfinished, but is not to be kept."""
    return [
        entry
        for entry in folder.iterdir()
        if (name.fullmatch(entry.name) or _TEMPORARY.fullmatch(entry.name))
        and entry.name not in keep
    ]


def refuse_overlap(outputs: Iterable[Path | None], inputs: Iterable[Path | None]) -> None:
    """Refuse to write over a file that is read, or two outputs into one file."""
    taken = [path for path in inputs if path is not None]
    for out in outputs:
        if out is None:
            continue
        for path in taken:
            if _same_file(out, path):
                raise InputError(
                    f"cannot write {out}: the command needs {path}, which is the same file; "
                    "give another name."
                )
        taken.append(out)


@contextmanager
def passing_folder(prefix: str) -> Iterator[Path]:
    """A private folder that is gone when the block ends.

    Those of the same ``prefix`` that a killed process left go first: the system drops its lock.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):
            remove_unlocked(left)
    folder = Path(tempfile.mkdtemp(prefix=f".{prefix}"))
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # It is called so only when it is locked: else another start might take it for one of these.
        folder = folder.rename(folder.with_name(folder.name[1:]))
        yield folder
    finally:
        shutil.rmtree(folder)
        os.close(descriptor)


def output_folder(path: Path) -> Path:
    """Create ``path`` as a folder, or say why it cannot be one."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot create the folder {path}: {error.strerror}.") from error
    return path


def private_folder(path: Path) -> None:
    """Create ``path`` and the folder it is in for their owner only; what is above is not ours."""
    for folder in (path.parent, path):
        folder.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)


def check_folder(path: Path) -> None:
    """Refuse, without creating anything, a path that cannot become a folder to write into."""
    nearest = nearest_folder(path)
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise InputError(f"cannot write into {path}: {nearest} is no folder that can be written.")


def check_outputs(*paths: Path | None) -> None:
    """Refuse, before any work, files whose folder is not there or cannot be written."""
    for path in paths:
        if path is None:
            continue
        folder = path.parent
        if not folder.is_dir():
            raise InputError(f"cannot write {path}: there is no folder {folder}; create it first.")
        if path.is_dir():
            raise InputError(f"cannot write {path}: it is a folder.")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputError(f"cannot write {path}: the folder {folder} cannot be written.")


def flush_to_disk(path: Path) -> None:
    """Wait until a file's bytes, or the names in a folder, would survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def begins_with(path: Path, start: bytes) -> bool:
    """Whether a file's first bytes are these."""
    with path.open("rb") as file:
        return file.read(len(start)) == start


def file_digest(path: Path) -> str:
    """The SHA-256 of a file's bytes, read a piece at a time."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cause_of(
    error: Exception,
    otherwise: str = "it is damaged, cut short, or not in the format it was read as",
) -> str:
    """Why a file cannot be used, without a word of it: a library's own sentence may quote it."""
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    # Arrow's says so without a number.
    return os.strerror(errno.ENOENT) if isinstance(error, FileNotFoundError) else otherwise


def append_private(path: Path, line: bytes) -> None:
    """Add to a file that only grows, for its owner only, on disk when this returns."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags, PRIVATE_MODE)
        try:
            os.fchmod(descriptor, PRIVATE_MODE)
            os.write(descriptor, line)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}.") from None


def small_text(
    path: Path, most_bytes: int, what: str, refusal: type[InputError] = InputError
) -> str:
    """The text of a file that is to be ``what``, and so has at most ``most_bytes``.

    A file that is not UTF-8 raises UnicodeDecodeError: what that means is the caller's to say.
    """
    try:
        if path.stat().st_size > most_bytes:
            raise refusal(f"{path} is too large for {what}.")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise refusal(f"cannot read {path}: {error.strerror}.") from None


def refuse_open_to_others(path: Path) -> None:
    """Refuse a file of a secret that anybody but its owner may use."""
    if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"{path} is open to others; run: chmod 600 {path}")


def nearest_folder(path: Path) -> Path:
    """``path``, or the nearest folder above it that exists."""
    nearest = path
    # A link to nowhere is there, and is no folder.
    while not os.path.lexists(nearest):
        nearest = nearest.parent
    return nearest


def _same_file(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except OSError:
        # One of them is not there yet.
        return os.path.realpath(first) == os.path.realpath(second)


def _temporary_name(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")


def _create(path: Path, *, private: bool) -> int:
    """Create and lock a temporary file."""
    mode = PRIVATE_MODE if private else 0o666
    while True:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
        # A system without locks has files all the same.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Somebody may have taken it for stale before it was locked.
        if _is_still(path, descriptor):
            return descriptor
        os.close(descriptor)


def _link_or_copy(path: Path, other: Path) -> None:
    try:
        os.link(path, other)
    except OSError:
        # A system without hard links has copies all the same.
        with whole_file(other, private=True) as temporary:
            shutil.copyfile(path, temporary)


def _remove_stale(path: Path) -> None:
    """Remove temporary files of ``path`` that no living process writes."""
    name = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}\.part")
    for entry in path.parent.iterdir():
        if name.fullmatch(entry.name):
            with suppress(OSError):
                remove_unlocked(entry)


def remove_unlocked(path: Path) -> None:
    """Remove a file or folder that no living process writes; an error where one does."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            shutil.rmtree(path)
        else:
            path.unlink()
    finally:
        os.close(descriptor)


def _lock_file(lock: Path, path: Path, deadline: float) -> int:
    """A locked descriptor of ``lock``, which is there as long as it is held."""
    while True:
        descriptor = None
        try:
            descriptor = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, PRIVATE_MODE)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if descriptor is not None:
                os.close(descriptor)
            if not isinstance(error, BlockingIOError):
                why = cause_of(error, "it failed")
                raise InputError(f"cannot lock {path}: {why}.") from error
            if time.monotonic() >= deadline:
                raise InputError(
                    f"another command is updating {path}; try again when it is done."
                ) from None
            time.sleep(_TRY_AGAIN_S)
            continue
        # Who had it before may have removed the file between the two calls.
        if _is_still(lock, descriptor):
            return descriptor
        os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False


def state_folder() -> Path:
    """Where our programs keep what outlives them for this user, by the XDG specification.

    Raises:
        RuntimeError: there is no home folder.
    """
    given = os.environ.get("XDG_STATE_HOME")
    return (Path(given) if given else Path.home() / ".local" / "state") / "sottovoce"
