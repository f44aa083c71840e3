"""What a sum of several peers' documents, noised before it is opened, promises a whole document.

Each document moves the sum by a vector of L1 norm at most S. The shares of any h honest peers, the
document's own among them, sum to two-sided geometric noise at the rate epsilon/S; whatever else is
opened is added to it. So for any documents, with one of them or without, and whatever the
coordinator and the peers that collude see together,

    P(outcome | with) <= e^epsilon P(outcome | without),    and the other way round.

One document for another is one removed and one added: 2 epsilon. That a peer takes part is public,
how many documents it has is not.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, TypeAlias

from sottovoce.errors import InputError, ParameterError
from sottovoce.privacy.exact import Exact, exact, float_up, positive, positive_integer, text_up
from sottovoce.privacy.guarantee import (
    LimitedPrecision,
    LocalPrivacy,
    NoGuarantee,
    OrderedGuarantee,
)

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
            f"of at most e^{text_up(self.document_epsilon)} ({self._describe_replacement()})"
            f"{of_user}, "
            f"against {self._against()}, the coordinator with them or not, while at most "
            f"{self.drop} drop out. What k peers hold counts k times. {_COMPUTATIONAL}"
        )

    def _describe_replacement(self) -> str:
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


Guarantee: TypeAlias = LimitedPrecision | LocalPrivacy | WholeDocument | NoGuarantee


Record: TypeAlias = dict[str, int | float | str]


def to_record(guarantee: Guarantee) -> Record:
    """What JSON can hold, and `from_record` reads back without loss."""
    if isinstance(guarantee, NoGuarantee):
        return {"kind": "none", "reason": guarantee.reason}
    if isinstance(guarantee, WholeDocument):
        return _of_whole_document(guarantee)
    record: Record = {
        "epsilon": str(guarantee.epsilon),
        "epsilon_rounded_up": float_up(guarantee.epsilon),
        "nats_per_word": str(guarantee.rate),
        "unit": guarantee.unit,
    }
    if isinstance(guarantee, LimitedPrecision):
        return {"kind": "limited-precision", "n": guarantee.n, **record}
    return {"kind": "local", "length_cap": guarantee.length_cap, **record}


def _of_whole_document(guarantee: WholeDocument) -> Record:
    record: Record = {
        "kind": "whole-document",
        "epsilon": str(guarantee.epsilon),
        "epsilon_document": str(guarantee.document_epsilon),
        "epsilon_document_rounded_up": float_up(guarantee.document_epsilon),
        "epsilon_replaced": str(guarantee.replacing),
        "parties": guarantee.parties,
        "drop": guarantee.drop,
        "collude": guarantee.collude,
    }
    if guarantee.documents_per_user is None:
        return record
    user = str(guarantee.user_epsilon)
    return {**record, "documents_per_user": guarantee.documents_per_user, "epsilon_user": user}


def from_record(record: Mapping[str, Any]) -> Guarantee:
    """The guarantee that `to_record` wrote; what contradicts itself is refused."""
    try:
        guarantee = _read(record)
    except KeyError as missing:
        raise InputError(f"a guarantee's record lacks its field {missing}.") from None
    if to_record(guarantee) != dict(record):
        raise InputError("a guarantee's record contradicts itself; it was changed by hand.")
    return guarantee


def _read(record: Mapping[str, Any]) -> Guarantee:
    kind = record["kind"]
    if kind == "limited-precision":
        return LimitedPrecision(record["n"], record["epsilon"], record["unit"])
    if kind == "local":
        return LocalPrivacy(record["epsilon"], record["length_cap"], record["unit"])
    if kind == "whole-document":
        return WholeDocument(
            record["epsilon"],
            parties=record["parties"],
            drop=record["drop"],
            collude=record["collude"],
            documents_per_user=record.get("documents_per_user"),
        )
    if kind == "none":
        return NoGuarantee(record["reason"])
    raise InputError("a guarantee's kind must be limited-precision, local, whole-document or none.")


def compose_overlapping(*parts: LimitedPrecision) -> LimitedPrecision:
    """Releases of the same documents: rates add. Stated at the smallest N among the parts.

    >>> print(compose_overlapping(LimitedPrecision(2, 1), LimitedPrecision(4, 1)))
    (N=2, epsilon=1.5) limited-precision local privacy per document, 0.75 nats per word
    """
    _check_units(parts)
    rate = sum((part.rate for part in parts), Fraction(0))
    return LimitedPrecision.at_rate(rate, n=_smallest_n(parts), unit=parts[0].unit)


def compose_disjoint(*parts: LimitedPrecision) -> LimitedPrecision:
    """Releases of documents no two of which share a unit: the largest rate counts.

    >>> print(compose_disjoint(LimitedPrecision(2, 1), LimitedPrecision(4, 1)))
    (N=2, epsilon=1) limited-precision local privacy per document, 0.5 nats per word
    """
    _check_units(parts)
    rate = max(part.rate for part in parts)
    return LimitedPrecision.at_rate(rate, n=_smallest_n(parts), unit=parts[0].unit)


def compose_counts(*parts: WholeDocument) -> WholeDocument:
    """Counts of the same documents: epsilons add, against the fewest that may collude in any.

    Users are promised something only where each count bounds them, and documents then what the
    loosest bound gives.

    >>> print(compose_counts(WholeDocument(1, parties=4, collude=1), WholeDocument(2, parties=3)))
    epsilon=3 per whole document, of 4 peers 0 may collude and 0 drop out
    """
    if not parts:
        raise ParameterError("at least one guarantee is needed to compose, got none.")
    bounds = [part.documents_per_user for part in parts if part.documents_per_user is not None]
    bounded = len(bounds) == len(parts)
    each = (part.epsilon if bounded else part.document_epsilon for part in parts)
    return WholeDocument(
        sum(each, Fraction(0)),
        parties=max(part.parties for part in parts),
        drop=max(part.drop for part in parts),
        collude=min(part.collude for part in parts),
        documents_per_user=max(bounds) if bounded else None,
    )


def _smallest_n(parts: tuple[LimitedPrecision, ...]) -> int:
    return reduce(min, (part.n for part in parts))


def _check_units(parts: tuple[LimitedPrecision, ...]) -> None:
    if not parts:
        raise ParameterError("at least one guarantee is needed to compose, got none.")
    if len({part.unit for part in parts}) > 1:
        raise ParameterError("guarantees of different units do not compose; restate one of them.")
