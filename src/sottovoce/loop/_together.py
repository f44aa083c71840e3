"""Documents that are counted together instead of released: what the opened sums tell, and of whom.

Four holders have a quarter of the people each. Of epsilon one half is spent on pairs of words, for
topics, the other on words by label, for the classifier and totals; both sums have the votes and the
shares of noise of `sottovoce.learn.count`, and add up to pure epsilon-differential privacy for a
whole document. Nothing is sent and no ledger is charged: the noise is drawn to look at it.

A sum has no row of anybody, so that nobody can be ranked by it. What is left to an adversary is to
ask whether a document is in it. The strongest knows every other document, the vote keys, what this
document would say, and the noise of the peers that collude: h shares are unknown to them, which sum
to two-sided geometric noise of rate r = epsilon/(2 S). With u the document's votes and z the sum
less all that they know,

    ln P(z | with)/P(z | without) = r sum |z| - |z - u|, at most r ||u||_1, over both sums epsilon.

So with 5% false alarms nobody tells more than min(0.05 e^epsilon, 1 - 0.95 e^-epsilon) of them.
"""

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from sottovoce.arrays import Floats, Integers
from sottovoce.learn.count import TogetherCounts
from sottovoce.learn.count.recipe import CountRecipe, What
from sottovoce.learn.count.votes import VotePlan
from sottovoce.learn.documents import Documents
from sottovoce.loop._passage import TRIALS, PassageTest, most_told, told_share
from sottovoce.loop.subject import UserDocuments
from sottovoce.loop.usefulness import APART, ASKED, HOLDERS, OTHER, Task
from sottovoce.privacy.shares import NoiseShare
from sottovoce.privacy.whole_document import WholeDocument

COLLUDE = 1
_COUNTS: tuple[What, ...] = ("pairs", "words")
_SHARE = Fraction(1, len(_COUNTS))
_PEERS = tuple(f"holder {number}" for number in range(1, HOLDERS + 1))
_LOOKED_AT = 100


@dataclass(frozen=True, eq=False)
class TogetherCounting:
    """A community whose four holders count together."""

    documents: UserDocuments
    texts: tuple[str, ...]
    """Of the documents."""
    task: Task
    votes: int
    seed: int

    def promise(self, epsilon: Fraction) -> WholeDocument:
        """What both sums together promise a document."""
        return WholeDocument(epsilon, parties=HOLDERS, collude=COLLUDE)

    def usefulness(self, epsilon: Fraction) -> dict[str, float]:
        """What the opened sums are good for."""
        pairs, words = (self.opened(what, epsilon) for what in _COUNTS)
        return self.task.counted_usefulness(pairs, words, self.texts)

    def opened(self, what: What, epsilon: Fraction) -> TogetherCounts:
        """One of the two sums, with every holder's share of its noise."""
        recipe, plan = self._recipe(what, epsilon), self._plan(what)
        recipe.check_parties(HOLDERS)
        total = self._voted[what].copy()
        for _ in _PEERS:
            total += _share(recipe).draw(total.size)
        return TogetherCounts(plan.words, plan.labels, total, recipe, _PEERS, _PEERS)

    def told(self, epsilon: Fraction) -> PassageTest:
        """How many documents the strongest adversary tells, beside what the promise allows."""
        generator = np.random.default_rng(self.seed)
        filled = np.flatnonzero(np.diff(self.documents.counts.indptr))
        rows = generator.choice(filled, min(_LOOKED_AT, filled.size), replace=False)
        tries = np.resize(rows, TRIALS)
        scores = np.zeros(2 * TRIALS)
        for what in _COUNTS:
            vectors = {row: self._vector(what, row) for row in rows.tolist()}
            asked = [vectors[row] for row in tries.tolist()]
            scores += _log_ratios(asked, self._recipe(what, epsilon))
        told = told_share(scores)
        return PassageTest(told, told, most_told(float(epsilon)), TRIALS)

    def _recipe(self, what: What, epsilon: Fraction) -> CountRecipe:
        return CountRecipe(what, self.votes, epsilon * _SHARE, collude=COLLUDE)

    def _plan(self, what: What) -> VotePlan:
        labels = tuple(sorted((OTHER, ASKED, APART))) if what == "words" else ()
        return VotePlan(what, self.documents.words, labels, self.votes)

    @cached_property
    def _voted(self) -> dict[What, Integers]:
        """The sums of votes, before any noise."""
        held = self.documents.owners % HOLDERS
        return {
            what: np.sum(
                [
                    self._plan(what).summed(self._key(at), self._counted.part(held == at))
                    for at in range(HOLDERS)
                ],
                axis=0,
            )
            for what in _COUNTS
        }

    @cached_property
    def _counted(self) -> Documents:
        names = tuple(map(str, range(self.documents.rows)))
        return Documents(self.texts, tuple(self.task.label_names.tolist()), ids=names)

    def _vector(self, what: What, row: int) -> Integers:
        """The votes of one document, cells without one left out."""
        alone = np.zeros(self.documents.rows, bool)
        alone[row] = True
        key = self._key(int(self.documents.owners[row]) % HOLDERS)
        voted = self._plan(what).summed(key, self._counted.part(alone))
        return voted[voted > 0]

    def _key(self, holder: int) -> bytes:
        """Of a holder's votes; the loop hides nobody, and the promise needs no secret key."""
        return hashlib.sha256(f"loop {self.seed} {holder}".encode()).digest()


def _share(recipe: CountRecipe) -> NoiseShare:
    return NoiseShare(epsilon=recipe.epsilon, norm=recipe.votes, among=recipe.honest(HOLDERS))


def _log_ratios(vectors: list[Integers], recipe: CountRecipe) -> Floats:
    """Of each vector's presence: where it is in the sum, then where it is not."""
    votes = np.concatenate(vectors)
    owner = np.repeat(np.arange(len(vectors)), [each.size for each in vectors])
    ratios = []
    for told in (votes, np.zeros_like(votes)):
        seen = told + sum(_share(recipe).draw(votes.size) for _ in range(recipe.honest(HOLDERS)))
        nearer = np.abs(seen) - np.abs(seen - votes)
        ratios.append(np.bincount(owner, nearer, minlength=len(vectors)))
    return np.asarray(float(recipe.rate) * np.concatenate(ratios), np.float64)
