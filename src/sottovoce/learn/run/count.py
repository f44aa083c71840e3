"""A count from documents to the opened sum at every party, as one script for each.

A peer's summand is the votes of its documents and its share of the noise, in integers modulo 2^64;
nothing is refused by its value, since a refusal would tell of the data. Every peer signs a digest
of the terms with its keys: a coordinator that shows peers different terms opens nothing.

Who learns what stands in `count_leakage`.
"""

import hashlib
from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.arrays import Integers
from sottovoce.errors import DataError, ParameterError
from sottovoce.learn.count.opened import TogetherCounts, counted_record
from sottovoce.learn.count.recipe import CountRecipe, CountTrust, state_promise
from sottovoce.learn.count.spend import CountSpend, Spending, spend_name
from sottovoce.learn.count.votes import VotePlan
from sottovoce.learn.documents import Documents, keyed_digest
from sottovoce.learn.run.terms import Holdings, RunTerms
from sottovoce.learn.sums.fixed import Ring
from sottovoce.learn.sums.keys import MaskedSum
from sottovoce.learn.sums.masked_sum import MaskPeer, MaskServer
from sottovoce.learn.training_terms import COORDINATOR
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.message import Leakage, Learns
from sottovoce.learn.wire.stages import Stage
from sottovoce.privacy.whole_document import WholeDocument

_Script = Generator[Stage, Any, dict[str, Value]]


def count_plan(_terms: RunTerms) -> tuple[str, ...]:
    """The names of all stages."""
    return ("count",)


def counting_peer(name: str, terms: RunTerms, holdings: Holdings) -> _Script:
    """A peer's part; what it takes no part in is refused at once."""
    count, identity = NoisedSum(terms), holdings.known_identity(name, terms)
    voter = find_voter(name, count, holdings)
    voter.check()

    def script() -> _Script:
        summed = yield Stage(
            "count", lambda s: MaskPeer(name, count.masked_sum(s), identity, voter.summand)
        )
        return count.record(summed.total, summed.survivors)

    return script()


def counting_coordinator(terms: RunTerms) -> _Script:
    """The coordinator's part."""
    count = NoisedSum(terms)

    def script() -> _Script:
        summed = yield Stage("count", lambda s: MaskServer(count.masked_sum(s)))
        return count.record(summed.total, summed.survivors)

    return script()


@dataclass(frozen=True)
class NoisedSum:
    """The sum that a run's terms describe."""

    terms: RunTerms

    @property
    def recipe(self) -> CountRecipe:
        """How documents are counted."""
        if self.terms.count is None:
            raise ParameterError("a run that counts must say how; got no recipe.")
        return self.terms.count

    @cached_property
    def plan(self) -> VotePlan:
        """Who votes for what."""
        recipe, text = self.recipe, self.terms.text
        if text is None:
            raise ParameterError("a count needs the public words, got none.")
        bound = recipe.documents_per_user
        voted = (text.words, self.terms.labels, recipe.votes, text.rules)
        return VotePlan(recipe.what, *voted, bound)

    @property
    def guarantee(self) -> WholeDocument:
        """What holds for every document."""
        return state_promise(self.recipe, len(self.terms.identities))

    def masked_sum(self, session: bytes) -> MaskedSum:
        """What its parties have in common."""
        identities = self.terms.identities
        return MaskedSum(
            session,
            COORDINATOR,
            identities,
            self.plan.cells,
            threshold=self.recipe.threshold(len(identities)),
            context=hashlib.sha256(self.terms.to_bytes()).digest(),
        )

    def record(self, total: Ring, survivors: tuple[str, ...]) -> dict[str, Value]:
        """What a party keeps of the opened sum."""
        numbers, terms = np.asarray(total).view(np.int64), self.terms
        counted = TogetherCounts(
            self.plan.words, terms.labels, numbers, self.recipe, terms.peers, survivors
        )
        return counted_record(counted, terms.session)


@dataclass(frozen=True, repr=False)
class Voter:
    """What a peer brings to a count: its documents, its vote key, where it pays, whom it trusts."""

    name: str
    count: NoisedSum
    documents: Documents
    key: bytes
    spending: Spending
    trust: CountTrust

    def check(self) -> None:
        """Refuse what this peer takes no part in, before it has said anything."""
        count = self.count
        self.trust.check(self.name, count.terms.identities, count.recipe)
        self.trust.check_labels(self.name, count.plan.labels)
        count.plan.check(self.documents)
        self.spending.check(self.spend)

    def summand(self) -> Ring:
        """Votes and a share of the noise: paid for first, drawn once."""
        return self.spending.draw_once(self.spend, self._add_noise).view(np.uint64)

    def _add_noise(self) -> Integers:
        from sottovoce.privacy.shares import NoiseShare  # noqa: PLC0415 - compiled; most runs draw none

        recipe, plan = self.count.recipe, self.count.plan
        honest = recipe.honest(len(self.count.terms.identities))
        share = NoiseShare(epsilon=recipe.epsilon, norm=recipe.votes, among=honest)
        return plan.sum_votes(self.key, self.documents) + share.draw(plan.cells)

    @property
    def spend(self) -> CountSpend:
        """What its documents pay for the run."""
        name = spend_name(self.count.terms.session, self.name)
        return CountSpend.for_documents(name, self.documents, self.count.guarantee)


def find_voter(name: str, count: NoisedSum, holdings: Holdings) -> Voter:
    """What a peer brings, or what it lacks; no document at all will do.

    To refuse none would tell one document from none.
    """
    examples = holdings.examples
    if not isinstance(examples, Documents):
        raise DataError(f"{name} must bring documents: rows of numbers are not counted.")
    if holdings.spending is None or holdings.trust is None:
        raise DataError(
            f"{name} must bring a ledger and name the peers that it counts on; see [count] in its "
            "party.toml."
        )
    key = keyed_digest(holdings.wanted_secret(name), "votes")
    return Voter(name, count, examples, key, holdings.spending, holdings.trust)


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
