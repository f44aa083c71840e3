"""Spend first, then draw, then keep what was drawn: the order that makes crashes harmless.

1. The spend is committed, durably, if the budget allows it.
2. Only then is noise drawn, into a file that appears whole or not at all.
3. The file's hash is committed under the spend's id; from then on the same request gets the same
   bytes, and noise is never drawn again for it.

A crash after 1 leaves a spend without output: the retry draws without spending again, since
nothing was stored or published. A crash between the file and 3 leaves the file, which the retry
adopts. Publish only what `Ledger.release` returned.

Spends on the whole corpus add up; so do those on one part of it, and of disjoint parts the largest
counts: spent = whole + max over parts. Parts are those of one public division of the corpus, which
the caller declares and the ledger cannot check.

The ledger keeps its owners from mistakes, crashes and races. It cannot keep them from deleting it
or restoring an old copy. It holds hashes, numbers and request ids, no text; its outputs are noised.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from os import PathLike
from pathlib import Path

from sottovoce._files import whole_file
from sottovoce.errors import BudgetError, InputError, LedgerError, ParameterError
from sottovoce.privacy._exact import text_up
from sottovoce.privacy._guarantee import LimitedPrecision, Unit
from sottovoce.privacy.ledger._database import Database, Output, OutputFolder, output_key, verified

WHOLE = ""
_LONGEST_ID = 200
_SPENDS = "SELECT * FROM spend LEFT JOIN output ON output.spend = spend.id"


@dataclass(frozen=True)
class SpendRequest:
    """A release somebody asks for; the same ``id`` again means: give me the same bytes.

    ``guarantee`` is the true one. ``corpus`` is a hash of the documents, never their text.

    >>> SpendRequest("first", "9f86d081", LimitedPrecision(2, 1)).guarantee.n
    2
    """

    id: str
    corpus: str
    guarantee: LimitedPrecision
    part: str = WHOLE


@dataclass(frozen=True)
class Account:
    """One corpus: its budget, and the rate spent so far.

    >>> print(Account("9f86d081", LimitedPrecision(2, 4), spent=Fraction(1, 2)))
    corpus 9f86d081: spent epsilon=1 of 4 at N=2 per document
    """

    corpus: str
    budget: LimitedPrecision
    spent: Fraction

    @property
    def left(self) -> Fraction:
        """The rate that may still be spent, in nats per word."""
        return self.budget.rate - self.spent

    def __str__(self) -> str:
        n, unit = self.budget.n, self.budget.unit
        return (
            f"corpus {self.corpus}: spent epsilon={text_up(self.spent * n)} of "
            f"{text_up(self.budget.epsilon)} at N={n} per {unit}"
        )


@dataclass(frozen=True)
class Spend:
    """A committed spend, with its output once that is stored."""

    id: int
    request: SpendRequest
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

    def __init__(self, path: str | PathLike[str], *, create: bool = False) -> None:
        # By any other name, outputs and locks would be found nowhere.
        self.path = Path(path).resolve()
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

    def quote(self, request: SpendRequest) -> Account:
        """The account after ``request``, were it made now; spends nothing (a dry run)."""
        with self._database.reading() as connection:
            return check_affordable(connection, request)

    def release(self, request: SpendRequest, draw: Callable[[Path], None]) -> Spend:
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

    def commit(self, request: SpendRequest) -> Spend:
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
        request = SpendRequest(row["request"], row["corpus"], read_guarantee(row), row["part"])
        output = None
        if row["sha256"] is not None:
            path = self._outputs.path(output_key(row["id"], row["request"]))
            output = Output(path, row["sha256"], row["size"])
        return Spend(row["id"], request, row["time"], output)


def _insert_spend(connection: sqlite3.Connection, request: SpendRequest) -> None:
    guarantee = columns_of(request.guarantee)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    connection.execute(
        "INSERT INTO spend (request, corpus, part, n, epsilon, unit, time) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (request.id, request.corpus, request.part, *guarantee, now),
    )


def _is_same(known: SpendRequest, asked: SpendRequest) -> bool:
    same_data = (known.corpus, known.part) == (asked.corpus, asked.part)
    return same_data and known.guarantee == asked.guarantee


def _check_id(text: str, name: str) -> None:
    if not text or len(text) > _LONGEST_ID or not text.isprintable():
        raise InputError(f"a {name} must have 1 to {_LONGEST_ID} printable characters.")


def read_account(connection: sqlite3.Connection, corpus: str) -> Account:
    """The account of ``corpus``, or an error when the ledger has none."""
    row = connection.execute("SELECT * FROM budget WHERE corpus = ?", (corpus,)).fetchone()
    if row is None:
        raise LedgerError("this ledger has no budget for this corpus; is it another corpus's?")
    return Account(corpus, read_guarantee(row), _spent(connection, corpus))


def charge(connection: sqlite3.Connection, request: SpendRequest) -> None:
    """Add the request's rate to what was spent, unless that would exceed the budget."""
    check_affordable(connection, request)
    key = (request.corpus, request.part)
    old = connection.execute("SELECT rate FROM total WHERE corpus = ? AND part = ?", key).fetchone()
    rate = request.guarantee.rate + (Fraction(old["rate"]) if old else 0)
    connection.execute("INSERT OR REPLACE INTO total VALUES (?, ?, ?)", (*key, str(rate)))


def check_affordable(connection: sqlite3.Connection, request: SpendRequest) -> Account:
    """The account as it would be after ``request``, or an error when it would be overdrawn."""
    account = read_account(connection, request.corpus)
    if request.guarantee.unit != account.budget.unit:
        raise BudgetError(
            f"the budget is per {account.budget.unit}, the release per {request.guarantee.unit}; "
            "restate one of them."
        )
    after = _spent(connection, request.corpus, request)
    if after > account.budget.rate:
        n = account.budget.n
        raise BudgetError(
            f"the release needs epsilon={text_up(request.guarantee.rate * n)} at N={n}, and "
            f"the corpus has spent {text_up(account.spent * n)} of "
            f"{text_up(account.budget.epsilon)}; nothing was spent or released. The first release "
            "of a corpus sets its budget, and it cannot be raised."
        )
    return Account(request.corpus, account.budget, after)


def other_budget(account: Account) -> LedgerError:
    """What to say when somebody wants to change a budget."""
    n, epsilon = account.budget.n, text_up(account.budget.epsilon)
    return LedgerError(
        f"this corpus already has another budget, epsilon {epsilon} at N={n}, which cannot be "
        "changed; leave the budget out."
    )


def read_guarantee(row: sqlite3.Row) -> LimitedPrecision:
    """The guarantee in a row's columns n, epsilon and unit."""
    unit: Unit = row["unit"]
    return LimitedPrecision(row["n"], Fraction(row["epsilon"]), unit)


def columns_of(guarantee: LimitedPrecision) -> tuple[int, str, str]:
    """The columns n, epsilon and unit; epsilon as an exact ratio."""
    return guarantee.n, str(guarantee.epsilon), guarantee.unit


def _spent(
    connection: sqlite3.Connection, corpus: str, more: SpendRequest | None = None
) -> Fraction:
    rows = connection.execute("SELECT part, rate FROM total WHERE corpus = ?", (corpus,))
    rates = {row["part"]: Fraction(row["rate"]) for row in rows}
    if more is not None:
        rates[more.part] = rates.get(more.part, Fraction(0)) + more.guarantee.rate
    whole = rates.pop(WHOLE, Fraction(0))
    return whole + max(rates.values(), default=Fraction(0))
