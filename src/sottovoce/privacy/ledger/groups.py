"""Documents that have spent alike, in groups: what a ledger charges.

Every document that a ledger knows is in one group. All documents of a group have the same budget
and have spent the same rate, so that a corpus, however large, is a few groups, and a spend on it a
few numbers. Documents that are met for the first time split the groups that they cover in part:
the spend of a set S turns each group G that it meets into G and S (charged) and G without S (not),
and what of S was never seen becomes a group of its own.

A set of documents has a name, under which its groups are found again without a look at any hash.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import BudgetError, LedgerError
from sottovoce.privacy.exact import read_kept, text_up
from sottovoce.privacy.guarantee import LimitedPrecision, Unit
from sottovoce.privacy.ledger.documents import HASH_BYTES, Hashes, pack_hashes, unpack_hashes

# What SQLite takes as one value.
LARGEST_BLOB = 10**9
# Documents alike by chance are few; a corpus of which so much is known was released before.
_FEW = Fraction(1, 2)


@dataclass(frozen=True)
class DocumentGroup:
    """So many documents that have one budget and have spent the same rate.

    >>> print(DocumentGroup(1, 12000, LimitedPrecision(2, 40), Fraction(10)))
    12,000 documents have spent 20 of 40 at N=2
    """

    id: int
    documents: int
    budget: LimitedPrecision
    spent: Fraction

    @property
    def rest(self) -> Fraction:
        """The rate that each of them may still spend."""
        return self.budget.rate - self.spent

    def add_spend(self, rate: Fraction) -> "DocumentGroup":
        """The group after one more spend."""
        return replace(self, spent=self.spent + rate)

    def __str__(self) -> str:
        verb = "document has" if self.documents == 1 else "documents have"
        return f"{self.documents:,} {verb} spent {self.amount}"

    @property
    def amount(self) -> str:
        """What was spent of what may be."""
        n, budget = self.budget.n, text_up(self.budget.epsilon)
        return f"{text_up(self.spent * n)} of {budget} at N={n}"


def read_guarantee(row: sqlite3.Row) -> LimitedPrecision:
    """The guarantee in a row's columns n, epsilon and unit."""
    unit: Unit = row["unit"]
    return LimitedPrecision(row["n"], read_kept(row["epsilon"], "epsilon"), unit)


def columns_of(guarantee: LimitedPrecision) -> tuple[int, str, str]:
    """The columns n, epsilon and unit; epsilon as an exact ratio."""
    return guarantee.n, str(guarantee.epsilon), guarantee.unit


def groups_of(connection: sqlite3.Connection, name: str) -> list[DocumentGroup]:
    """The groups of the documents ``name``; none for documents that were never placed."""
    rows = connection.execute(
        "SELECT id, n, epsilon, unit, rate, documents FROM document_group JOIN corpus_group "
        "ON corpus_group.document_group = document_group.id WHERE corpus_group.name = ? "
        "ORDER BY id",
        (name,),
    )
    return [_group(row) for row in rows]


def place(
    connection: sqlite3.Connection,
    name: str,
    hashes: Callable[[], Hashes],
    budget: LimitedPrecision,
    spent: Fraction,
) -> list[DocumentGroup]:
    """The groups of the documents ``name``; those never seen form one, with these figures."""
    if not groups_of(connection, name):
        new = hashes()
        members, new = _split_off(connection, new)
        if new.size:
            members.append(_insert(connection, new, budget, spent))
        connection.executemany(
            "INSERT INTO corpus_group VALUES (?, ?)", [(name, member) for member in members]
        )
    return groups_of(connection, name)


def known_groups(connection: sqlite3.Connection, hashes: Hashes) -> list[DocumentGroup]:
    """The groups that ``hashes`` meet, each with the number of those it holds; splits none."""
    found = []
    for row in _rows(connection):
        inside = _inside(unpack_hashes(row["hashes"]), hashes)
        if inside.any():
            found.append(replace(_group(row), documents=int(np.count_nonzero(inside))))
    return found


def place_of_each(
    connection: sqlite3.Connection, hashes: Hashes
) -> tuple[list[DocumentGroup], NDArray[np.intp]]:
    """Groups, and for each of ``hashes``, in any order, the place of its group; -1: in none."""
    groups: list[DocumentGroup] = []
    place = np.full(hashes.size, -1, np.intp)
    for row in _rows(connection):
        inside = _inside(hashes, unpack_hashes(row["hashes"]))
        if inside.any():
            place[inside] = len(groups)
            groups.append(_group(row))
    return groups, place


def charge_groups(
    connection: sqlite3.Connection,
    groups: Sequence[DocumentGroup],
    guarantee: LimitedPrecision,
    *,
    others: bool = False,
) -> list[DocumentGroup]:
    """Add a spend to each group, unless a document of one would go beyond its budget.

    With ``others`` a few documents may: the caller vouches that they only say what others said.
    """
    check_units(groups, guarantee)
    after = [group.add_spend(guarantee.rate) for group in groups]
    short = [before for before, then in zip(groups, after, strict=True) if then.rest < 0]
    if short and not (others and are_few(short, total(groups))):
        raise over_budget(short, groups, guarantee, others=others)
    connection.executemany(
        "UPDATE document_group SET rate = ? WHERE id = ?",
        [(str(group.spent), group.id) for group in after],
    )
    return after


def check_units(groups: Sequence[DocumentGroup], guarantee: LimitedPrecision) -> None:
    """Refuse to add what is promised to a user to what is promised to a document."""
    for group in groups:
        if guarantee.unit != group.budget.unit:
            raise BudgetError(
                f"the budget is per {group.budget.unit}, the release per {guarantee.unit}; "
                "restate one of them."
            )


def are_few(some: Sequence[DocumentGroup], whole: int) -> bool:
    """Whether ``some`` hold less than half of ``whole`` documents."""
    return total(some) < _FEW * whole


def tightest(groups: Sequence[DocumentGroup]) -> DocumentGroup:
    """The group whose documents may spend least."""
    return min(groups, key=lambda group: group.rest)


def over_budget(
    short: Sequence[DocumentGroup],
    groups: Sequence[DocumentGroup],
    guarantee: LimitedPrecision,
    *,
    others: bool,
) -> BudgetError:
    """What to say when documents would go beyond their budget."""
    whole, paid = total(groups), [group for group in short if group.spent] or short
    worst = tightest(paid)
    n = worst.budget.n
    amount = f"{text_up(worst.spent * n)} of {text_up(worst.budget.epsilon)}"
    told = f"the corpus has spent {amount}"
    if total(paid) != whole:
        told = overlap_in_words(paid, whole)
    if new := [group for group in short if group not in paid]:
        most = text_up(tightest(new).budget.rate * n)
        told += f"; {total(new):,} have spent nothing, but may spend {most} like the others"
    few = are_few(paid, whole)
    many = " They are too many to be other documents that happen to say the same."
    error = BudgetError(
        f"the release needs epsilon={text_up(guarantee.rate * n)} at N={n}, and {told}; nothing "
        "was spent or released. The first release of a corpus sets its budget, and it cannot be "
        f"raised.{many if others and not few else ''}"
    )
    error.may_be_others = few and not others
    return error


def overlap_in_words(some: Sequence[DocumentGroup], whole: int) -> str:
    """How many of ``whole`` documents have spent before, and at most how much."""
    worst, number = tightest(some), total(some)
    n = worst.budget.n
    who = "all of" if number == whole else f"{number:,} of"
    verb = "has" if number == 1 else "have"
    most = "" if len({group.amount for group in some}) == 1 else "up to "
    amount = f"{text_up(worst.spent * n)} of {text_up(worst.budget.epsilon)}"
    return f"{who} these {whole:,} documents {verb} spent {most}{amount} already, at N={n}"


def total(groups: Sequence[DocumentGroup]) -> int:
    """How many documents they hold."""
    return sum(group.documents for group in groups)


def _group(row: sqlite3.Row) -> DocumentGroup:
    spent = read_kept(row["rate"], "rate")
    return DocumentGroup(row["id"], row["documents"], read_guarantee(row), spent)


def _rows(connection: sqlite3.Connection) -> Iterator[sqlite3.Row]:
    """One group at a time: all hashes together may be more than fits."""
    for found in connection.execute("SELECT id FROM document_group ORDER BY id").fetchall():
        yield connection.execute(
            "SELECT * FROM document_group JOIN group_hashes ON document_group = id WHERE id = ?",
            (found["id"],),
        ).fetchone()


def _split_off(connection: sqlite3.Connection, hashes: Hashes) -> tuple[list[int], Hashes]:
    """The groups that just ``hashes`` make up, split off where they must be; and the unseen."""
    members = []
    for row in _rows(connection):
        own = unpack_hashes(row["hashes"])
        inside = _inside(own, hashes)
        if inside.any():
            whole = bool(inside.all())
            members.append(row["id"] if whole else _split(connection, row, own, inside))
            hashes = hashes[~_inside(hashes, own[inside])]
    return members, hashes


def _inside(some: Hashes, hashes: Hashes) -> NDArray[np.bool_]:
    """Which of ``some`` are among the ascending ``hashes``."""
    if not hashes.size:
        return np.zeros(some.size, np.bool_)
    place = np.minimum(np.searchsorted(hashes, some), hashes.size - 1)
    return np.asarray(hashes[place] == some)


def _split(
    connection: sqlite3.Connection, row: sqlite3.Row, own: Hashes, inside: NDArray[np.bool_]
) -> int:
    """A new group of the documents ``inside``; every set that had them has it too."""
    group = _group(row)
    stays = own[~inside]
    connection.execute(
        "UPDATE document_group SET documents = ? WHERE id = ?", (stays.size, group.id)
    )
    connection.execute(
        "UPDATE group_hashes SET hashes = ? WHERE document_group = ?",
        (pack_hashes(stays), group.id),
    )
    new = _insert(connection, own[inside], group.budget, group.spent)
    connection.execute(
        "INSERT INTO corpus_group SELECT name, ? FROM corpus_group WHERE document_group = ?",
        (new, group.id),
    )
    return new


def _insert(
    connection: sqlite3.Connection, hashes: Hashes, budget: LimitedPrecision, spent: Fraction
) -> int:
    if hashes.size * HASH_BYTES > LARGEST_BLOB:
        raise LedgerError(
            f"a ledger takes {LARGEST_BLOB // HASH_BYTES:,} new documents at once, got "
            f"{hashes.size:,}; split the corpus."
        )
    inserted = connection.execute(
        "INSERT INTO document_group (n, epsilon, unit, rate, documents) VALUES (?, ?, ?, ?, ?)",
        (*columns_of(budget), str(spent), hashes.size),
    )
    new = int(inserted.lastrowid or 0)
    # In a table of their own: a spend changes a rate, and must not write a million hashes again.
    connection.execute("INSERT INTO group_hashes VALUES (?, ?)", (new, pack_hashes(hashes)))
    return new
