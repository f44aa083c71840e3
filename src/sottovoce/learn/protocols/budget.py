"""How many rows a peer may have classified by somebody else's classifier.

Signs of many chosen rows give theta's direction away, and scores give theta itself after as many
rows as it has numbers. So whoever helps to classify counts, and refuses beyond the budget.
"""

from collections.abc import Iterable

from sottovoce.errors import ParameterError, ProtocolError


class QueryBudgetError(ProtocolError):
    """A peer has used up its budget of rows to classify."""


class QueryBudget:
    """One helper's count of what each peer has asked for; kept for as long as the classifier is."""

    def __init__(self, peers: Iterable[str], rows: int) -> None:
        if rows < 1:
            raise ParameterError(f"a query budget must be >= 1 row, got {rows}.")
        self._left = dict.fromkeys(peers, rows)

    def left(self, peer: str) -> int:
        """How many rows a peer may still ask for; none if it is nobody known."""
        return self._left.get(peer, 0)

    def spend(self, peer: str, rows: int) -> None:
        """Count a query, or refuse it whole."""
        if rows > self.left(peer):
            raise QueryBudgetError(
                f"{peer} may have {self.left(peer)} more rows classified, asked for {rows}: more "
                "signs would give the classifier away; train again with a larger budget."
            )
        self._left[peer] -= rows
