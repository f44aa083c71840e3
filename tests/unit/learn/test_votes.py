"""What a document votes for, and that votes are evenly chosen."""

import numpy as np
import pytest

from sottovoce.errors import DataError, InputError, ParameterError
from sottovoce.learn.count.recipe import MOST_CELLS
from sottovoce.learn.documents import Documents
from sottovoce.learn.run import count as votes_module
from sottovoce.learn.run.count import VotePlan, pair_places

WORDS = ("bank", "debt", "loan", "sea")
KEY = bytes(range(32))


def of(*texts: str, labels: tuple[str, ...] | None = None) -> Documents:
    return Documents(texts, labels)


def test_a_short_document_votes_for_itself_and_each_of_its_words_once() -> None:
    plan = VotePlan("words", WORDS, votes=5)
    assert plan.sum_votes(KEY, of("a loan, a LOAN and the sea")).tolist() == [0, 0, 1, 1, 1]


def test_words_are_counted_in_the_row_of_the_document_s_label() -> None:
    plan = VotePlan("words", ("debt",), ("ham", "spam"), votes=5)
    counted = plan.sum_votes(KEY, of("debt", "debt", "sun", labels=("spam", "spam", "ham")))
    assert counted.reshape(2, 2).tolist() == [[0, 1], [2, 2]]


def test_pairs_stand_in_the_upper_triangle() -> None:
    low, high = np.triu_indices(7)
    assert pair_places(low, high, 7).tolist() == list(range(28))
    plan = VotePlan("pairs", WORDS, votes=6)
    pairs = np.zeros((4, 4), int)
    pairs[np.triu_indices(4)] = plan.sum_votes(KEY, of("sea debt"))
    assert pairs[1, 3] == 6
    pairs[np.triu_indices(4)] = plan.sum_votes(KEY, of("sea sea"))
    assert pairs[3, 3] == 6


@pytest.mark.parametrize("named", [True, False], ids=["by their ids", "by their texts"])
def test_each_word_of_a_long_document_is_chosen_as_often(*, named: bool) -> None:
    plan = VotePlan("words", WORDS, votes=3)
    ids = tuple(map(str, range(4000)))
    same = Documents(("bank debt loan sea",) * 4000, ids=ids)
    others = Documents(tuple(f"bank debt loan sea {each}" for each in ids))
    votes = plan.sum_votes(KEY, same if named else others)
    assert votes[-1] == 4000
    assert votes[:-1].sum() == 8000
    assert np.abs(votes[:-1] - 2000).max() < 5 * np.sqrt(1000)


def test_pairs_are_drawn_as_often_as_their_positions_are(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, ids = VotePlan("pairs", WORDS, votes=5), tuple(map(str, range(1000)))
    documents = Documents(("bank bank debt",) * 1000, ids=ids)

    def far_from_even() -> float:
        pairs = np.zeros((4, 4))
        pairs[np.triu_indices(4)] = plan.sum_votes(KEY, documents)
        # Of three pairs of positions one is bank and bank, two are bank and debt.
        return float(abs(pairs[0, 0] - 5000 / 3) / np.sqrt(5000 * 2 / 9))

    assert far_from_even() < 5
    drawn = votes_module._draw_numbers
    monkeypatch.setattr(
        votes_module,
        "_draw_numbers",
        lambda *given: (each | np.uint64(1) for each in drawn(*given)),
    )
    assert far_from_even() > 5


def test_another_key_chooses_others() -> None:
    plan, text = VotePlan("words", WORDS, votes=2), of("bank debt loan sea")
    chosen = {tuple(plan.sum_votes(bytes([k] * 32), text).tolist()) for k in range(30)}
    assert len(chosen) == 4


def test_documents_that_cannot_vote_are_refused_without_their_words() -> None:
    plan = VotePlan("words", WORDS, ("ham", "spam"), votes=3)
    with pytest.raises(DataError, match=r"among the 2 public names, got 1 others") as found:
        plan.check(of("debt", labels=("secret",)))
    assert "secret" not in str(found.value)
    with pytest.raises(InputError, match="must have labels"):
        plan.check(of("debt"))
    with pytest.raises(InputError, match="must name their users"):
        VotePlan("words", WORDS, documents_per_user=2).check(of("debt"))


def test_counts_without_meaning_are_refused() -> None:
    with pytest.raises(ParameterError, match="pairs are counted without labels"):
        VotePlan("pairs", WORDS, ("ham", "spam"))
    many = tuple(f"w{at}" for at in range(9000))
    with pytest.raises(ParameterError, match=f"at most {MOST_CELLS:,} cells, got 40,504,500"):
        VotePlan("pairs", many)
