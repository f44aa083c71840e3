"""Accounts: what the documents of a corpus may spend, have spent, and who pays for what.

Where a ledger knows the documents of a corpus, each of them has a budget, every spend on the corpus
charges all of them, and the account shows those that have least left. For requests without
documents, the corpus has one total for the whole and one for each part of it: spent = whole + max
over parts.

Once the documents of such a corpus are named, what it spent is theirs. Until then they might be
anybody's: documents that are new to the ledger begin with all that such corpora have spent.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from sottovoce.errors import BudgetError, LedgerError, OtherBudgetError
from sottovoce.privacy.exact import read_kept, text_up
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.documents import DocumentSet, Hashes, LedgerKey
from sottovoce.privacy.ledger.groups import (
    DocumentGroup,
    are_few,
    charge_groups,
    columns_of,
    groups_of,
    known_groups,
    overlap_in_words,
    place,
    read_guarantee,
    tightest,
)

WHOLE = ""


@dataclass(frozen=True)
class SpendRequest:
    """A release somebody asks for; the same ``id`` again means: give me the same bytes.

    ``guarantee`` is the true one. ``corpus`` is a hash of the documents, never their text.
    ``documents`` are those that pay; with ``others`` the caller vouches that those of them which
    say what released ones said are other documents.

    >>> SpendRequest("first", "9f86d081", LimitedPrecision(2, 1)).guarantee.n
    2
    """

    id: str
    corpus: str
    guarantee: LimitedPrecision
    part: str = WHOLE
    documents: DocumentSet | None = field(default=None, compare=False)
    others: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Account:
    """One corpus: its budget, and the rate spent so far, of the documents that have least left.

    >>> print(Account("9f86d081", LimitedPrecision(2, 4), spent=Fraction(1, 2)))
    corpus 9f86d081: spent epsilon=1 of 4 at N=2 per document
    """

    corpus: str
    budget: LimitedPrecision
    spent: Fraction
    groups: tuple[DocumentGroup, ...] = field(default=(), compare=False)
    """All of its documents, by what they have spent; none where they are not known."""

    @property
    def rest(self) -> Fraction:
        """The rate that may still be spent, in nats per word."""
        return self.budget.rate - self.spent

    @property
    def documents(self) -> int | None:
        """How many documents it has, those of one text counted once; None: not known."""
        return sum(group.documents for group in self.groups) if self.groups else None

    def __str__(self) -> str:
        n, unit = self.budget.n, self.budget.unit
        return (
            f"corpus {self.corpus}: spent epsilon={text_up(self.spent * n)} of "
            f"{text_up(self.budget.epsilon)} at N={n} per {unit}"
        )


@dataclass(frozen=True, eq=False)
class Payers:
    """The documents of a request, as their ledger keeps them."""

    key: LedgerKey
    documents: DocumentSet

    @cached_property
    def name(self) -> str:
        """Of the whole set."""
        return self.key.name(self.documents.name)

    @cached_property
    def hashes(self) -> Hashes:
        """One for each text, under the ledger's key."""
        return self.key.hashes(self.documents)


def read_account(connection: sqlite3.Connection, corpus: str) -> Account:
    """The account of ``corpus``, or an error when the ledger has none."""
    row = _budget_row(connection, corpus)
    if row is None:
        raise missing_budget()
    if row["documents"] is None:
        return Account(corpus, read_guarantee(row), _sum_spends(connection, corpus))
    return _account_of(corpus, groups_of(connection, row["documents"]))


def open_account(
    connection: sqlite3.Connection, corpus: str, payers: Payers | None, budget: LimitedPrecision
) -> None:
    """Give ``corpus`` an account; those of its documents that have no budget yet get ``budget``."""
    row = _budget_row(connection, corpus)
    if row is None:
        connection.execute(
            "INSERT INTO budget VALUES (?, ?, ?, ?, NULL)", (corpus, *columns_of(budget))
        )
    if payers is None:
        return
    if row is not None and row["documents"] is not None:
        if row["documents"] != payers.name:
            raise LedgerError(
                "this corpus has other documents in this ledger; give it another name."
            )
        return
    before = _sum_spends(connection, corpus)
    own = budget if row is None else read_guarantee(row)
    unnamed = Fraction(0) if row is not None else sum_unnamed_spends(connection)
    groups = place(connection, payers.name, lambda: payers.hashes, own, unnamed)
    connection.execute("UPDATE budget SET documents = ? WHERE corpus = ?", (payers.name, corpus))
    connection.executemany(
        "UPDATE document_group SET rate = ? WHERE id = ?",
        [(str(group.spent + before), group.id) for group in groups if before],
    )


def has_account(connection: sqlite3.Connection, corpus: str) -> bool:
    """Whether ``corpus`` has an account."""
    return _budget_row(connection, corpus) is not None


def sum_unnamed_spends(connection: sqlite3.Connection) -> Fraction:
    """What was spent on documents of corpora, where nobody told the ledger which they are."""
    rows = connection.execute(
        "SELECT corpus FROM budget WHERE documents IS NULL AND unit = 'document'"
    ).fetchall()
    return sum((_sum_spends(connection, row["corpus"]) for row in rows), Fraction(0))


def spent_on_corpus(connection: sqlite3.Connection, corpus: str) -> DocumentGroup | None:
    """What was spent on a ``corpus`` whose documents were not named, each of which spent it."""
    row = _budget_row(connection, corpus)
    if row is None or row["documents"] is not None:
        return None
    return DocumentGroup(0, 0, read_guarantee(row), _sum_spends(connection, corpus))


def spent_before(connection: sqlite3.Connection, payers: Payers) -> str:
    """What of these documents was spent before, in words; nothing where nothing was."""
    groups = groups_of(connection, payers.name)
    whole = sum(group.documents for group in groups)
    if not groups:
        hashes = payers.hashes
        groups, whole = known_groups(connection, hashes), hashes.size
    paid = [group for group in groups if group.spent]
    return overlap_in_words(paid, whole) if paid else ""


def budget_for_new(
    connection: sqlite3.Connection,
    request: SpendRequest,
    payers: Payers,
    elsewhere: Sequence[LimitedPrecision],
    *,
    shared: bool,
) -> LimitedPrecision:
    """What documents may spend that come without a budget: as those they come with, or just this.

    Where the few that are known are vouched to be others, new ones may spend this at least. A
    ledger of somebody's own choice that knows other documents but none of these needs it said,
    unless they have budgets ``elsewhere``.
    """
    known = known_groups(connection, payers.hashes)
    if known or elsewhere:
        budgets = [*(group.budget for group in known), *elsewhere]
        least = min(budgets, key=lambda budget: budget.rate)
        apart = request.others and are_few(known, payers.hashes.size)
        return request.guarantee if apart and least.rate < request.guarantee.rate else least
    if not shared and connection.execute("SELECT 1 FROM budget").fetchone():
        raise missing_budget()
    return request.guarantee


def check_budget(account: Account, budget: LimitedPrecision) -> None:
    """Refuse another budget than documents have."""
    if account.budget != budget or any(group.budget != budget for group in account.groups):
        raise other_budget(account, budget)


def charge(connection: sqlite3.Connection, request: SpendRequest) -> Account:
    """Add the request's rate to what was spent, unless that would exceed a budget."""
    account = read_account(connection, request.corpus)
    if account.groups:
        return _account_of(request.corpus, _charge_documents(connection, account, request))
    after = _checked_total(connection, account, request)
    key = (request.corpus, request.part)
    old = connection.execute("SELECT rate FROM total WHERE corpus = ? AND part = ?", key).fetchone()
    rate = request.guarantee.rate + (read_kept(old["rate"], "rate") if old else 0)
    connection.execute("INSERT OR REPLACE INTO total VALUES (?, ?, ?)", (*key, str(rate)))
    return after


def _charge_documents(
    connection: sqlite3.Connection, account: Account, request: SpendRequest
) -> list[DocumentGroup]:
    try:
        return charge_groups(connection, account.groups, request.guarantee, others=request.others)
    except BudgetError as error:
        if not sum_unnamed_spends(connection):
            raise
        told = BudgetError(f"{error} {_UNNAMED}")
        told.may_be_others = error.may_be_others
        raise told from None


_UNNAMED = (
    "What this ledger spent on documents that it was not told counts for all that are new to it. "
    "Make those requests again with their documents, which is free, and it learns whose they were."
)


def _checked_total(
    connection: sqlite3.Connection, account: Account, request: SpendRequest
) -> Account:
    """The account as it would be after ``request``, or an error when it would be overdrawn."""
    if request.guarantee.unit != account.budget.unit:
        raise BudgetError(
            f"the budget is per {account.budget.unit}, the release per {request.guarantee.unit}; "
            "restate one of them."
        )
    after = _sum_spends(connection, request.corpus, request)
    if after > account.budget.rate:
        n = account.budget.n
        raise BudgetError(
            f"the release needs epsilon={text_up(request.guarantee.rate * n)} at N={n}, and "
            f"the corpus has spent {text_up(account.spent * n)} of "
            f"{text_up(account.budget.epsilon)}; nothing was spent or released. The first release "
            "of a corpus sets its budget, and it cannot be raised."
        )
    return Account(request.corpus, account.budget, after)


def missing_budget() -> LedgerError:
    """What to say of a corpus that the ledger does not know."""
    return LedgerError("this ledger has no budget for this corpus; is it another corpus's?")


def other_budget(account: Account, budget: LimitedPrecision) -> OtherBudgetError:
    """What to say when somebody wants to change a budget."""
    others = [group for group in account.groups if group.budget != budget]
    known = others[0].budget if others else account.budget
    some, whole = sum(group.documents for group in others), account.documents
    who = "this corpus already has"
    if others and some != whole:
        who = f"{some:,} of these {whole:,} documents already have"
    return OtherBudgetError(
        f"{who} another budget, epsilon {text_up(known.epsilon)} at N={known.n}, which cannot be "
        "changed; leave the budget out."
    )


def _budget_row(connection: sqlite3.Connection, corpus: str) -> "sqlite3.Row | None":
    found: sqlite3.Row | None = connection.execute(
        "SELECT * FROM budget WHERE corpus = ?", (corpus,)
    ).fetchone()
    return found


def _account_of(corpus: str, groups: list[DocumentGroup]) -> Account:
    worst = tightest(groups)
    return Account(corpus, worst.budget, worst.spent, tuple(groups))


def _sum_spends(
    connection: sqlite3.Connection, corpus: str, more: SpendRequest | None = None
) -> Fraction:
    rows = connection.execute("SELECT part, rate FROM total WHERE corpus = ?", (corpus,))
    rates = {row["part"]: read_kept(row["rate"], "rate") for row in rows}
    if more is not None:
        rates[more.part] = rates.get(more.part, Fraction(0)) + more.guarantee.rate
    whole = rates.pop(WHOLE, Fraction(0))
    return whole + max(rates.values(), default=Fraction(0))
