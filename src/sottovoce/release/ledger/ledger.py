"""Spend first, then draw, then keep what was drawn: the order that makes crashes harmless.

1. The spend is committed, durably, if the budget allows it.
2. Only then is noise drawn, into a file that appears whole or not at all.
3. The file's hash is committed under the spend's id; from then on the same request gets the same
   bytes, and noise is never drawn again for it.

A crash after 1 leaves a spend without output: the retry draws without spending again, since
nothing was stored or published. A crash between the file and 3 leaves the file, which the retry
adopts. Publish only what `release` returned.

The ledger keeps its owner from mistakes, crashes and races. It cannot keep her from deleting it or
restoring an old copy. It holds hashes, numbers and request ids, no text; its outputs are noised.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sottovoce.errors import InputError, LedgerError, ParameterError
from sottovoce.files import whole_file
from sottovoce.release.guarantee import LimitedPrecision
from sottovoce.release.ledger.accounts import (
    Account,
    Request,
    charge,
    check_affordable,
    columns_of,
    other_budget,
    read_account,
    read_guarantee,
)
from sottovoce.release.ledger.database import Database
from sottovoce.release.ledger.outputs import Output, OutputFolder, output_key, verified

_LONGEST_ID = 200


@dataclass(frozen=True)
class Spend:
    """A committed spend, with its output once that is stored."""

    id: int
    request: Request
    time: str
    output: Output | None


class Ledger:
    """The privacy ledger in one SQLite file, with its outputs in a folder beside it.

    >>> import tempfile, sottovoce as sv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     released = sv.release_counts(
    ...         ["my debt"], words=["debt"], epsilon=2, precision=2, ledger=f"{folder}/ledger",
    ...     )
    ...     [str(account.budget.epsilon) for account in Ledger(Path(folder, "ledger")).accounts()]
    ['2']
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        # By any other name, outputs and locks would be found nowhere.
        self.path = path.resolve()
        self._database = Database(self.path, create=create)
        self._outputs = OutputFolder(self.path)

    def close(self) -> None:
        """Close the file; a ledger that is dropped closes it too."""
        self._database.close()

    def set_budget(self, corpus: str, budget: LimitedPrecision) -> None:
        """Give ``corpus`` its budget, once; a different one later is refused."""
        _check_id(corpus, "corpus")
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO budget VALUES (?, ?, ?, ?)", (corpus, *columns_of(budget))
            )
            account = read_account(connection, corpus)
            if account.budget != budget:
                raise other_budget(account)

    def account(self, corpus: str) -> Account:
        """What ``corpus`` may spend and has spent."""
        with self._database.reading() as connection:
            return read_account(connection, corpus)

    def accounts(self) -> list[Account]:
        """Every corpus of this ledger."""
        with self._database.reading() as connection:
            corpora = connection.execute("SELECT corpus FROM budget ORDER BY corpus").fetchall()
            return [read_account(connection, row["corpus"]) for row in corpora]

    def spends(self, corpus: str) -> list[Spend]:
        """Every spend on ``corpus``, in order."""
        with self._database.reading() as connection:
            rows = connection.execute(f"{_SPENDS} WHERE corpus = ? ORDER BY id", (corpus,))
            return [self._read_spend(row) for row in rows]

    def quote(self, request: Request) -> Account:
        """The account after ``request``, were it made now; spends nothing (a dry run)."""
        with self._database.reading() as connection:
            return check_affordable(connection, request)

    def release(self, request: Request, draw: Callable[[Path], None]) -> Spend:
        """The output of ``request``: drawn once by ``draw`` (into the file it is given), then kept.

        Raises `BudgetError`, with nothing spent or drawn, when the budget does not allow it.
        """
        spend = self.commit(request)
        if spend.output is None:
            spend = self._draw_once(spend, draw)
        if spend.output is None:
            raise LedgerError("an output was stored but cannot be read back.")
        verified(spend.output)
        return spend

    def commit(self, request: Request) -> Spend:
        """Step 1: commit the spend of ``request``, or find the one committed before."""
        _check_id(request.id, "request id")
        with self._database.transaction() as connection:
            spend = self._find(connection, request.id)
            if spend is None:
                charge(connection, request)
                _insert_spend(connection, request)
                spend = self._find(connection, request.id)
            if spend is None or not _is_same(spend.request, request):
                raise ParameterError(
                    "this request id was used for another release; take a new one."
                )
            return spend

    def _draw_once(self, spend: Spend, draw: Callable[[Path], None]) -> Spend:
        """Steps 2 and 3, by one process at a time."""
        key = output_key(spend.id, spend.request.id)
        with self._outputs.turn(key):
            now = self._reread(spend)
            if now.output is not None:
                return now
            path = self._outputs.path(key)
            if path.exists():
                self._outputs.make_durable()
            else:
                self._outputs.discard_unfinished(key)
                with whole_file(path, private=True) as unfinished:
                    draw(unfinished)
            self._record(spend.id, self._outputs.measure(key))
            self._outputs.done(key)
            return self._reread(spend)

    def _record(self, spend: int, output: Output) -> None:
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO output VALUES (?, ?, ?, ?)",
                (spend, output.path.name, output.sha256, output.size),
            )

    def _reread(self, spend: Spend) -> Spend:
        with self._database.reading() as connection:
            return self._find(connection, spend.request.id) or spend

    def _find(self, connection: sqlite3.Connection, request: str) -> Spend | None:
        row = connection.execute(f"{_SPENDS} WHERE request = ?", (request,)).fetchone()
        return None if row is None else self._read_spend(row)

    def _read_spend(self, row: sqlite3.Row) -> Spend:
        request = Request(row["request"], row["corpus"], read_guarantee(row), row["part"])
        output = None
        if row["sha256"] is not None:
            path = self._outputs.path(output_key(row["id"], row["request"]))
            output = Output(path, row["sha256"], row["size"])
        return Spend(row["id"], request, row["time"], output)


_SPENDS = "SELECT * FROM spend LEFT JOIN output ON output.spend = spend.id"


def _insert_spend(connection: sqlite3.Connection, request: Request) -> None:
    guarantee = columns_of(request.guarantee)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    connection.execute(
        "INSERT INTO spend (request, corpus, part, n, epsilon, unit, time) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (request.id, request.corpus, request.part, *guarantee, now),
    )


def _is_same(known: Request, asked: Request) -> bool:
    same_data = (known.corpus, known.part) == (asked.corpus, asked.part)
    return same_data and known.guarantee == asked.guarantee


def _check_id(text: str, name: str) -> None:
    if not text or len(text) > _LONGEST_ID or not text.isprintable():
        raise InputError(f"a {name} must have 1 to {_LONGEST_ID} printable characters.")
