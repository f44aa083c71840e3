"""The audit of counts through the code that runs: near epsilon, never above, each fault caught.

A document of two listed words casts all its votes for one cell, so that one count of pairs tries a
document for every cell. Of four peers the last colludes: it tells its noise, and exactly the h = 3
shares that are counted on stay unknown.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import count

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from support.counts import Counting

from sottovoce.learn.count.recipe import CountRecipe
from sottovoce.learn.documents import Documents
from sottovoce.learn.run import count as votes_module
from sottovoce.learn.run.count import VotePlan
from sottovoce.privacy.audit.findings import AuditReport
from sottovoce.privacy.audit.sums import audit_sum, audit_votes
from sottovoce.privacy.shares import NoiseShare
from sottovoce.release.audit import FixedKeystream

VOTES = 2
LAW, DOCUMENT = "law of the noise", "a document of two words"
PEERS, COLLUDER = ("ada", "ben", "cy"), "dee"


class Counts:
    """Opens counts of pairs of ``words`` words; documents are the first peer's."""

    def __init__(self, epsilon: str, words: int = 140, answers: int = 1) -> None:
        self.recipe = CountRecipe("pairs", VOTES, Fraction(epsilon), collude=1)
        self.words = tuple(f"w{at}" for at in range(words))
        self.answers = answers
        low, high = np.triu_indices(words)
        self.texts = [f"w{i} w{j}" for i, j in zip(low, high, strict=True)]

    @property
    def share(self) -> NoiseShare:
        return NoiseShare(epsilon=self.recipe.epsilon, norm=VOTES, among=3)

    def __call__(self, votes: csr_array) -> NDArray[np.int64]:
        own = Documents(("unlisted", *(self.texts[cell] for cell in votes.indices)))
        others = dict.fromkeys((*PEERS[1:], COLLUDER), Documents(("unlisted",)))
        run = Counting({PEERS[0]: own, **others}, self.recipe, self.words)
        return np.stack([self.asked(run) for _ in range(self.answers)])

    def asked(self, run: Counting) -> NDArray[np.int64]:
        """The opened sum less what the colluding peer added."""
        totals = run.run().totals
        kept = run.spending._kept  # type: ignore[attr-defined] # what each peer drew
        return np.asarray(totals - kept[f"count {run.session.hex()} {COLLUDER}"])

    def audit(self, trials: int) -> AuditReport:
        return audit_sum(
            self.share, self, trials=trials, cells=len(self.texts), documents={DOCUMENT: [VOTES]}
        )


class DrawnAgain(Counts):
    """Whoever asks again gets new noise."""

    def asked(self, run: Counting) -> NDArray[np.int64]:
        run.spending._kept.clear()  # type: ignore[attr-defined] # what each peer drew
        return super().asked(run)


@pytest.fixture(autouse=True)
def same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = count(20_000)
    monkeypatch.setattr(
        NoiseShare, "_make_source", staticmethod(lambda: FixedKeystream(next(seeds)))
    )


def failing(report: AuditReport) -> set[str]:
    return {finding.name for finding in report.findings if not finding.holds}


def reached(report: AuditReport) -> float:
    return next(each.tightness for each in report.findings if each.tightness is not None)


def test_a_count_reaches_its_epsilon_nearly_and_never_exceeds_it() -> None:
    report = Counts("2", words=200).audit(trials=40_000)
    assert report.holds, str(report)
    assert 0.9 <= reached(report) <= 1


@pytest.mark.long
@pytest.mark.parametrize("epsilon", ["0.5", "1", "2", "4"])
def test_every_epsilon_is_reached_nearly_and_never_exceeded(epsilon: str) -> None:
    report = Counts(epsilon, words=360).audit(trials=1 << 18)
    assert report.holds, str(report)
    assert 0.9 <= reached(report) <= 1


def test_the_same_count_asked_for_again_tells_nothing_more() -> None:
    assert Counts("2", words=100, answers=2).audit(trials=5000).holds


def test_noise_that_is_drawn_again_without_paying_is_caught() -> None:
    report = DrawnAgain("2", words=100, answers=2).audit(trials=5000)
    assert failing(report) == {DOCUMENT}
    assert reached(report) > 1.5


def test_a_peer_without_noise_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    draw, calls = NoiseShare.draw, count()

    def silent_first(share: NoiseShare, number: int) -> NDArray[np.int64]:
        return draw(share, number) * (next(calls) % 4 > 0)

    monkeypatch.setattr(NoiseShare, "draw", silent_first)
    assert failing(Counts("2", words=100).audit(trials=5000)) == {LAW, DOCUMENT}


def test_shares_of_the_wrong_size_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nobody colluded: a quarter each, of which three are unknown."""
    monkeypatch.setattr(CountRecipe, "honest", lambda _, parties: parties)
    assert failing(Counts("2").audit(trials=9000)) == {LAW, DOCUMENT}


TEXTS = ("w1 w2 w3", "w2 w4", "w1 w1 w5 w6", "w9", "w3 w4 w5 w6 w7") * 4


def votes_of(plan: VotePlan) -> AuditReport:
    def summed(rows: Sequence[tuple[str, str]]) -> NDArray[np.int64]:
        ids, texts = zip(*rows, strict=True)
        return plan.sum_votes(b"key", Documents(texts, ids=ids))

    return audit_votes([(str(i), text) for i, text in enumerate(TEXTS)], summed, plan.votes)


PLANS = [VotePlan(what, tuple(f"w{at}" for at in range(9)), votes=3) for what in ("words", "pairs")]


@pytest.mark.parametrize("plan", PLANS, ids=["words", "pairs"])
def test_votes_are_found_to_be_of_their_documents_alone(plan: VotePlan) -> None:
    report = votes_of(plan)
    assert report.holds, str(report)


@pytest.mark.parametrize("plan", PLANS, ids=["words", "pairs"])
def test_votes_that_depend_on_the_row_are_caught(
    plan: VotePlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound: Callable[..., object] = votes_module._draw_numbers

    def by_row(key: bytes, documents: Documents, sizes: Sequence[int]) -> object:
        rows = tuple(str(row) for row in range(len(documents)))
        return sound(key, Documents(documents.texts, ids=rows), sizes)

    monkeypatch.setattr(votes_module, "_draw_numbers", by_row)
    assert "a document's vote is its own" in failing(votes_of(plan))
