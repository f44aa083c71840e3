"""Counts together in one process, with all that their parties bring."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sottovoce.arrays import Integers
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.count.recipe import CountRecipe, CountTrust
from sottovoce.learn.count.spend import PaidBefore, Spending
from sottovoce.learn.documents import Documents, keyed_digest
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.run.count import NoisedSum
from sottovoce.learn.run.party import RunParty, make_party
from sottovoce.learn.run.terms import Holdings, RunTerms
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.training_terms import COORDINATOR
from sottovoce.learn.wire.exchange import Exchange, Faults
from sottovoce.learn.wire.message import new_session

SECRET = bytes(range(16))


@dataclass
class Counting:
    """One count: its terms, and what each peer brings."""

    peers: Mapping[str, Documents]
    recipe: CountRecipe
    words: tuple[str, ...]
    labels: tuple[str, ...] = ()
    spending: Spending = field(default_factory=PaidBefore)
    session: bytes = field(default_factory=new_session)
    identities: dict[str, Identity] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.identities = self.identities or {name: Identity() for name in self.peers}

    @property
    def terms(self) -> RunTerms:
        return RunTerms(
            self.session,
            "count",
            "open",
            {name: identity.public for name, identity in self.identities.items()},
            text=TextRecipe("given", self.words),
            labels=self.labels,
            count=self.recipe,
        )

    def holdings(self, name: str) -> Holdings:
        recipe = self.recipe
        return Holdings(
            self.identities[name],
            self.peers[name],
            secret=SECRET,
            spending=self.spending,
            trust=CountTrust(tuple(self.peers), recipe.drop, recipe.collude, labels=self.labels),
        )

    def party(self, name: str) -> RunParty:
        holdings = Holdings() if name == COORDINATOR else self.holdings(name)
        return make_party(self.terms, name, holdings)

    def parties(self) -> list[RunParty]:
        return [self.party(name) for name in (COORDINATOR, *self.peers)]

    def run(self, *, lost: Mapping[str, int] | None = None) -> TogetherCounts:
        parties = self.parties()
        Exchange(parties, faults=Faults(silent_from=lost or {})).run()
        return TogetherCounts.from_record(parties[0].result())

    def plain(self, of: Sequence[str]) -> Integers:
        """The sum of the votes of some peers, without noise."""
        plan, key = NoisedSum(self.terms).plan, keyed_digest(SECRET, "votes")
        total: Integers = np.sum([plan.sum_votes(key, self.peers[name]) for name in of], axis=0)
        return total


def counting(
    number: int, words: Sequence[str] = ("bank", "debt", "loan"), **options: object
) -> Counting:
    """Some peers with a few documents each."""
    texts = ("debt and a loan", "the bank", "loan loan bank debt")
    peers = {f"peer{at}": Documents(texts[: 1 + at % 3]) for at in range(number)}
    chosen = {"votes": 3, "epsilon": Fraction(1), "collude": 0, **options}
    return Counting(peers, CountRecipe(**chosen), tuple(words))  # type: ignore[arg-type] # of the recipe
