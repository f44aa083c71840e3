"""The released bytes, each kept beside the ledger under the spend that paid for it.

An output appears whole or not at all, for its owner's eyes only; while one process draws for a
spend, others wait for it. An output that the ledger has no spend for was drawn by a newer copy of
the ledger: this one is old, and whoever went on from it would spend a second time what was spent.
"""

import fcntl
import hashlib
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sottovoce.errors import LedgerError
from sottovoce.files import PRIVATE_MODE, file_digest, flush_to_disk


@dataclass(frozen=True)
class Output:
    """A stored output: its file, and what its bytes must be."""

    path: Path
    sha256: str
    size: int


def output_key(spend: int, request: str) -> str:
    """A name for the output of a spend that no other request's output can have.

    Numbers begin again in a new ledger, so a number alone could meet a file left by an old one.
    """
    return f"{spend}-{hashlib.sha256(request.encode()).hexdigest()[:32]}"


class OutputFolder:
    """The folder beside the ledger that holds its outputs, readable by its owner only."""

    def __init__(self, ledger: Path) -> None:
        self._folder = ledger.with_name(f"{ledger.name}.outputs")

    def path(self, key: str) -> Path:
        """Where the output of ``key`` is, or will be."""
        return self._folder / f"{key}.bin"

    def drawing(self, key: str) -> Path:
        """Where a release that is drawn by many notes where it is written, till it is done."""
        return self._folder / f"{key}.drawing"

    def forget_drawing(self, key: str) -> None:
        """Remove it: the output is on record, and nothing will be drawn for it again."""
        if self.drawing(key).exists():
            self.drawing(key).unlink(missing_ok=True)
            flush_to_disk(self._folder)

    @contextmanager
    def turn(self, key: str) -> Iterator[None]:
        """Hold the right to draw for ``key``; a process that dies gives it up."""
        descriptor = self._open_lock(key)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def tidy_up(self, key: str) -> None:
        """Tidy up once the output is on record: nobody draws for this spend any more."""
        (self._folder / f"{key}.lock").unlink(missing_ok=True)
        self.discard_unfinished(key)

    def keys(self) -> list[str]:
        """The key of every whole output that is there."""
        return [path.stem for path in self._folder.glob("[0-9]*.bin")]

    def refuse_unknown(self, keys: Iterable[str], known: Collection[str]) -> None:
        """Refuse when an output is there whose spend the ledger does not know."""
        unknown = sum(key not in known for key in keys)
        if unknown:
            raise LedgerError(
                f"{self._folder} holds {unknown} outputs that this ledger does not know: it is "
                "older than they are. Nothing was spent or released. Restore the ledger that drew "
                "them; or move the folder away, and what was spent for them is forgotten."
            )

    def make_durable(self) -> None:
        """Flush the folder itself, for a file whose writer may have died before doing so."""
        flush_to_disk(self._folder)

    def discard_unfinished(self, key: str) -> None:
        """Remove what a process that died while drawing for ``key`` left half-written."""
        for part in self._folder.glob(f".{key}.bin.*.part"):
            part.unlink(missing_ok=True)

    def measure(self, key: str) -> Output:
        """The stored file of ``key`` as it is now."""
        path = self.path(key)
        return Output(path, file_digest(path), path.stat().st_size)

    def _open_lock(self, key: str) -> int:
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            lock = self._folder / f"{key}.lock"
            return os.open(lock, os.O_CREAT | os.O_RDWR, PRIVATE_MODE)
        except OSError as error:
            raise LedgerError(f"cannot write to {self._folder}: {error.strerror}.") from error


def verify_output(output: Output) -> Output:
    """``output``, or an error when its file is not byte for byte what was stored."""
    if not output.path.is_file():
        raise LedgerError(
            f"the stored output {output.path} is missing; it cannot be drawn again under the same "
            "request. Restore it, or make a new request, which spends again."
        )
    if file_digest(output.path) != output.sha256:
        raise LedgerError(f"the stored output {output.path} is not what was stored; restore it.")
    return output
