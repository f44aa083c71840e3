"""Guarantees as values: printed, compared, composed and kept as records, never a comment.

The one primitive is the rate r, in nats per unit of L1 distance between two bags of words:
two-sided geometric noise with alpha = exp(-r) on every count gives

    P(output | y) <= exp(r * ||y - y'||_1) * P(output | y')      (tight)

so a release at rate r is (N, r N)-limited-precision locally private for every N at once. The
unit says whose data y is: one document, or all released documents of one user (distances then add
up over them). Which documents there are, and whose, is public. All numbers are exact rationals.

``a <= b`` reads "a promises at least what b promises": a partial order, in which guarantees of
different kinds are often not comparable. Two limited-precision guarantees of the same unit and
rate are equal, at whichever N they are stated.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Literal, TypeAlias

from sottovoce.errors import ParameterError
from sottovoce.privacy.exact import Exact, in_nats, positive, positive_integer, text_up

Unit: TypeAlias = Literal["document", "user"]

COMPUTATIONAL = (
    "The random bits come from AES-256 in counter mode: the guarantee holds against anyone who "
    "cannot tell that cipher from chance."
)
NO_PROTECTION = 8
"""From this epsilon on the noise hinders a search, not a check."""
_AS_GOOD_AS_SURE = 10_000
_UNITS = ("document", "user")
_LARGEST_N = 1 << 48


class OrderedGuarantee(ABC):
    """The order every guarantee shares, given what its kind says of `promises`."""

    @abstractmethod
    def promises(self, other: "OrderedGuarantee") -> bool:
        """Whether this guarantee promises at least what ``other`` does."""

    @abstractmethod
    def in_words(self) -> str:
        """What to print on cards and pages."""

    @abstractmethod
    def __hash__(self) -> int: ...

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.in_words())}</p>"

    def __le__(self, other: "OrderedGuarantee") -> bool:
        return self.promises(other)

    def __ge__(self, other: "OrderedGuarantee") -> bool:
        return other.promises(self)

    def __lt__(self, other: "OrderedGuarantee") -> bool:
        return self.promises(other) and not other.promises(self)

    def __gt__(self, other: "OrderedGuarantee") -> bool:
        return other < self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OrderedGuarantee) and self.promises(other) and other.promises(self)


@dataclass(frozen=True, init=False, eq=False)
class LimitedPrecision(OrderedGuarantee):
    """(N, epsilon)-limited-precision local privacy at the rate r = epsilon / N.

    Limited-Precision Release, Definition 2.
    For all data y, y' of one unit with ||y - y'||_1 = d, whatever d, every event's probability
    changes by a factor of at most exp(r d).

    >>> print(LimitedPrecision(2, 1))
    (N=2, epsilon=1) limited-precision local privacy per document, 0.5 nats per word
    >>> LimitedPrecision(2, 1) < LimitedPrecision(2, 2)
    True
    """

    n: int
    epsilon: Fraction
    unit: Unit

    def __init__(self, n: int, epsilon: Exact, unit: Unit = "document") -> None:
        object.__setattr__(self, "n", _check_n(positive_integer(n, "n")))
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "unit", _known_unit(unit))

    @classmethod
    def at_rate(cls, rate: Exact, *, n: int = 1, unit: Unit = "document") -> "LimitedPrecision":
        """The guarantee of noise at ``rate`` nats per word, stated at ``n`` words."""
        words = positive_integer(n, "n")
        return cls(words, positive(rate, "rate") * words, unit)

    @property
    def rate(self) -> Fraction:
        """The rate r = epsilon / N, in nats per unit of L1."""
        return self.epsilon / self.n

    def epsilon_at(self, n: int) -> Fraction:
        """epsilon(N) = r N: what the same release promises at another N."""
        return self.rate * positive_integer(n, "n")

    def state_at(self, n: int) -> "LimitedPrecision":
        """The same guarantee stated at ``n`` words."""
        return LimitedPrecision(n, self.epsilon_at(n), self.unit)

    def for_user(self, documents: int) -> "LimitedPrecision":
        """What a user who wrote at most ``documents`` documents is promised.

        Distances add up over their documents, so the rate stays; it is restated for N words changed
        in each of them: (documents * N, documents * epsilon).
        """
        times = positive_integer(documents, "documents")
        return LimitedPrecision(self.n * times, self.epsilon * times, "user")

    def in_words(self) -> str:
        """The promise for cards and pages."""
        passage = self.n // 2
        replace = f", or replacing a passage of up to {_words(passage)}," if passage else ""
        return (
            f"Adding or removing up to {_words(self.n)}{replace} in {_whose(self.unit)} changes "
            f"any outcome's probability by a factor of at most e^{text_up(self.epsilon)}. "
            + COMPUTATIONAL
        )

    def whole_in_words(self, words: float, row: str = "document") -> str:
        """What is left of the promise for a whole document of about so many counted words.

        That it is there at all changes probabilities by up to e^(r words): whoever thought it as
        likely there as not may then be 1/(1 + e^(-r words)) sure.
        """
        words = max(words, 1)
        said = "word" if words == 1 else "words"
        epsilon = float(self.rate) * words
        odds = math.exp(min(epsilon, 50))
        sure = f"{odds / (1 + odds):.2%}" if odds < _AS_GOOD_AS_SURE else "as good as"
        verdict = ": no protection" if epsilon >= NO_PROTECTION else ""
        return (
            f"That a whole {row} of {words:.3g} counted {said}, say, is there has an epsilon of "
            f"{epsilon:.3g}{verdict}; whoever thought it as likely there as not may be "
            f"{sure} sure."
        )

    def __str__(self) -> str:
        return (
            f"(N={self.n}, epsilon={text_up(self.epsilon)}) limited-precision local privacy "
            f"per {self.unit}, {in_nats(text_up(self.rate))} per word"
        )

    def __hash__(self) -> int:
        return hash((LimitedPrecision, self.rate, self.unit))

    def promises(self, other: OrderedGuarantee) -> bool:
        if isinstance(other, LimitedPrecision):
            return self.rate <= other.rate and _covers(self.unit, other.unit)
        return isinstance(other, NoGuarantee)


@dataclass(frozen=True, init=False, eq=False)
class LocalPrivacy(OrderedGuarantee):
    """Plain epsilon-local privacy of data cut to at most L words: epsilon = 2 L r.

    Limited-Precision Release, Definition 1.
    It holds for every pair of data, however far apart. Cutting may itself move two texts further
    apart (one word more at the front pushes one out at the end), so nothing better than epsilon is
    claimed for close pairs.

    >>> print(LocalPrivacy(2, 100))
    epsilon=2 local privacy per document of at most 100 words
    """

    epsilon: Fraction
    length_cap: int
    unit: Unit

    def __init__(self, epsilon: Exact, length_cap: int, unit: Unit = "document") -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "length_cap", positive_integer(length_cap, "length_cap"))
        object.__setattr__(self, "unit", _known_unit(unit))

    @classmethod
    def at_rate(cls, rate: Exact, *, length_cap: int, unit: Unit = "document") -> "LocalPrivacy":
        """The guarantee of noise at ``rate`` on data of at most ``length_cap`` words."""
        cap = positive_integer(length_cap, "length_cap")
        return cls(2 * cap * positive(rate, "rate"), cap, unit)

    @property
    def rate(self) -> Fraction:
        """The rate r = epsilon / (2 L), in nats per unit of L1."""
        return self.epsilon / (2 * self.length_cap)

    def for_user(self, documents: int) -> "LocalPrivacy":
        """What a user is promised whose at most ``documents`` documents are each cut to L words."""
        times = positive_integer(documents, "documents")
        return LocalPrivacy(self.epsilon * times, self.length_cap * times, "user")

    def in_words(self) -> str:
        """The promise for cards and pages."""
        return (
            f"Replacing {_whose(self.unit)}, of which at most {_words(self.length_cap)} count, by "
            "any other changes any outcome's probability by a factor of at most "
            f"e^{text_up(self.epsilon)}. " + COMPUTATIONAL
        )

    def __str__(self) -> str:
        return (
            f"epsilon={text_up(self.epsilon)} local privacy per {self.unit} "
            f"of at most {_words(self.length_cap)}"
        )

    def __hash__(self) -> int:
        return hash((LocalPrivacy, self.epsilon, self.unit))

    def promises(self, other: OrderedGuarantee) -> bool:
        if isinstance(other, LocalPrivacy):
            return self.epsilon <= other.epsilon and _covers(self.unit, other.unit)
        if isinstance(other, LimitedPrecision):
            return self.epsilon <= other.rate and _covers(self.unit, other.unit)
        return isinstance(other, NoGuarantee)


@dataclass(frozen=True, eq=False)
class NoGuarantee(OrderedGuarantee):
    """No epsilon holds, for the given reason; every guarantee promises more.

    >>> LimitedPrecision(2, 1) < NoGuarantee("floating-point noise")
    True
    """

    reason: str

    def in_words(self) -> str:
        """What to print where a promise would stand."""
        return f"No epsilon holds: {self.reason}"

    def __str__(self) -> str:
        return f"no guarantee: {self.reason}"

    def __hash__(self) -> int:
        return hash(NoGuarantee)

    def promises(self, other: OrderedGuarantee) -> bool:
        return isinstance(other, NoGuarantee)


def _covers(unit: Unit, other: Unit) -> bool:
    """A promise about all a user wrote is one about each of their documents, not the other way."""
    return unit in (other, "user")


def _check_n(n: int) -> int:
    """No document has as many words, and a ledger's numbers have 64 bits."""
    if n > _LARGEST_N:
        raise ParameterError(f"n must be at most {_LARGEST_N}, got more.")
    return n


def _known_unit(unit: str) -> str:
    if unit not in _UNITS:
        raise ParameterError("unit must be 'document' or 'user'.")
    return unit


def _words(number: int) -> str:
    return f"{number} word" if number == 1 else f"{number} words"


def _whose(unit: Unit) -> str:
    return "a document" if unit == "document" else "the released documents of a user"
