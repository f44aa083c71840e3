"""How documents are counted together: what is counted, by how many votes, and at what epsilon.

The noise of any h honest peers is enough for the promise, h = n - drop - collude: of n peers at
most ``drop`` are lost on the way, and of those that are left at most ``collude`` tell what they
know. Masks open for T = n - drop peers. A server that lies about who is left shows one group of at
least T peers one list, and another group another; the two groups have at least 2T - n peers in
common, and an honest peer signs one list only. So 2T - n must be greater than ``collude``.

What one count then promises is a value too, and whom a peer counts on for it. `WholeDocument` says
why it holds. A ledger counts changes within a document, each of which replaces its vector: 2
epsilon for one changed word, as for all of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import Any, Literal, TypeAlias, get_args

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ParameterError, TooFewPartiesError
from sottovoce.files import FilePath
from sottovoce.learn._examples import label_names
from sottovoce.learn.sums.fixed import FEWEST_PARTIES
from sottovoce.parsing import check_choice
from sottovoce.privacy.exact import Exact, positive, text_up, whole_number
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.shares import SMALLEST_RATE
from sottovoce.privacy.whole_document import WholeDocument, to_record

What: TypeAlias = Literal["words", "pairs"]
MOST_VOTES = 1 << 12
MOST_CELLS = 1 << 25
LARGEST_EPSILON = 100
_MOST_OF_A_USER = 1 << 20
_BOUND = ("documents_per_user",)


@dataclass(frozen=True)
class CountRecipe:
    """One count; public, and the same at every party.

    Attributes:
        what: ``words``: documents by word (and by label, where there are labels); ``pairs``: pairs
            of words that stand in one document.
        votes: S, the most votes of a document.
        epsilon: of the promise to a whole document.
        drop: how many peers may be lost on the way.
        collude: how many peers may work against the others; whoever reads the sum and knows its own
            noise is one, so that with 0 the promise does not hold against the peers themselves.
        documents_per_user: how many documents of one user vote at each peer; None: all of them, and
            nothing is promised to a user.
        declared: whether documents chose the words, which is then declared.
    """

    what: What = "words"
    votes: int = 10
    epsilon: Fraction = Fraction(1)
    drop: int = 0
    collude: int = 1
    documents_per_user: int | None = None
    declared: bool = False

    def __post_init__(self) -> None:
        check_choice("what", self.what, get_args(What))
        bound = self.documents_per_user
        # Votes of half a one more than S would cost more than epsilon.
        for name in ("votes", "drop", "collude", *(() if bound is None else _BOUND)):
            object.__setattr__(self, name, whole_number(getattr(self, name), name))
        fewest = 2 if self.what == "words" else 1
        if not fewest <= self.votes <= MOST_VOTES:
            why = ", one for the document and one for a word" if self.what == "words" else ""
            raise ParameterError(
                f"votes must be from {fewest} to {MOST_VOTES}{why}, got {self.votes}."
            )
        if not 0 < self.epsilon <= LARGEST_EPSILON:
            raise ParameterError(
                f"epsilon must be above 0 and at most {LARGEST_EPSILON}, got {self.epsilon}."
            )
        if self.rate < SMALLEST_RATE:
            raise ParameterError(
                f"epsilon must be at least {SMALLEST_RATE} for each of {self.votes} votes, got "
                f"{self.epsilon}; give fewer votes."
            )
        if min(self.drop, self.collude) < 0:
            raise ParameterError(
                f"drop and collude must be >= 0, got {self.drop} and {self.collude}."
            )
        bound = self.documents_per_user
        if bound is not None and not 1 <= bound <= _MOST_OF_A_USER:
            raise ParameterError(
                f"documents_per_user must be from 1 to {_MOST_OF_A_USER}, got {bound}."
            )

    @property
    def rate(self) -> Fraction:
        """Epsilon / S: nats for each vote."""
        return self.epsilon / self.votes

    def honest(self, parties: int) -> int:
        """h: the fewest peers whose noise is in the sum and told to nobody."""
        return parties - self.drop - self.collude

    def threshold(self, parties: int) -> int:
        """T: how many peers must stay to the end."""
        return parties - self.drop

    def check_parties(self, parties: int) -> None:
        """Refuse numbers of peers for which the promise would not hold."""
        if parties < FEWEST_PARTIES:
            raise TooFewPartiesError(
                f"at least {FEWEST_PARTIES} peers must count together, got {parties}: of two, each "
                "takes off its own part and learns the other's."
            )
        left = self.threshold(parties)
        if left < FEWEST_PARTIES:
            raise ParameterError(
                f"drop must leave at least {FEWEST_PARTIES} of {parties} peers, got {self.drop}."
            )
        if self.honest(parties) < 1:
            raise ParameterError(
                "drop and collude must leave at least 1 honest peer whose noise counts, got "
                f"{self.drop} and {self.collude} of {parties} peers."
            )
        if 2 * left - parties <= self.collude:
            raise ParameterError(
                f"of {parties} peers {2 * left - parties} could tell a lying coordinator's groups "
                f"apart if {self.drop} may drop out, which must be more than collude, got "
                f"{self.collude}; lower drop or collude, or add peers."
            )


def cells_of(what: What, words: int, labels: int) -> int:
    """How many numbers the sum has."""
    if what == "pairs":
        return words * (words + 1) // 2
    return max(1, labels) * (words + 1)


def check_cells(what: What, words: int, labels: int) -> None:
    """Refuse sums that no party could hold, and what has no meaning."""
    if what == "pairs" and labels:
        raise ParameterError(
            f"pairs are counted without labels, got {labels}; count words by label instead."
        )
    number = cells_of(what, words, labels)
    if number > MOST_CELLS:
        raise ParameterError(
            f"a count must have at most {MOST_CELLS:,} cells, got {number:,} for {words:,} words; "
            "give fewer words."
        )


def state_promise(recipe: CountRecipe, parties: int) -> WholeDocument:
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
        for wrong in self._beyond_limits(recipe, state_promise(recipe, len(listed))):
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


def public_words(
    words: FilePath | Vocabulary | Iterable[str] | None, shortest: int, *, declared: bool
) -> tuple[str, ...]:
    """A public list in the form in which words are counted; one that documents chose is refused."""
    if words is None:
        raise ParameterError(
            "words must be a public list (a file, a Vocabulary or words), got none: those of the "
            "documents would tell something about them."
        )
    if isinstance(words, Vocabulary):
        found = words
    elif isinstance(words, str | PathLike):
        found = Vocabulary.load(words)
    else:
        found = Vocabulary.public(sorted(words) if isinstance(words, set | frozenset) else words)
    if found.data_dependent and not declared:
        raise ParameterError(
            "documents chose these words, and that tells something about them: give a public list, "
            "or declare it: declare_data_dependent=True, or sottovoce learn count "
            "--declare-data-dependent."
        )
    return found.apply_rules(TokenRules(shortest)).terms


def public_labels(labels: Sequence[Any] | None) -> tuple[str, ...]:
    """Label names in alphabetical order."""
    if labels is None:
        return ()
    names = () if isinstance(labels, str) else label_names(list(labels), len(labels)) or ()
    if isinstance(labels, str) or len(names) == 1 or len(set(names)) != len(names):
        raise ParameterError(
            f"labels must be at least two names in a list, all different, got {len(names)}; leave "
            "labels out to count words without them."
        )
    return tuple(sorted(names))
