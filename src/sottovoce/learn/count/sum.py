"""The noised sum as one stage of a run: what its parties have in common, and their machines.

A peer's summand is the votes of its documents and its share of the noise, in integers modulo 2^64;
nothing is refused by its value, since a refusal would tell of the data. Every peer signs a digest
of the terms with its keys: a coordinator that shows peers different terms opens nothing.

Who learns what stands in `count_leakage`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Integers
from sottovoce.learn.count.recipe import CountRecipe, CountTrust, state_promise
from sottovoce.learn.count.spend import CountSpend, Spending, spend_name
from sottovoce.learn.count.votes import VotePlan
from sottovoce.learn.documents import Documents
from sottovoce.learn.sums.fixed import Ring
from sottovoce.learn.sums.keys import Identity, MaskedSum
from sottovoce.learn.sums.masked_sum import MaskPeer, MaskServer
from sottovoce.learn.training_terms import COORDINATOR
from sottovoce.learn.wire.message import Leakage, Learns
from sottovoce.learn.wire.stages import PartyMaker
from sottovoce.privacy.whole_document import WholeDocument

STAGES = ("count",)


@dataclass(frozen=True)
class NoisedSum:
    """One count among its peers.

    Attributes:
        identities: every peer's name with its public identity.
        recipe: how it is counted.
        plan: who votes for what.
        digest: of all terms, which every peer signs.
    """

    identities: Mapping[str, bytes]
    recipe: CountRecipe
    plan: VotePlan
    digest: bytes

    @property
    def guarantee(self) -> WholeDocument:
        """What holds for every document."""
        return state_promise(self.recipe, len(self.identities))

    def peer(self, name: str, identity: Identity, summand: Callable[[], Ring]) -> PartyMaker:
        """The machine of a peer."""
        return lambda session: MaskPeer(name, self._masked_sum(session), identity, summand)

    def adder(self) -> PartyMaker:
        """The machine of the coordinator."""
        return lambda session: MaskServer(self._masked_sum(session))

    def _masked_sum(self, session: bytes) -> MaskedSum:
        return MaskedSum(
            session,
            COORDINATOR,
            self.identities,
            self.plan.cells,
            threshold=self.recipe.threshold(len(self.identities)),
            context=self.digest,
        )


@dataclass(frozen=True, repr=False)
class Voter:
    """What a peer brings to a count: its documents, its vote key, and where it pays.

    Attributes:
        name: of the peer.
        run: of the run, for the ledger.
        documents: its own.
        key: its vote key.
        spending: where it pays.
        trust: whom it counts on.
    """

    name: str
    run: bytes
    documents: Documents
    key: bytes
    spending: Spending
    trust: CountTrust

    def check(self, count: NoisedSum) -> None:
        """Refuse what this peer takes no part in, before it has said anything."""
        self.trust.check(self.name, count.identities, count.recipe)
        self.trust.check_labels(self.name, count.plan.labels)
        count.plan.check(self.documents)
        self.spending.check(self._spend(count))

    def summand(self, count: NoisedSum) -> Ring:
        """Votes and a share of the noise: paid for first, drawn once."""
        drawn = self.spending.draw_once(self._spend(count), lambda: self._add_noise(count))
        return drawn.view(np.uint64)

    def _add_noise(self, count: NoisedSum) -> Integers:
        from sottovoce.privacy.shares import NoiseShare  # noqa: PLC0415 - compiled; most runs draw none

        recipe, plan = count.recipe, count.plan
        honest = recipe.honest(len(count.identities))
        share = NoiseShare(epsilon=recipe.epsilon, norm=recipe.votes, among=honest)
        return plan.sum_votes(self.key, self.documents) + share.draw(plan.cells)

    def _spend(self, count: NoisedSum) -> CountSpend:
        name = spend_name(self.run, self.name)
        return CountSpend.for_documents(name, self.documents, count.guarantee)


def count_leakage(recipe: CountRecipe, parties: int) -> Leakage:
    """Who learns what from a count."""
    promise = state_promise(recipe, parties)
    total = "the sum of all documents' votes with the noise of everybody who is left"
    rows = (
        Learns("coordinator", f"who took part; {total}; no peer's own sum or number of documents"),
        Learns("every peer", f"who took part; {total}"),
    )
    more = recipe.collude + 1
    together = (
        f"the coordinator and up to {recipe.collude} of the peers learn no more of a document than "
        f"epsilon allows, from the sum less their own parts; with {more} or more of them, noise "
        f"that the promise counts on is known to them; with {recipe.threshold(parties)} peers the "
        "coordinator opens every mask and sees each peer's own noised sum"
    )
    against = (
        Learns("anybody, from any number of counts", "what their epsilons allow, added up"),
        Learns(
            "a peer that adds false votes, or none of its noise",
            "nothing more of others' documents; no votes are checked: one liar decides the result",
        ),
        Learns("everyone, for certain", promise.in_words()),
    )
    return Leakage(
        f"count together, {recipe.what}",
        rows,
        together,
        "authenticated private channels; the coordinator may lie, and peers know each other by "
        "their identities",
        against,
    )
