"""How many rows peers have had classified by classifiers of the same data, over all trainings.

A classifier trained again on the same documents is the same classifier, and one that one peer's
documents changed is much the same to the others. So a helper counts for every peer's data by
itself, in a `QueryLedger` that it keeps: a query is refused if it goes beyond the budget of any.
Data are known by a tag, a keyed digest that says nothing but whether they are the same.
"""

from typing import NamedTuple, Protocol

from sottovoce.errors import QueryBudgetError


class QueryCharge(NamedTuple):
    """One query as a ledger counts it.

    Attributes:
        query: its name; under one name it is counted once.
        data: tags of the peers' data that the classifier was trained on.
        asker: who asks.
        rows: for how many rows.
        each: how many rows one peer may ask for.
        together: how many all peers may.
    """

    query: bytes
    data: tuple[bytes, ...]
    asker: str
    rows: int
    each: int
    together: int


class QueryLedger(Protocol):
    """A helper's durable count of rows, for each peer's data and over all trainings on them."""

    def spend(self, charge: QueryCharge) -> None:
        """Count a query whole, before it is answered; QueryBudgetError if it is too much."""


def check_charge(charge: QueryCharge, by_asker: int, by_all: int) -> None:
    """Refuse a query beyond the budget of one peer's data, of which so many rows are spent."""
    left = max(0, min(charge.each - by_asker, charge.together - by_all))
    if charge.rows > left:
        raise QueryBudgetError(
            f"{charge.asker} may have {left} more rows classified by classifiers of these data, "
            f"asked for {charge.rows}: training again on the same data gives no new budget; "
            "change the data at every peer, or agree on a larger budget."
        )
