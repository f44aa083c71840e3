"""What a corpus may spend and has spent, as rows of the ledger and as values.

Spends on the whole corpus add up; so do those on one part of it, and of disjoint parts the largest
counts: spent = whole + max over parts. Parts are those of one public division of the corpus, which
the caller declares and the ledger cannot check.
"""

import sqlite3
from dataclasses import dataclass
from fractions import Fraction

from sottovoce.errors import BudgetError, LedgerError
from sottovoce.release.exact import text_up
from sottovoce.release.guarantee import LimitedPrecision, Unit

WHOLE = ""


@dataclass(frozen=True)
class Request:
    """A release somebody asks for; the same ``id`` again means: give me the same bytes.

    ``guarantee`` is the true one. ``corpus`` is a hash of the documents, never their text.
    """

    id: str
    corpus: str
    guarantee: LimitedPrecision
    part: str = WHOLE


@dataclass(frozen=True)
class Account:
    """One corpus: its budget, and the rate spent so far."""

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


def read_account(connection: sqlite3.Connection, corpus: str) -> Account:
    """The account of ``corpus``, or an error when the ledger has none."""
    row = connection.execute("SELECT * FROM budget WHERE corpus = ?", (corpus,)).fetchone()
    if row is None:
        raise LedgerError("this ledger has no budget for this corpus; is it another corpus's?")
    return Account(corpus, read_guarantee(row), _spent(connection, corpus))


def charge(connection: sqlite3.Connection, request: Request) -> None:
    """Add the request's rate to what was spent, unless that would exceed the budget."""
    check_affordable(connection, request)
    key = (request.corpus, request.part)
    old = connection.execute("SELECT rate FROM total WHERE corpus = ? AND part = ?", key).fetchone()
    rate = request.guarantee.rate + (Fraction(old["rate"]) if old else 0)
    connection.execute("INSERT OR REPLACE INTO total VALUES (?, ?, ?)", (*key, str(rate)))


def check_affordable(connection: sqlite3.Connection, request: Request) -> Account:
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


def _spent(connection: sqlite3.Connection, corpus: str, more: Request | None = None) -> Fraction:
    rows = connection.execute("SELECT part, rate FROM total WHERE corpus = ?", (corpus,))
    rates = {row["part"]: Fraction(row["rate"]) for row in rows}
    if more is not None:
        rates[more.part] = rates.get(more.part, Fraction(0)) + more.guarantee.rate
    whole = rates.pop(WHOLE, Fraction(0))
    return whole + max(rates.values(), default=Fraction(0))
