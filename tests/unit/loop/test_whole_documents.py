"""Whole documents hidden: by a local release, and by counting together."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.learn.features import word_counts
from sottovoce.loop import Effort, LoopPlan
from sottovoce.loop import _whole as together
from sottovoce.loop._round import document_test, is_defect
from sottovoce.loop._whole import TogetherCounting, bounded_counts
from sottovoce.loop.documents import PrivacySetting, UserDocuments, count_documents, join_texts
from sottovoce.loop.usefulness import APART, ASKED, OTHER, Task
from sottovoce.release.plan import Released
from sottovoce.topics import Catalogue, Topic

WORDS = ("loan", "debt", "bank", "rash", "itch", "skin")
CATALOGUE = Catalogue((Topic("money", WORDS[:3], "money"), Topic("health", WORDS[3:], "health")))
SAID = ("loan debt bank", "rash itch skin", "a loan, a debt", "nothing at all")
POSTS = pa.table(
    {
        "user": [f"user{at // 2 % 40}" for at in range(160)],
        "time": pa.array([1_700_000_000 + 604_800 * (at // 80) for at in range(160)]).cast(
            pa.timestamp("s", "UTC")
        ),
        "text": [SAID[at * 7 % 4] for at in range(160)],
    }
)
DOCUMENTS = count_documents(POSTS, WORDS, "week")
TEXTS = join_texts(POSTS, "week")


def counting(votes: int = 3) -> TogetherCounting:
    task = Task(DOCUMENTS, CATALOGUE, Effort(topics=2, iterations=2), 0)
    return TogetherCounting(DOCUMENTS, TEXTS, task, votes, 0)


def test_texts_are_those_of_the_documents_row_by_row() -> None:
    assert len(TEXTS) == DOCUMENTS.rows == 80
    counted = word_counts(TEXTS, WORDS, counting()._plan("words").rules)
    assert (counted.toarray() == DOCUMENTS.counts.toarray()).all()


def test_a_bounded_document_has_some_of_its_words_and_no_more_than_that() -> None:
    full = sparse.csr_array(np.array([[5, 3, 0], [1, 0, 1], [0, 0, 0]]))
    bounded = bounded_counts(full, 4, np.random.default_rng(0)).toarray()
    assert bounded.sum(axis=1).tolist() == [4, 2, 0]
    assert (bounded <= full.toarray()).all()


def test_sums_with_next_to_no_noise_are_those_of_the_votes_by_label() -> None:
    counted = counting(votes=7)
    words = counted.open_sum("words", Fraction(200))
    names = counted.task.label_names
    assert words.labels == (OTHER, APART, ASKED)
    assert words.document_totals.tolist() == [int((names == each).sum()) for each in words.labels]
    assert words.word_totals.sum(axis=0).tolist() == (DOCUMENTS.counts > 0).sum(axis=0).tolist()
    assert counted.open_sum("pairs", Fraction(200)).documents == (
        (DOCUMENTS.counts.sum(axis=1) >= 2).sum()
    )
    assert words.epsilon == 100


def test_both_sums_are_promised_together_and_each_has_half() -> None:
    counted = counting()
    halves = [counted.open_sum(what, Fraction(1)).epsilon for what in ("pairs", "words")]
    assert sum(halves) == counted.promise(Fraction(1)).epsilon == 1


def test_people_who_judge_the_classifier_are_not_learnt_from() -> None:
    names = counting().task.label_names
    assert set(names[DOCUMENTS.owners % 4 == 0]) == {APART}
    assert {ASKED, OTHER} <= set(names)


def test_a_document_of_a_sum_is_told_no_better_than_promised() -> None:
    assert not is_defect([counting().measure_told(Fraction(2))])
    assert counting().measure_told(Fraction(8)).strongest > 0.5


class Noiseless:
    """What a sum must not be opened with."""

    def draw(self, number: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.zeros(number, np.int64)


def test_sums_that_lack_their_noise_are_called_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "_share", lambda _recipe: Noiseless())
    assert is_defect([counting().measure_told(Fraction(1))])


class FourTimesEpsilon(PrivacySetting):
    """A release that adds a quarter of its noise."""

    def draw_release(
        self, documents: UserDocuments, frequencies: Floats | None, seed: int
    ) -> Released:
        return PrivacySetting(precision=3, epsilon=4).draw_release(documents, frequencies, seed)


def test_a_document_of_a_release_is_told_no_better_than_promised() -> None:
    bounded = UserDocuments(
        DOCUMENTS.users,
        DOCUMENTS.owners,
        DOCUMENTS.buckets,
        bounded_counts(DOCUMENTS.counts, 3, np.random.default_rng(0)),
        WORDS,
    )
    kept = [PrivacySetting(precision=3, epsilon=1)] * 3
    assert not is_defect([document_test(each, bounded, None, 0) for each in kept])
    broken = [FourTimesEpsilon(precision=3, epsilon=1)] * 8
    assert is_defect([document_test(each, bounded, None, 0) for each in broken])
    assert document_test(PrivacySetting(), bounded, None, 0).strongest == 1


def test_epsilons_and_votes_that_cannot_be_kept_are_refused_before_anything_runs() -> None:
    with pytest.raises(ParameterError, match="epsilon must be"):
        LoopPlan(whole_documents=("0",))
    with pytest.raises(ParameterError, match="votes must be from 2"):
        LoopPlan(whole_documents=("1",), votes=1)
