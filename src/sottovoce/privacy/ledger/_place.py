"""Where a user's ledger lies, and a count of each ledger's spends that is kept apart from it.

One ledger serves all that a user releases on a machine, so that every release of a document meets
what was spent on it before: ``SOTTOVOCE_LEDGER``, or ``ledger`` in the user's folder of state
(``$XDG_STATE_HOME/sottovoce``, by default ``~/.local/state/sottovoce``).

The same folder holds, for each ledger that was ever spent from here, how often. A copy of the
ledger that knows of fewer spends is an old one: whoever released by it would spend twice. The count
is written after the spend is committed, so that it never runs ahead of the ledger it counts. Beside
it stands where that ledger was last, so that a release by another one can ask it, and a user's
ledger that is gone is missed.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from sottovoce._files import PRIVATE_MODE, private_folder, state_folder, whole_file
from sottovoce.errors import LedgerError

LEDGER_VARIABLE = "SOTTOVOCE_LEDGER"
_PRIVATE_FOLDER = 0o700
_DIGITS = 20
_UNKEPT = (OSError, ValueError, LedgerError)
_PLACES = "ledgers"


def _state_folder() -> Path:
    try:
        return state_folder()
    except RuntimeError:
        raise LedgerError(f"there is no home folder; set {LEDGER_VARIABLE}.") from None


def user_ledger() -> Path:
    """The one ledger for all that a user releases on this machine.

    >>> user_ledger().name
    'ledger'
    """
    given = os.environ.get(LEDGER_VARIABLE)
    return Path(given) if given else _state_folder() / "ledger"


def make_room(ledger: Path) -> None:
    """Make the folder of a user's ledger, for the user only."""
    try:
        ledger.parent.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerError(f"cannot make the folder {ledger.parent}: {error.strerror}.") from error


def noted_ledgers() -> list[Path]:
    """Where the ledgers were that this machine has seen spends of."""
    with suppress(*_UNKEPT):
        files = sorted((_state_folder() / _PLACES).iterdir())
        return [path for file in files for path in _noted_in(file)]
    return []


def refuse_lost(ledger: Path) -> None:
    """Refuse to begin the user's ledger again where one was spent from."""
    path = ledger.resolve()
    for file in (_state_folder() / _PLACES).glob("*"):
        count = SpendCount(file.name)
        if count.seen() and path in _noted_in(file):
            raise LedgerError(
                f"the ledger {path} is gone, from which {count.seen()} spends were made on this "
                "machine; nothing was spent or released. Restore it with its key and outputs; or "
                f"remove {file}, and what was spent is forgotten."
            )


def _noted_in(file: Path) -> list[Path]:
    with suppress(*_UNKEPT):
        return [Path(file.read_text(encoding="utf-8"))]
    return []


class SpendCount:
    """How many spends of one ledger this machine has seen; nothing, where it cannot be kept."""

    def __init__(self, ledger_id: str | None, at: Path | None = None) -> None:
        self._id = ledger_id
        self._at = at

    def seen(self) -> int:
        """The most that was ever noted."""
        with suppress(*_UNKEPT):
            return int(self._file.read_text(encoding="ascii") or 0)
        return 0

    def note(self, spends: int) -> None:
        """Remember ``spends``, unless more are known; as far as it can be kept."""
        with suppress(*_UNKEPT):
            private_folder(self._file.parent)
            descriptor = os.open(self._file, os.O_CREAT | os.O_RDWR, PRIVATE_MODE)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if spends > int(os.pread(descriptor, _DIGITS, 0) or 0):
                    os.pwrite(descriptor, f"{spends:0{_DIGITS}d}".encode(), 0)
            finally:
                os.close(descriptor)
            self._note_place()

    def _note_place(self) -> None:
        """Note where the ledger is, the first time."""
        at, self._at = self._at, None
        if at is not None and self._id is not None:
            place = _state_folder() / _PLACES / self._id
            if at not in _noted_in(place):
                place.parent.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
                with whole_file(place, private=True) as unfinished:
                    unfinished.write_text(str(at), encoding="utf-8")

    @property
    def _file(self) -> Path:
        if self._id is None:
            raise LedgerError("the spends of this ledger are not counted.")
        return _state_folder() / "spends" / self._id
