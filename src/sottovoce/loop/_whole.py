"""Whole documents hidden, at one epsilon: by a local release, by counting together, and not at all.

A local release hides a whole document if each has at most N counted words: emptying one is then a
change of N words, e^epsilon, and one for another is e^2epsilon, as for a document that is taken out
of a count together or replaced in it. N and the most votes of a document are one number here.

Documents that are counted together instead of released: what the opened sums tell, and of whom.

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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy import sparse

from sottovoce.arrays import Floats, Integers
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.count.recipe import CountRecipe, What
from sottovoce.learn.documents import Documents
from sottovoce.learn.run.count import VotePlan
from sottovoce.loop._round import (
    TRIALS,
    Circle,
    PassageTest,
    document_test,
    is_defect,
    most_told,
    setting_row,
    summary,
    told_share,
)
from sottovoce.loop.adversary import TopicScores
from sottovoce.loop.documents import PrivacySetting, UserDocuments
from sottovoce.loop.usefulness import APART, ASKED, HOLDERS, OTHER, Task
from sottovoce.privacy.exact import positive
from sottovoce.privacy.shares import NoiseShare
from sottovoce.privacy.whole_document import WholeDocument
from sottovoce.release.counts import Counts, checked_counts
from sottovoce.report.result import Row

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
        pairs, words = (self.open_sum(what, epsilon) for what in _COUNTS)
        return self.task.counted_usefulness(pairs, words, self.texts)

    def open_sum(self, what: What, epsilon: Fraction) -> TogetherCounts:
        """One of the two sums, with every holder's share of its noise."""
        recipe, plan = self._recipe(what, epsilon), self._plan(what)
        recipe.check_parties(HOLDERS)
        total = self._vote_sums[what].copy()
        for _ in _PEERS:
            total += _share(recipe).draw(total.size)
        return TogetherCounts(plan.words, plan.labels, total, recipe, _PEERS, _PEERS)

    def measure_told(self, epsilon: Fraction) -> PassageTest:
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
    def _vote_sums(self) -> dict[What, Integers]:
        """The sums of votes, before any noise."""
        held = self.documents.owners % HOLDERS
        return {
            what: np.sum(
                [
                    self._plan(what).sum_votes(
                        self._key(at), self._documents_voting.part(held == at)
                    )
                    for at in range(HOLDERS)
                ],
                axis=0,
            )
            for what in _COUNTS
        }

    @cached_property
    def _documents_voting(self) -> Documents:
        names = tuple(map(str, range(self.documents.rows)))
        return Documents(self.texts, tuple(self.task.label_names.tolist()), ids=names)

    def _vector(self, what: What, row: int) -> Integers:
        """The votes of one document, cells without one left out."""
        alone = np.zeros(self.documents.rows, bool)
        alone[row] = True
        key = self._key(int(self.documents.owners[row]) % HOLDERS)
        voted = self._plan(what).sum_votes(key, self._documents_voting.part(alone))
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


NOTHING, LOCAL, TOGETHER = "no protection", "local release", "count together"
PASSAGE, DOCUMENT = "passage", "whole document"
TOLD, BOUND = "document_told", "document_bound"


@dataclass(frozen=True, eq=False)
class WholeCircle:
    """A community, once around in each of the ways that hide whole documents."""

    circle: Circle
    before: TopicScores
    texts: tuple[str, ...]
    """Of the documents."""
    votes: int
    """N of the release, and the most votes of a document."""

    @cached_property
    def bounded_circle(self) -> Circle:
        """The same with at most N counted words in a document, drawn evenly."""
        documents, generator = (
            self.circle.documents,
            np.random.default_rng(self.circle.subject.seed),
        )
        counts = bounded_counts(documents.counts, self.votes, generator)
        return replace(self.circle, documents=replace(documents, counts=counts))

    @cached_property
    def counting(self) -> TogetherCounting:
        """The same among four holders who count together."""
        circle = self.circle
        return TogetherCounting(
            circle.documents, self.texts, circle.task, self.votes, circle.subject.seed
        )

    def measure_told(self, setting: PrivacySetting) -> PassageTest:
        """How many documents are told in a local release; without epsilon in the bare counts."""
        circle = self.circle if setting.epsilon is None else self.bounded_circle
        return document_test(
            setting, circle.documents, circle.subject.frequencies, circle.subject.seed
        )


def bounded_counts(counts: Counts, most: int, generator: np.random.Generator) -> Counts:
    """Of each document's words at most ``most``, any of them alike."""
    owners = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    rows, columns = (np.repeat(each, counts.data) for each in (owners, counts.indices))
    order = np.lexsort((generator.random(rows.size), rows))
    begins = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=counts.shape[0]))])
    kept = order[np.arange(rows.size) - begins[rows[order]] < most]
    ones = np.ones(kept.size, np.int64)
    return checked_counts(sparse.csr_array((ones, (rows[kept], columns[kept])), shape=counts.shape))


def compare_whole_documents(
    rows: Sequence[Row], circles: Sequence[WholeCircle], epsilons: Sequence[str], facts: Row
) -> tuple[Row, ...]:
    """The rows of all settings, and behind them two for each epsilon of whole documents."""
    bare = _told_row([each.measure_told(PrivacySetting()) for each in circles]) | {BOUND: None}
    unasked: Row = {"votes": None, TOLD: None, BOUND: None}
    first = [
        {"way": NOTHING, "unit": None, **unasked, **(bare if row is rows[0] else {})}
        if row["epsilon"] is None
        else {"way": LOCAL, "unit": PASSAGE, **unasked}
        for row in rows
    ]
    marked = [row | own for row, own in zip(rows, first, strict=True)]
    whole = [row | facts for epsilon in epsilons for row in _rows(circles, epsilon)]
    names: Row = {name: None for row in (*marked, *whole) for name in row}
    return (*marked, *(names | row for row in whole))


def _rows(circles: Sequence[WholeCircle], epsilon: str) -> Iterator[Row]:
    votes = circles[0].votes
    setting = PrivacySetting(precision=votes, epsilon=epsilon)
    asked: Row = {"unit": DOCUMENT, "votes": votes}
    outcomes = [each.bounded_circle.run_setting(setting, each.before) for each in circles]
    local = setting_row(setting, outcomes)
    told = _told_row([each.measure_told(setting) for each in circles])
    told["defect"] = told["defect"] or local["defect"]
    yield {**local, "way": LOCAL, "method": f"whole documents, {LOCAL}", **asked, **told}
    exact = positive(epsilon, "epsilon")
    yield {**_together_row(circles, exact), **asked, "epsilon": epsilon}


def _together_row(circles: Sequence[WholeCircle], epsilon: Fraction) -> Row:
    """What is no property of a sum, such as who is found, has no value here."""
    useful = [each.counting.usefulness(epsilon) for each in circles]
    row: Row = {
        "way": TOGETHER,
        "method": f"whole documents, {TOGETHER}",
        "rate": float(epsilon / 2 / circles[0].votes),
        "guarantee": str(circles[0].counting.promise(epsilon)),
        "seeds": len(circles),
    }
    for name in useful[0]:
        row |= summary(name, [each[name] for each in useful])
    return row | _told_row([each.counting.measure_told(epsilon) for each in circles])


def _told_row(tests: Sequence[PassageTest]) -> Row:
    return {
        TOLD: float(np.mean([test.strongest for test in tests])),
        BOUND: tests[0].bound,
        "defect": "above the bound" if is_defect(tests) else None,
    }
