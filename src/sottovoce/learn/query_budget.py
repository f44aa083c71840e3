"""How many rows peers may have classified by others' classifiers, and have had over all trainings.

A classifier trained again on the same documents is the same classifier, and one that one peer's
documents changed is much the same to the others. So a helper counts for every peer's data by
itself, in a `QueryLedger` that it keeps: a query is refused if it goes beyond the budget of any.
Data are known by a tag, a keyed digest that says nothing but whether they are the same.

Signs of many chosen rows give theta's direction away: one for each of d features, of a row that is
zero elsewhere, already points within a cosine of about 0.8 of it, and 2 d log2(1/error) of them, by
bisection on pairs of features, to any precision. Scores give theta itself after d + 1 rows. So
whoever helps to classify counts, and refuses beyond the budget. Peers may pool what they learn,
and so all of them together have a budget too.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from sottovoce.errors import ParameterError, QueryBudgetError
from sottovoce.learn.training_terms import Recipe


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


@dataclass
class QueryBudget:
    """One helper's count of what is left; kept for as long as the classifier is.

    Attributes:
        left: how many rows each peer may still ask for,
        together: and all of them.
    """

    left: dict[str, int]
    together: int

    def __post_init__(self) -> None:
        if min(self.together, *self.left.values()) < 0:
            raise ParameterError("what is left of a query budget must be >= 0 rows.")

    def rows_left(self, peer: str) -> int:
        """How many rows a peer may still ask for; none if it is nobody known."""
        return min(self.left.get(peer, 0), self.together)

    def spend(self, peer: str, rows: int) -> None:
        """Count a query, or refuse it whole."""
        if rows > self.rows_left(peer):
            raise QueryBudgetError(
                f"{peer} may have {self.rows_left(peer)} more rows classified, asked for {rows}: "
                "more signs would give the classifier away; train again with a larger budget."
            )
        self.left[peer] -= rows
        self.together -= rows


class LedgerBudget:
    """A classifier's budget with the ledger of the data behind it: both must allow a query."""

    def __init__(
        self, budget: QueryBudget, ledger: QueryLedger | None, charge: QueryCharge
    ) -> None:
        self._budget, self._ledger, self._charge = budget, ledger, charge

    def spend(self, peer: str, rows: int) -> None:
        """Count a query in both, or refuse it."""
        self._budget.spend(peer, rows)
        if self._ledger is not None:
            self._ledger.spend(self._charge._replace(asker=peer, rows=rows))


def planned_budget(recipe: Recipe, width: int, peers: Iterable[str]) -> QueryBudget:
    """The budget of a recipe, for a classifier of ``width`` features.

    Unless the recipe says otherwise all peers together may ask for half as many rows as there are
    features, and each for its part of them.
    """
    names = tuple(peers)
    each, together = budget_limits(recipe, width, len(names))
    return QueryBudget(dict.fromkeys(names, each), together)


def budget_limits(recipe: Recipe, width: int, peers: int) -> tuple[int, int]:
    """How many rows one peer may ask for, and all together."""
    joint = recipe.queries_together or recipe.queries or max(1, width // 2)
    return recipe.queries or max(1, joint // peers), joint
