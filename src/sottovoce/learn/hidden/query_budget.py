"""How many rows a peer may have classified by somebody else's classifier.

Signs of many chosen rows give theta's direction away: one for each of d features, of a row that is
zero elsewhere, already points within a cosine of about 0.8 of it, and 2 d log2(1/error) of them, by
bisection on pairs of features, to any precision. Scores give theta itself after d + 1 rows. So
whoever helps to classify counts, and refuses beyond the budget. Peers may pool what they learn,
and so all of them together have a budget too.
"""

from collections.abc import Iterable, Mapping
from typing import Self

from sottovoce.errors import ParameterError, QueryBudgetError
from sottovoce.learn.query_ledger import QueryCharge, QueryLedger
from sottovoce.learn.training_terms import Recipe


class QueryBudget:
    """One helper's count of what each peer has asked for; kept for as long as the classifier is."""

    def __init__(self, peers: Iterable[str], rows: int, together: int | None = None) -> None:
        joint = rows if together is None else together
        if rows < 1 or joint < 1:
            raise ParameterError(f"a query budget must be >= 1 row, got {min(rows, joint)}.")
        self._left = dict.fromkeys(peers, rows)
        self._joint = joint

    @classmethod
    def resumed(cls, left: Mapping[str, int], together: int) -> Self:
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

    def left(self, peer: str) -> int:
        """How many rows a peer may still ask for; none if it is nobody known."""
        return min(self._left.get(peer, 0), self._joint)

    def spend(self, peer: str, rows: int) -> None:
        """Count a query, or refuse it whole."""
        if rows > self.left(peer):
            raise QueryBudgetError(
                f"{peer} may have {self.left(peer)} more rows classified, asked for {rows}: more "
                "signs would give the classifier away; train again with a larger budget."
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
