"""Every call that reaches the disk fails once, in turn: what is then released, spent or lost?

Like the tests of SQLite itself: a dry run counts the calls that an operation makes under a folder;
then the operation is done again for each of them, in a process of its own on a fresh folder, and
that call fails, alone or with all that follow. Whoever asks says what must hold afterwards. What
fails is what Python calls, of files and of databases; what SQLite calls inside fails by its
statements, before they are done or, as where an acknowledgement is lost, after. In a process that
was started under `failing_calls.c` every call of the C library fails instead, SQLite's own too.
"""

import builtins
import ctypes
import errno
import fcntl
import io
import os
import signal
import sqlite3
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sottovoce.errors import SottovoceError

_BY_PATH = ("open", "rename", "replace", "link", "unlink", "mkdir", "rmdir", "chmod", "truncate")
_BY_DESCRIPTOR = ("read", "write", "pread", "pwrite", "fsync", "fdatasync", "ftruncate", "fchmod")
_DATABASE_SAYS = {
    errno.EIO: "disk I/O error",
    errno.ENOSPC: "database or disk is full",
    errno.EROFS: "attempt to write a readonly database",
    errno.EAGAIN: "database is locked",
    errno.EACCES: "unable to open database file",
}
_LONGEST_TRIAL_S = 20
SHIM = "SOTTOVOCE_FAILING_CALLS"
"""Names the library of `failing_calls.c` in a process that was started under it."""
_NAMED, _SYSTEM = "named: ", "system: "


@dataclass(frozen=True)
class Failure:
    """Which call fails, counted from 1, and how."""

    number: int
    errno: int = errno.EIO
    lasting: bool = False
    """Whether all later calls fail as well, as on a disk that is gone."""
    same_file: bool = False
    """Whether of these only those on the same file do, as where it may not be used."""
    after: bool = False
    """Whether a statement of a database is done first, and then said to have failed."""


@dataclass
class Calls:
    """The calls that were made under a folder, each by its name and the file's."""

    under: Path
    failure: Failure | None = None
    made: list[str] = field(default_factory=list)
    lost: str = ""
    """The file whose call failed first."""
    turn: threading.RLock = field(default_factory=threading.RLock)

    def note(self, name: str, *where: object) -> bool:
        """Count a call on these files; whether it fails."""
        places = [self._place(each) for each in where]
        known = [place for place in places if place is not None]
        if not known:
            return False
        with self.turn:
            self.made.append(f"{name} {known[0]}".strip())
            return self.failure is not None and self._hits(self.failure, known[0])

    def make(self, name: str, *where: object) -> None:
        """Count a call, or fail it."""
        if self.note(name, *where) and self.failure is not None:
            raise OSError(self.failure.errno, os.strerror(self.failure.errno))

    def _hits(self, failure: Failure, place: str) -> bool:
        number = len(self.made)
        if number == failure.number:
            self.lost = place
        later = failure.lasting and number > failure.number
        return number == failure.number or (later and (not failure.same_file or place == self.lost))

    def _place(self, where: object) -> str | None:
        """The name of a file under the folder, its random parts left out; None: it is elsewhere."""
        if isinstance(where, int):
            with suppress(OSError):
                return self._place(_READ_LINK(f"/proc/self/fd/{where}"))
            return None
        text = os.fsdecode(where) if isinstance(where, str | bytes | os.PathLike) else ""
        path = Path(os.path.abspath(text.removeprefix("file://").partition("?")[0]))  # noqa: PTH100 - follows no link
        return path.relative_to(self.under).name if path.is_relative_to(self.under) else None


_READ_LINK = os.readlink


@contextmanager
def watched(calls: Calls) -> Iterator[Calls]:
    """Count the calls of the block, and fail those that are to fail."""
    if SHIM in os.environ:
        with _armed(calls):
            yield calls
        return
    with pytest.MonkeyPatch.context() as patch:
        for name in (*_BY_PATH, *_BY_DESCRIPTOR):
            patch.setattr(os, name, _counting(calls, name, getattr(os, name)))
        patch.setattr(os, "remove", os.unlink)
        patch.setattr(fcntl, "flock", _counting(calls, "flock", fcntl.flock))
        opened = _opening(calls, io.open)
        patch.setattr(io, "open", opened)
        patch.setattr(builtins, "open", opened)
        patch.setattr(sqlite3, "connect", _connecting(calls, sqlite3.connect))
        yield calls


@contextmanager
def _armed(calls: Calls) -> Iterator[None]:
    """Let the library that this process was started under count and fail."""
    shim, failure = ctypes.CDLL(os.environ[SHIM]), calls.failure or Failure(0)
    shim.calls_made.restype = ctypes.c_char_p
    folder = os.fsencode(calls.under.resolve())
    shim.calls_arm(folder, ctypes.c_long(failure.number), failure.errno, failure.lasting)
    try:
        yield
    finally:
        shim.calls_disarm()
        calls.made += os.fsdecode(shim.calls_made()).splitlines()


def _counting(calls: Calls, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    places = 2 if name in {"rename", "replace", "link"} else 1

    def counted(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - as the call
        calls.make(name, *given[:places])
        return call(*given, **named)

    return counted


def _opening(calls: Calls, call: Callable[..., Any]) -> Callable[..., Any]:
    class Raw(io.FileIO):
        def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401 - any buffer
            calls.make("read", self.fileno())
            return super().readinto(buffer)

        def readall(self) -> bytes:
            calls.make("read", self.fileno())
            return super().readall()

        def write(self, data: Any, /) -> int:  # noqa: ANN401 - any buffer
            calls.make("write", self.fileno())
            return super().write(data)

    def opened(
        file: Any,  # noqa: ANN401 - a path or a descriptor
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,  # noqa: ANN401 - as open takes it
    ) -> Any:  # noqa: ANN401 - as open gives it
        if calls._place(file) is None:
            return call(file, mode, buffering, encoding, errors, newline, closefd, opener)
        calls.make("open", file)
        raw = Raw(file, mode.translate({ord("b"): None, ord("t"): None}), closefd, opener)
        if buffering == 0:
            return raw
        kind = io.BufferedRandom if "+" in mode else io.BufferedReader
        buffer = kind(raw) if "r" in mode or "+" in mode else io.BufferedWriter(raw)
        return buffer if "b" in mode else io.TextIOWrapper(buffer, encoding, errors, newline)

    return opened


def _connecting(calls: Calls, call: Callable[..., Any]) -> Callable[..., Any]:
    def refuse() -> None:
        number = calls.failure.errno if calls.failure is not None else errno.EIO
        raise sqlite3.OperationalError(_DATABASE_SAYS.get(number, "disk I/O error"))

    class Connection(sqlite3.Connection):
        place: str = ""

        def execute(self, statement: str, *given: Any) -> Any:  # noqa: ANN401 - as it takes
            return self._done("execute", statement, *given)

        def executemany(self, statement: str, *given: Any) -> Any:  # noqa: ANN401 - as it takes
            return self._done("executemany", statement, *given)

        def executescript(self, statement: str, /) -> Any:  # noqa: ANN401 - as it gives
            return self._done("executescript", statement)

        def _done(self, how: str, statement: str, *given: Any) -> Any:  # noqa: ANN401 - any
            fails = calls.note(_first_words(statement), self.place)
            # To undo never fails: SQLite undoes what a process leaves behind.
            if fails and "ROLLBACK" not in statement:
                if calls.failure is not None and calls.failure.after:
                    getattr(super(), how)(statement, *given)
                refuse()
            return getattr(super(), how)(statement, *given)

    def connected(database: Any, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - as it takes
        if calls.note("connect", database):
            refuse()
        connection = call(database, *given, **named, factory=Connection)
        connection.place = os.fspath(database)
        return connection

    return connected


def _first_words(statement: str) -> str:
    return " ".join(statement.split()[:2])


@dataclass
class Outcomes:
    """What came of failing every call of an operation."""

    calls: int = 0
    failed: int = 0
    refused: int = 0
    """Trials that ended with an error of the product's own."""
    has_finished: int = 0
    """Trials that ended as if nothing had failed."""
    by_system: int = 0
    """Trials that ended with the system's own error, which a command says in a sentence."""
    unnamed: list[str] = field(default_factory=list)
    """Trials that ended with any other error."""
    wrong: list[str] = field(default_factory=list)
    """Trials after which something did not hold."""

    def report(self) -> str:
        """The counts, and each trial that is not as it should be."""
        return "\n".join([str(self), *self.wrong, *self.unnamed])

    def __str__(self) -> str:
        return (
            f"{self.failed} failures of {self.calls} calls: {self.refused} refused, "
            f"{self.by_system} by the system, {self.has_finished} finished, "
            f"{len(self.unnamed)} unnamed, {len(self.wrong)} wrong"
        )


Operation = Callable[[Path], object]
Check = Callable[[Path], None]
ONCE_AND_LASTING = (Failure, lambda number: Failure(number, errno.ENOSPC, lasting=True))
FILE_LOST = (lambda number: Failure(number, errno.EACCES, lasting=True, same_file=True),)
LOST_ANSWERS = (lambda number: Failure(number, after=True),)


def count_calls(prepare: Operation, operate: Operation, folder: Path) -> list[str]:
    """The dry run: every call that the operation makes under the folder, in order."""
    prepare(folder)
    with watched(Calls(folder)) as calls:
        operate(folder)
    return calls.made


def fail_each(
    prepare: Operation,
    operate: Operation,
    check: Check,
    trials: Path,
    kinds: Sequence[Callable[[int], Failure]] = ONCE_AND_LASTING,
    only: Callable[[str], bool] = lambda _: True,
    most: int | None = None,
) -> Outcomes:
    """Fail each call of ``operate`` in turn, and ``check`` what is there then.

    Each trial has a folder of its own in ``trials``, which ``prepare`` fills first. ``only``: calls
    of some names. ``most``: about so many calls, evenly; None: all of them.
    """
    dry = trials / "dry"
    dry.mkdir(parents=True)
    made = count_calls(prepare, operate, dry)
    outcomes = Outcomes(calls=len(made))
    check(dry)
    wanted = [number for number, name in enumerate(made, start=1) if only(name)]
    step = 1 if most is None else max(1, len(wanted) // most)
    for place, kind in enumerate(kinds):
        # Another kind fails other calls.
        for number in wanted[place % step :: step]:
            folder = trials / f"{place}-{number}"
            folder.mkdir()
            trial = kind(number), made[number - 1]
            _try(prepare, operate, check, folder, *trial, outcomes)
    return outcomes


def _try(
    prepare: Operation,
    operate: Operation,
    check: Check,
    folder: Path,
    failure: Failure,
    name: str,
    outcomes: Outcomes,
) -> None:
    said = f"call {failure.number}, {name} ({errno.errorcode[failure.errno]}"
    later = ", and all later ones of this file" if failure.same_file else ", and all later ones"
    said += f"{later if failure.lasting else ''})"
    prepare(folder)
    ended = in_child(lambda: _ending(operate, folder, failure))
    outcomes.failed += 1
    if not ended:
        outcomes.has_finished += 1
    elif ended.startswith(_NAMED):
        outcomes.refused += 1
    elif ended.startswith(_SYSTEM):
        outcomes.by_system += 1
    else:
        outcomes.unnamed.append(f"{said}: {ended}")
    try:
        check(folder)
    except Exception as error:  # noqa: BLE001 - any error is an outcome
        where = traceback.extract_tb(error.__traceback__)[-1]
        told = str(error).partition("\n")[0].replace(str(folder), "")
        outcomes.wrong.append(f"{said}: {type(error).__name__} {told} (line {where.lineno})")


def _ending(operate: Operation, folder: Path, failure: Failure) -> str:
    """How an operation ends of which a call fails: nothing, or the error that it raised."""
    with watched(Calls(folder, failure)), _no_longer_than(_LONGEST_TRIAL_S):
        try:
            operate(folder)
        except Exception as error:  # noqa: BLE001 - any error is an outcome
            kind = _NAMED if isinstance(error, SottovoceError) else ""
            kind = _SYSTEM if getattr(error, "errno", None) is not None else kind
            where = traceback.extract_tb(error.__traceback__)[-2]
            return f"{kind}{type(error).__name__} in {where.name}"
    return ""


@contextmanager
def _no_longer_than(seconds: int) -> Iterator[None]:
    """An operation that waits for ever is wrong too."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"it did not end within {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def in_child(
    work: Callable[[], str], user: int | None = None, first: Callable[[], object] | None = None
) -> str:
    """What ``work`` says in a child, as another ``user`` where one is given; the error's name else.

    Root passes every permission: whoever tests them does so as somebody else. What only root may
    is done ``first``.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            if first is not None:
                first()
            if user is not None:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
            said = work()
        except BaseException as error:  # noqa: BLE001 - a child says what it died of
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said_there:
        said = said_there.read()
    os.waitpid(child, 0)
    return said
