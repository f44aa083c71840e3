"""What is noted in a user's folder of state, by which a lost file or an old copy is noticed.

What is there and cannot be used is never taken for nothing: an old copy would go on, or a lost file
go unmissed. Only where there is no folder of state, and none can be made, nothing is noted.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast

from sottovoce.errors import InputError
from sottovoce.files import PRIVATE_MODE, cause_of, check_folder, private_folder, state_folder

ABSENT = (FileNotFoundError, NotADirectoryError)
_DIGITS = 20


def folder_of_notes() -> Path | None:
    """The folder of state; None where it is not there and cannot be made."""
    with suppress(RuntimeError, InputError):
        folder = state_folder()
        with suppress(*ABSENT):
            folder.lstat()
            return folder
        check_folder(folder)
        return folder
    return None


def noted_in(file: Path) -> str:
    """What is noted in ``file``; nothing where there is none."""
    with suppress(*ABSENT):
        return file.read_text(encoding="utf-8")
    return ""


@contextmanager
def refusing(file: Path, refusal: type[InputError]) -> Iterator[None]:
    """Raise ``refusal`` where a note cannot be used, whatever is the matter with it."""
    try:
        yield
    except (OSError, ValueError) as error:
        why = cause_of(cast("Exception", error.__cause__ or error))
        raise refusal(
            f"cannot use {file}, by which a lost file or an old copy is noticed: {why}. Nothing "
            "was released. Make it yours to read and write; remove it only if it cannot be mended: "
            "what it noted then goes unnoticed."
        ) from error


class NotedCount:
    """A count that never falls, in a file of its own; without a place for it there is none."""

    def __init__(self, folder: str, name: str | None, refusal: type[InputError]) -> None:
        state = None if name is None else folder_of_notes()
        self._file = None if name is None or state is None else state / folder / name
        self._refusal = refusal
        self.key = f"{folder}/{name}"

    @property
    def kept(self) -> bool:
        """Whether there is a place for it."""
        return self._file is not None

    def seen(self) -> int:
        """The largest count that was noted, or 0; an error where one cannot be read."""
        if self._file is None:
            return 0
        with refusing(self._file, self._refusal):
            return int(noted_in(self._file) or 0)

    def note(self, count: int) -> None:
        """Note a count; a larger one that was noted before stays."""
        if self._file is None:
            return
        with refusing(self._file, self._refusal):
            private_folder(self._file.parent)
            descriptor = os.open(self._file, os.O_CREAT | os.O_RDWR, PRIVATE_MODE)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if count > int(os.pread(descriptor, _DIGITS, 0) or 0):
                    os.pwrite(descriptor, f"{count:0{_DIGITS}d}".encode(), 0)
            finally:
                os.close(descriptor)
