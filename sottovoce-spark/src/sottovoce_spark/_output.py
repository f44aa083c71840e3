"""What Spark leaves behind: folders that are whole or absent, and errors that quote nobody.

Spark writes into a private folder beside the final one, through whatever file system the address
names; only what is finished is renamed. On an object store renaming is no single step: what the
store promises is what holds there.

Spark's own messages may quote values, paths and plans, so none is passed on; a sentence of ours,
raised by a worker, is.
"""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from sottovoce import errors
from sottovoce.errors import InputError, SottovoceError

Spark: TypeAlias = Any
"""A session, a table, a column, a Java object behind one: the parameter's name says which."""


_OURS = re.compile(r"^(?:\S*\.)?sottovoce\.errors\.(\w+): (.+)$", re.MULTILINE)
_KNOWN = {
    "PATH_NOT_FOUND": "there is no such path",
    "COLUMN_ALREADY_EXISTS": "it has two columns of one name",
    "CANNOT_MERGE_SCHEMAS": "its files have different columns",
    "UNABLE_TO_INFER_SCHEMA": "it holds no file with columns",
    "FAILED_READ_FILE": "a file of it cannot be read",
    "Permission denied": "the system denies permission",
    "No space left on device": "a disk is full",
    "OutOfMemoryError": "a worker ran out of memory; give it more, or more --partitions",
    "Job aborted due to stage failure": "a task failed every time it was tried",
}


@contextmanager
def translate_errors(doing: str) -> Iterator[None]:
    """Turn whatever Spark raises while ``doing`` something into an error of ours."""
    try:
        yield
    except Exception as error:
        if not is_sparks(error) or os.environ.get("SOTTOVOCE_DEBUG"):
            raise
        raise translate_message(str(error), doing) from None


def is_sparks(error: Exception) -> bool:
    """By name, so that nothing need be imported where Spark is not installed."""
    return type(error).__module__.partition(".")[0] in {"py4j", "pyspark"}


def translate_message(message: str, doing: str) -> SottovoceError:
    """The error of ours inside ``message``, or one that says what kind it is."""
    found = _OURS.search(message)
    if found is not None:
        kind = getattr(errors, found[1], InputError)
        if isinstance(kind, type) and issubclass(kind, InputError):
            return kind(found[2])
    reasons = [words for sign, words in _KNOWN.items() if sign in message]
    why = reasons[0] if reasons else "it failed inside Spark; SOTTOVOCE_DEBUG=1 shows its log"
    return InputError(f"Spark could not {doing}: {why}.")


_FINISHED = "_SUCCESS"


@contextmanager
def whole_folder(session: Spark, address: str) -> Iterator[str]:
    """Yield an address to write to that becomes ``address`` when the block ends well."""
    files = _Files(session, address)
    files.prepare()
    try:
        yield files.unfinished
        files.publish()
    finally:
        files.clear()


class SparkFolder:
    """A folder behind Spark's file systems."""

    def __init__(self, session: Spark, address: str) -> None:
        context = session.sparkContext
        self._jvm = context._jvm  # noqa: SLF001 - Python has no door to file systems
        self._fs = self._jvm.org.apache.hadoop.fs
        path = self._fs.Path(address)
        with translate_refusals(address):
            self._system = path.getFileSystem(context._jsc.hadoopConfiguration())  # noqa: SLF001 - likewise
            self._folder = self._system.makeQualified(path)


@contextmanager
def translate_refusals(address: str) -> Iterator[None]:
    """Say what failed without a word of Spark's."""
    try:
        yield
    except Exception as error:
        if not is_sparks(error):
            raise
        raise InputError(
            f"cannot use {address}: Spark's file system refuses it; see that the address and the "
            "right to write there are what they should be."
        ) from None


class _Files(SparkFolder):
    """The file system of an address, while a folder there is being written."""

    def __init__(self, session: Spark, address: str) -> None:
        super().__init__(session, address)
        self._address = address
        name, parent = self._folder.getName(), self._folder.getParent()
        mark = secrets.token_hex(4)
        self._staging = self._fs.Path(parent, f".{name}.{mark}.part")
        self._old = self._fs.Path(parent, f".{name}.{mark}.old")
        self._written = self._fs.Path(self._staging, "written")
        self.unfinished = self._written.toString()

    def prepare(self) -> None:
        """Refuse now what could not be written at the end, and make a private place."""
        parent = self._folder.getParent()
        if parent is None or not self._system.exists(parent):
            raise InputError(f"cannot write {self._address}: its folder does not exist.")
        if self._is_foreign():
            raise InputError(
                f"cannot write {self._address}: it is a folder that Spark did not write; give "
                "another name."
            )
        if not self._make_folder():
            raise InputError(f"cannot write into the folder of {self._address}.")

    def publish(self) -> None:
        """Put what was written in the place of whatever was there."""
        self._system.setPermission(self._written, self._private())
        replaced = self._system.exists(self._folder)
        if replaced and not self._system.rename(self._folder, self._old):
            raise InputError(f"cannot replace {self._address}.")
        if not self._system.rename(self._written, self._folder):
            if replaced:
                self._system.rename(self._old, self._folder)
            raise InputError(f"cannot write {self._address}.")

    def clear(self) -> None:
        """Remove what has no final name."""
        for path in (self._staging, self._old):
            if self._system.exists(path):
                self._system.delete(path, True)

    def _is_foreign(self) -> bool:
        if (
            not self._system.exists(self._folder)
            or self._system.getFileStatus(self._folder).isFile()
        ):
            return False
        return not self._system.exists(self._fs.Path(self._folder, _FINISHED))

    def _make_folder(self) -> bool:
        try:
            made = bool(self._system.mkdirs(self._staging))
            if made:
                self._system.setPermission(self._staging, self._private())
        except Exception as error:
            if is_sparks(error):
                return False
            raise
        return made

    def _private(self) -> Spark:
        return self._fs.permission.FsPermission("700")
