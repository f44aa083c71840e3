"""Where a user's ledger lies, and a count of each ledger's spends that is kept apart from it.

One ledger serves all that a user releases on a machine, so that every release of a document meets
what was spent on it before: ``SOTTOVOCE_LEDGER``, or ``ledger`` in the user's folder of state
(``$XDG_STATE_HOME/sottovoce``, by default ``~/.local/state/sottovoce``).

The same folder holds, for each ledger that was ever spent from here, how often. A copy of the
ledger that knows of fewer spends is an old one: whoever released by it would spend twice. The count
is written after the spend is committed, so that it never runs ahead of the ledger it counts.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from sottovoce._files import PRIVATE_MODE, state_folder
from sottovoce.errors import LedgerError

LEDGER_VARIABLE = "SOTTOVOCE_LEDGER"
_PRIVATE_FOLDER = 0o700
_DIGITS = 20
_UNKEPT = (OSError, ValueError, LedgerError)


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


class SpendCount:
    """How many spends of one ledger this machine has seen; nothing, where it cannot be kept."""

    def __init__(self, ledger_id: str | None) -> None:
        self._id = ledger_id

    def seen(self) -> int:
        """The most that was ever noted."""
        with suppress(*_UNKEPT):
            return int(self._file.read_text(encoding="ascii") or 0)
        return 0

    def note(self, spends: int) -> None:
        """Remember ``spends``, unless more are known; as far as it can be kept."""
        with suppress(*_UNKEPT):
            self._file.parent.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
            descriptor = os.open(self._file, os.O_CREAT | os.O_RDWR, PRIVATE_MODE)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if spends > int(os.pread(descriptor, _DIGITS, 0) or 0):
                    os.pwrite(descriptor, f"{spends:0{_DIGITS}d}".encode(), 0)
            finally:
                os.close(descriptor)

    @property
    def _file(self) -> Path:
        if self._id is None:
            raise LedgerError("the spends of this ledger are not counted.")
        return _state_folder() / "spends" / self._id
