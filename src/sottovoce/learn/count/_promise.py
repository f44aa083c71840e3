"""What counting together promises, and whom a peer counts on for it.

Each document's vector has L1 norm at most S, so adding or removing the document moves the sum by at
most S; the shares of any h peers sum to two-sided geometric noise of rate epsilon/S, which makes
any outcome's probability change by at most e^epsilon, and further shares only process that. To
replace a document, its label included, is to remove one and to add one: 2 epsilon. A ledger counts
changes within a document, each of which replaces its vector: 2 epsilon for one changed word, as for
all of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from sottovoce.errors import ParameterError
from sottovoce.learn.count._recipe import CountRecipe
from sottovoce.privacy._exact import text_up
from sottovoce.privacy._guarantee import LimitedPrecision

_COMPUTATIONAL = (
    "The noise is exact; masks and its random bits are of ChaCha20 and AES, so that the promise "
    "holds for whoever cannot break these."
)


@dataclass(frozen=True)
class DocumentGuarantee:
    """Pure differential privacy of whole documents, without a curator.

    >>> print(DocumentGuarantee(Fraction(1), parties=4, drop=0, collude=1))
    epsilon=1 per whole document, of 4 peers 1 may collude and 0 drop out

    Attributes:
        epsilon: of adding or removing one whole document.
        parties: n, how many peers counted together.
        drop: how many of them might have been lost.
        collude: how many of them may tell others all that they know.
        documents_per_user: how many documents of one user vote at each peer; None: unbounded.
    """

    epsilon: Fraction
    parties: int
    drop: int
    collude: int
    documents_per_user: int | None = None

    @classmethod
    def of(cls, recipe: CountRecipe, parties: int) -> "DocumentGuarantee":
        """What holds for one count among so many peers."""
        bound = recipe.documents_per_user
        return cls(recipe.epsilon, parties, recipe.drop, recipe.collude, bound)

    @property
    def document_epsilon(self) -> Fraction:
        """Of one document: where users are bounded, another of that user's may take its place."""
        return self.epsilon if self.documents_per_user is None else 2 * self.epsilon

    @property
    def user_epsilon(self) -> Fraction | None:
        """Of all that one user wrote, as far as it lies at one peer; None: nothing is promised."""
        bound = self.documents_per_user
        return None if bound is None else bound * self.epsilon

    @property
    def in_ledger(self) -> LimitedPrecision:
        """What it costs in a ledger: any change of words within a document."""
        return LimitedPrecision(1, 2 * self.epsilon)

    def in_words(self) -> str:
        """The promise for results, transcripts and pages."""
        whole = text_up(self.document_epsilon)
        return (
            f"Adding or removing one whole document changes any outcome's probability by a factor "
            f"of at most e^{whole} (replacing one, its label included: "
            f"e^{text_up(2 * self.epsilon)}){self._of_user()}, against {self._against()}, the "
            f"coordinator with them or not, while at most {self.drop} drop out. What k peers hold "
            "counts k times. " + _COMPUTATIONAL
        )

    def record(self) -> dict[str, int | str | None]:
        """What JSON can hold."""
        user = self.user_epsilon
        return {
            "kind": "whole-document",
            "epsilon": str(self.document_epsilon),
            "epsilon_replaced": str(2 * self.epsilon),
            "epsilon_user": None if user is None else str(user),
            "parties": self.parties,
            "drop": self.drop,
            "collude": self.collude,
            "documents_per_user": self.documents_per_user,
            "in_words": self.in_words(),
        }

    def _against(self) -> str:
        if not self.collude:
            return f"everyone but the {self.parties} peers, who know their own noise"
        return f"everyone but more than {self.collude} of the {self.parties} peers colluding"

    def _of_user(self) -> str:
        user = self.user_epsilon
        if user is None:
            return ""
        return f", and all that one user wrote by at most e^{text_up(user)}"

    def __str__(self) -> str:
        return (
            f"epsilon={text_up(self.document_epsilon)} per whole document, of {self.parties} peers "
            f"{self.collude} may collude and {self.drop} drop out"
        )


@dataclass(frozen=True)
class CountTrust:
    """Whom a peer has named itself, and how many of them it gives up.

    Attributes:
        peers: those whose noise it counts on, itself among them.
        drop: how many of them may be lost.
        collude: how many of them may work against it.
        most_epsilon: the most that it takes part in; None: as its ledger allows.
    """

    peers: tuple[str, ...]
    drop: int = 0
    collude: int = 1
    most_epsilon: Fraction | None = None

    def check(self, name: str, peers: Iterable[str], recipe: CountRecipe) -> None:
        """Refuse a roster with others, and terms with another h.

        Peers that somebody else brought would make every share smaller, and add no noise.
        """
        listed = tuple(sorted(peers))
        strangers = sorted(set(listed) - set(self.peers))
        if strangers:
            raise ParameterError(
                f"{name} counts on peers that it has named itself, and has not named "
                f"{', '.join(strangers)}; leave them out, or name them there."
            )
        if (recipe.drop, recipe.collude) != (self.drop, self.collude):
            n = len(listed)
            raise ParameterError(
                f"{name} counts on the noise of {n - self.drop - self.collude} of {n} peers (drop "
                f"{self.drop}, collude {self.collude}), got terms for {recipe.honest(n)} (drop "
                f"{recipe.drop}, collude {recipe.collude}); agree on these."
            )
        if self.most_epsilon is not None and recipe.epsilon > self.most_epsilon:
            raise ParameterError(
                f"{name} counts at epsilon up to {text_up(self.most_epsilon)}, got "
                f"{text_up(recipe.epsilon)}."
            )
        recipe.check_parties(len(listed))
