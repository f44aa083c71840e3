"""Reporting to a rank server from the page: never by itself, one topic and one consent at a time.

What was reported, and what it cost, is kept beside their settings for as long as they want: the
ledger that replays noise instead of drawing it again, and the diary of buckets.
"""

import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path

from sottovoce.advisor.rank.client import DIARY_FILE, LEDGER_FILE, Quote, RankClient
from sottovoce.advisor.rank.transport import Transport
from sottovoce.errors import InputError, LedgerError, ParameterError

FOLDER = "rank-reports"
_FILES = (LEDGER_FILE, DIARY_FILE)
_COMPANIONS = ("", "-wal", "-shm", "-journal")
OWNER_ONLY = 0o700


class Reporting:
    """A person's side of one rank server, or of two in the mode of shares; threads may share it."""

    def __init__(
        self,
        servers: Sequence[str | Transport],
        folder: Path,
        budget: Fraction,
        *,
        admission: str | None = None,
    ) -> None:
        self._servers, self.folder, self._budget = tuple(servers), folder, budget
        self._admission = admission
        self._lock = threading.Lock()
        if self._ledger.exists():
            # A budget that is not the one they began with is refused now, not when they agree.
            with self._client():
                pass

    def quote(self, topic: str, score: float, rules: str | None) -> Quote:
        """What reporting would be and cost; ``rules``: the description their score was made by."""
        with self._client() as client:
            return _by(rules, client.quote(topic, score))

    def report(self, topic: str, score: float, rules: str | None, agreed: str) -> None:
        """Send the report that they ``agreed`` to, or nothing."""
        with self._client() as client:
            _by(rules, client.quote(topic, score))
            client.report(topic, score, agreed=agreed)

    def erase(self) -> None:
        """Delete ledger, diary and kept reports; other files in the folder stay."""
        with self._lock:
            for name in (name + more for name in _FILES for more in _COMPANIONS):
                (self.folder / name).unlink(missing_ok=True)
            shutil.rmtree(self.folder / f"{LEDGER_FILE}.outputs", ignore_errors=True)
            with suppress(OSError):
                self.folder.rmdir()

    @property
    def _ledger(self) -> Path:
        return self.folder / LEDGER_FILE

    @contextmanager
    def _client(self) -> Iterator[RankClient]:
        first, *more = self._servers
        with self._lock:
            client = self._opened(first, more[0] if more else None)
            try:
                yield client
            finally:
                client.close()

    def _opened(self, first: str | Transport, second: str | Transport | None) -> RankClient:
        try:
            self.folder.mkdir(OWNER_ONLY, parents=True, exist_ok=True)
            return RankClient(
                first, self.folder, budget=self._budget, second=second, admission=self._admission
            )
        except OSError as error:
            raise InputError(f"cannot write into {self.folder}: {error.strerror}.") from None
        except LedgerError as error:
            raise ParameterError(
                f"the budget in {self.folder} cannot be used ({str(error).rstrip('.')}): give the "
                "--rank-budget that you began with, which holds for ever."
            ) from None


def _by(rules: str | None, quote: Quote) -> Quote:
    if rules is not None and quote.version != rules:
        raise InputError(
            "The rank server's rules have changed since this page was started, so your score is "
            "not what it asks for; start the page again. Nothing was sent."
        )
    return quote
