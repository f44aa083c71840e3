"""What a sum of several peers' documents, noised before it is opened, promises a whole document.

Each document moves the sum by a vector of L1 norm at most S. The shares of any h honest peers, the
document's own among them, sum to two-sided geometric noise at the rate epsilon/S; whatever else is
opened is added to it. So for any documents, with one of them or without, and whatever the
coordinator and the peers that collude see together,

    P(outcome | with) <= e^epsilon P(outcome | without),    and the other way round.

One document for another is one removed and one added: 2 epsilon. That a peer takes part is public,
how many documents it has is not.
"""

from dataclasses import dataclass
from fractions import Fraction

from sottovoce.errors import ParameterError
from sottovoce.privacy.exact import Exact, exact, positive, positive_integer, text_up
from sottovoce.privacy.guarantee import LimitedPrecision, NoGuarantee, OrderedGuarantee

_COMPUTATIONAL = (
    "The noise is exact; masks and random bits are those of ChaCha20 and AES-256, so that it holds "
    "against whoever cannot break these."
)


@dataclass(frozen=True, init=False, eq=False)
class WholeDocument(OrderedGuarantee):
    """Pure differential privacy of whole documents in one noised sum, without a curator.

    >>> promise = WholeDocument(1, parties=4, collude=1)
    >>> print(promise)
    epsilon=1 per whole document, of 4 peers 1 may collude and 0 drop out
    >>> promise.honest, str(promise.replacing), str(promise.at_peers(3).epsilon)
    (3, '2', '3')

    Attributes:
        epsilon: of one vector more or less in the sum.
        parties: n, how many peers count together.
        drop: how many of them may be lost.
        collude: how many of them may tell others all that they know.
        documents_per_user: how many documents of one user vote at each peer; None: unbounded.
    """

    epsilon: Fraction
    parties: int
    drop: int
    collude: int
    documents_per_user: int | None

    def __init__(
        self,
        epsilon: Exact,
        *,
        parties: int,
        drop: int = 0,
        collude: int = 0,
        documents_per_user: int | None = None,
    ) -> None:
        bound = documents_per_user
        if bound is not None:
            bound = positive_integer(bound, "documents_per_user")
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "parties", positive_integer(parties, "parties"))
        object.__setattr__(self, "drop", _number_of_peers(drop, "drop"))
        object.__setattr__(self, "collude", _number_of_peers(collude, "collude"))
        object.__setattr__(self, "documents_per_user", bound)
        if self.honest < 1:
            raise ParameterError(
                "drop + collude must leave at least one honest peer, got "
                f"{self.drop} + {self.collude} of {self.parties}."
            )

    @property
    def honest(self) -> int:
        """The h = n - drop - collude peers whose noise is counted on."""
        return self.parties - self.drop - self.collude

    @property
    def document_epsilon(self) -> Fraction:
        """Of one document; another of its user's may take its place where users are bounded."""
        return self.epsilon if self.documents_per_user is None else 2 * self.epsilon

    @property
    def replacing(self) -> Fraction:
        """Of one document, its label included, in place of another of the same user."""
        return 2 * self.epsilon

    @property
    def user_epsilon(self) -> Fraction | None:
        """Of all that one user wrote and one peer holds; None where nothing is promised."""
        bound = self.documents_per_user
        return None if bound is None else bound * self.epsilon

    @property
    def in_ledger(self) -> LimitedPrecision:
        """What it costs in a ledger, where any change within a document replaces its vector.

        Twice what adding or removing a document costs, so that a budget of whole documents holds
        where another of the user's takes a removed one's place, too.
        """
        return LimitedPrecision(1, 2 * self.document_epsilon)

    def at_peers(self, peers: int) -> "WholeDocument":
        """What a document, or user, is promised of whom ``peers`` of the peers each hold a copy."""
        return WholeDocument(
            self.epsilon * positive_integer(peers, "peers"),
            parties=self.parties,
            drop=self.drop,
            collude=self.collude,
            documents_per_user=self.documents_per_user,
        )

    def in_words(self) -> str:
        """The promise for results, transcripts and pages."""
        user = self.user_epsilon
        of_user = "" if user is None else f", and all of one user by at most e^{text_up(user)}"
        return (
            "Adding or removing one whole document changes any outcome's probability by a factor "
            f"of at most e^{text_up(self.document_epsilon)} ({self._replaced()}){of_user}, "
            f"against {self._against()}, the coordinator with them or not, while at most "
            f"{self.drop} drop out. What k peers hold counts k times. {_COMPUTATIONAL}"
        )

    def _replaced(self) -> str:
        within = f"its label included: e^{text_up(self.replacing)}"
        if self.documents_per_user is None:
            return f"replacing one, {within}"
        # Both users' documents may change places with others of theirs.
        return (
            f"replacing one by another of the same user, {within}; by one of another user: "
            f"e^{text_up(2 * self.document_epsilon)}"
        )

    def _against(self) -> str:
        if not self.collude:
            return f"everyone but the {self.parties} peers, who know their own noise"
        return f"everyone but more than {self.collude} of the {self.parties} peers colluding"

    def __str__(self) -> str:
        return (
            f"epsilon={text_up(self.document_epsilon)} per whole document, of {self.parties} peers "
            f"{self.collude} may collude and {self.drop} drop out"
        )

    def __hash__(self) -> int:
        return hash((WholeDocument, self.epsilon, self.documents_per_user, self.collude))

    def promises(self, other: OrderedGuarantee) -> bool:
        if isinstance(other, WholeDocument):
            return self.collude >= other.collude and self._bounds(other)
        return isinstance(other, NoGuarantee)

    def _bounds(self, other: "WholeDocument") -> bool:
        document = self.document_epsilon <= other.document_epsilon
        replaced = self.replacing <= other.replacing
        if other.user_epsilon is None or self.user_epsilon is None:
            return document and replaced and other.user_epsilon is None
        return document and replaced and self.user_epsilon <= other.user_epsilon


def _number_of_peers(number: Exact, name: str) -> int:
    if exact(number, name) == 0:
        return 0
    return positive_integer(number, name)
