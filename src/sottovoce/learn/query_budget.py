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

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol, Self

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


class QueryBudget:
    """One helper's count of what each peer has asked for; kept for as long as the classifier is."""

    def __init__(self, peers: Iterable[str], rows: int, together: int | None = None) -> None:
        joint = rows if together is None else together
        if rows < 1 or joint < 1:
            raise ParameterError(f"a query budget must be >= 1 row, got {min(rows, joint)}.")
        self._left = dict.fromkeys(peers, rows)
        self._joint = joint

    @classmethod
    def resume(cls, left: Mapping[str, int], together: int) -> Self:
        """A budget as it was when it was put down."""
        if together < 0 or any(rows < 0 for rows in left.values()):
            raise ParameterError("what is left of a query budget must be >= 0 rows.")
        budget = cls(left, 1)
        budget._left, budget._joint = dict(left), together
        return budget

    @property
    def state(self) -> tuple[dict[str, int], int]:
        """What each peer has left, and all together: to put it down until it is `resumed`."""
        return dict(self._left), self._joint

    def rows_left(self, peer: str) -> int:
        """How many rows a peer may still ask for; none if it is nobody known."""
        return min(self._left.get(peer, 0), self._joint)

    def spend(self, peer: str, rows: int) -> None:
        """Count a query, or refuse it whole."""
        if rows > self.rows_left(peer):
            raise QueryBudgetError(
                f"{peer} may have {self.rows_left(peer)} more rows classified, asked for {rows}: "
                "more signs would give the classifier away; train again with a larger budget."
            )
        self._left[peer] -= rows
        self._joint -= rows


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
    return QueryBudget(names, *budget_limits(recipe, width, len(names)))


def budget_limits(recipe: Recipe, width: int, peers: int) -> tuple[int, int]:
    """How many rows one peer may ask for, and all together."""
    joint = recipe.queries_together or recipe.queries or max(1, width // 2)
    return recipe.queries or max(1, joint // peers), joint
