"""What one count promises, as a value, and whom a peer counts on for it.

`WholeDocument` says why it holds. A ledger counts changes within a document, each of which replaces
its vector: 2 epsilon for one changed word, as for all of them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

from sottovoce.errors import ParameterError
from sottovoce.learn.count.recipe import LARGEST_EPSILON, MOST_VOTES, CountRecipe, What
from sottovoce.privacy.exact import Exact, positive, text_up
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.whole_document import WholeDocument, to_record


def promised(recipe: CountRecipe, parties: int) -> WholeDocument:
    """What holds for every document of one count among so many peers."""
    return WholeDocument(
        recipe.epsilon,
        parties=parties,
        drop=recipe.drop,
        collude=recipe.collude,
        documents_per_user=recipe.documents_per_user,
    )


def promise_record(promise: WholeDocument) -> dict[str, int | float | str]:
    """What JSON can hold, with the promise in words."""
    return {**to_record(promise), "in_words": promise.in_words()}


def budget_in_ledger(promise: WholeDocument, budget: Exact | None) -> LimitedPrecision | None:
    """A budget for whole documents, by those who make this promise, as a ledger keeps it."""
    if budget is None:
        return None
    return WholeDocument(positive(budget, "budget"), parties=promise.parties).in_ledger


@dataclass(frozen=True)
class CountTrust:
    """Whom a peer has named itself, and how many of them it gives up.

    Attributes:
        peers: those whose noise it counts on, itself among them.
        drop: how many of them may be lost.
        collude: how many of them may work against it.
        most_epsilon: the most of one document in one count.
        labels: those of its documents, the only ones that it is counted by; none: it is not counted
            by label. Were any list taken, whoever proposes one after another would learn by
            refusals which labels there are, and pay nothing.
        most_votes: of one document.
        most_of_a_user: how many documents of a user may vote; None: all.
        what: the kinds of counts.
        declared: whether also by words that documents chose.
    """

    peers: tuple[str, ...]
    drop: int = 0
    collude: int = 1
    most_epsilon: Fraction = Fraction(2 * LARGEST_EPSILON)
    labels: tuple[str, ...] = ()
    most_votes: int = MOST_VOTES
    most_of_a_user: int | None = None
    what: tuple[What, ...] = get_args(What)
    declared: bool = True

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
        recipe.check_parties(len(listed))
        for wrong in self._beyond_limits(recipe, promised(recipe, len(listed))):
            raise ParameterError(f"{name} counts {wrong}; see [count_with] in its party.toml.")

    def _beyond_limits(self, recipe: CountRecipe, promise: WholeDocument) -> Iterator[str]:
        epsilon, bound = promise.document_epsilon, recipe.documents_per_user
        if recipe.what not in self.what:
            yield f"{' and '.join(self.what) or 'nothing'}, got {recipe.what}"
        if epsilon > self.most_epsilon:
            most = text_up(self.most_epsilon)
            yield f"at epsilon up to {most}, got {text_up(epsilon)} for a whole document"
        if recipe.votes > self.most_votes:
            yield f"up to {self.most_votes} votes of a document, got {recipe.votes}"
        if self.most_of_a_user is not None and not (bound and bound <= self.most_of_a_user):
            yield f"up to {self.most_of_a_user} documents of a user, got {bound or 'all of them'}"
        if recipe.declared and not self.declared:
            yield "by public words alone, got words that documents chose"

    def check_labels(self, name: str, labels: Iterable[str]) -> None:
        """Refuse other labels than this peer's own, whatever its documents have."""
        listed = set(labels)
        if listed and listed != set(self.labels):
            raise ParameterError(
                f"{name} is counted by labels that it has named itself ({len(self.labels)} of "
                f"them; labels in [count_with] of its party.toml), got another list of "
                f"{len(listed)}; agree on one."
            )
