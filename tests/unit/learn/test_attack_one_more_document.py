"""A peer adds one document and trains again: the difference of the two openings is that document.

Now a peer remembers what its trainings opened. It refuses when fewer than five documents changed,
and of more it has the words dropped that fewer than five of the changed ones use.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.openings import MemoryInProcess, Opening, opened
from support.text_runs import GIVEN, WORDS, made_holdings, made_peers, made_terms, made_texts

from sottovoce.learn._features import Features, TextRecipe
from sottovoce.learn._openings import ChangedTooLittleError, TrainedDocuments
from sottovoce.learn._openings import Opening as Remembered
from sottovoce.learn._wire.codec import decoded, encoded
from sottovoce.learn.documents import Documents, Table

SECRET = b"what ada shows nobody"
PEERS = made_peers(documents=30)
EXTRA = Documents.of(*made_texts(20, 99))


def joined(one: Documents, other: Documents) -> Documents:
    return Documents.of((*one.texts, *other.texts), (*(one.labels or ()), *(other.labels or ())))


def few(documents: Documents, number: int) -> Documents:
    return documents.part(np.arange(len(documents)) < number)


class Ada:
    """Trains with the others, with a memory of her own."""

    def __init__(self) -> None:
        self.memory = MemoryInProcess()

    def trains_on(self, documents: Documents, **options: object) -> Opening:
        holdings = made_holdings({**PEERS, "ada": documents})
        holdings["ada"] = replace(holdings["ada"], memory=self.memory)
        recipe = {"penalty": 0.1, **options}
        terms = made_terms(text=GIVEN, recipe=recipe, labels=("ham", "spam"))
        return opened(terms, holdings)


def row_differences(later: Opening, before: Opening) -> list[list[float]]:
    """Of each word that both opened: its row of the one less its row of the other."""
    both = later.kept & before.kept
    one = later.sums.products[np.ix_(both[later.kept], both[later.kept])]
    other = before.sums.products[np.ix_(both[before.kept], both[before.kept])]
    return [row.tolist() for row in one - other if row.any()]


@pytest.mark.parametrize("added", [1, 4])
def test_a_training_with_a_few_more_documents_is_refused(added: int) -> None:
    ada = Ada()
    ada.trains_on(PEERS["ada"])
    with pytest.raises(ChangedTooLittleError, match=f"at least 5, got {added} added"):
        ada.trains_on(joined(PEERS["ada"], few(EXTRA, added)))


def test_a_training_with_a_document_less_or_another_label_is_refused() -> None:
    ada = Ada()
    ada.trains_on(PEERS["ada"])
    with pytest.raises(ChangedTooLittleError, match="got 1 added, removed or changed"):
        ada.trains_on(few(PEERS["ada"], 29))
    labels = [*(PEERS["ada"].labels or ())]
    labels[3] = "ham" if labels[3] == "spam" else "spam"
    with pytest.raises(ChangedTooLittleError, match="got 2 added, removed or changed"):
        ada.trains_on(Documents.of(PEERS["ada"].texts, labels))


@pytest.mark.parametrize("grown", [True, False], ids=["added", "removed"])
def test_no_document_stands_in_the_difference_of_two_openings(*, grown: bool) -> None:
    ada = Ada()
    pair = [PEERS["ada"], joined(PEERS["ada"], few(EXTRA, 12))]
    first, second = pair if grown else pair[::-1]
    before, later = ada.trains_on(first), ada.trains_on(second)
    both = later.kept & before.kept
    rows = Features(GIVEN).rows(few(EXTRA, 12).texts)[:, both]
    shown = row_differences(later, before)
    assert not any(np.abs(each).tolist() in rows.tolist() for each in shown)
    used = rows.sum(axis=0)
    assert ((used == 0) | (used >= 5)).all()
    assert both.any()


def test_the_same_documents_may_be_trained_on_again() -> None:
    ada = Ada()
    first = ada.trains_on(PEERS["ada"])
    turned = Documents.of(PEERS["ada"].texts[::-1], (PEERS["ada"].labels or ())[::-1])
    np.testing.assert_array_equal(ada.trains_on(turned).kept, first.kept)


def test_the_documents_of_before_open_what_they_opened_then() -> None:
    """What was trained on in between opened no word that a few of the differing documents use."""
    ada, more = Ada(), joined(PEERS["ada"], few(EXTRA, 12))
    first, between, again = (ada.trains_on(each) for each in (PEERS["ada"], more, PEERS["ada"]))
    np.testing.assert_array_equal(first.kept, again.kept)
    rows = Features(GIVEN).rows(few(EXTRA, 12).texts)[:, between.kept & again.kept]
    used = rows.sum(axis=0)
    assert ((used == 0) | (used >= 5)).all()


def test_words_that_were_dropped_for_the_sake_of_an_earlier_training_stay_dropped() -> None:
    ada, more = Ada(), joined(PEERS["ada"], few(EXTRA, 12))
    ada.trains_on(more)
    second, third = (ada.trains_on(PEERS["ada"]) for _ in range(2))
    np.testing.assert_array_equal(second.kept, third.kept)
    assert second.kept.sum() < Ada().trains_on(PEERS["ada"]).kept.sum()


def test_another_number_of_folds_of_the_same_documents_is_refused() -> None:
    plenty = joined(PEERS["ada"], EXTRA)
    two, three = (TrainedDocuments.of(plenty, GIVEN, folds, SECRET) for folds in (2, 3))
    with pytest.raises(ChangedTooLittleError, match="opened in 2 folds before, got 3"):
        three.vetoed(two.opening(), 5)
    assert not TrainedDocuments.of(plenty, GIVEN, 1, SECRET).vetoed(two.opening(), 5)


def test_each_fold_must_differ_by_enough() -> None:
    """Five more documents are one in each of five folds."""
    before, later = (
        TrainedDocuments.of(each, GIVEN, 5, SECRET)
        for each in (PEERS["ada"], joined(PEERS["ada"], few(EXTRA, 5)))
    )
    with pytest.raises(ChangedTooLittleError, match="at least 5, got 1 added"):
        later.vetoed(before.opening(), 5)


def test_other_rules_for_words_need_the_documents_of_before() -> None:
    before = TrainedDocuments.of(PEERS["ada"], GIVEN, 1, SECRET).opening()
    other = replace(GIVEN, shortest=3)
    fewer = TrainedDocuments.of(few(PEERS["ada"], 20), other, 1, SECRET)
    with pytest.raises(ChangedTooLittleError, match="what counts as a word too"):
        fewer.vetoed(before, 5)
    assert not TrainedDocuments.of(PEERS["ada"], other, 1, SECRET).vetoed(before, 5)


def test_the_rules_digest_does_not_depend_on_the_order_of_a_set() -> None:
    """Each process has its own order of stop words, and the digest must be the same in all."""
    words = tuple(f"stop{letter}" for letter in "abcdefgh")
    one, two = (replace(GIVEN, words=WORDS, stop_words=each) for each in (words, words[::-1]))
    digests = {
        TrainedDocuments.of(PEERS["ada"], each, 1, SECRET).rules.hex() for each in (one, two)
    }
    fixed = "ea72269c717a0d0c2e612dfe93bf7df894cbf998d98bad04f7917ac0c9efd5d4"
    assert digests == {fixed}


def test_rows_of_numbers_are_remembered_by_their_columns() -> None:
    chance = np.random.default_rng(3)
    rows = (chance.random((30, 4)) < 0.5).astype(float)
    rows[:, 3] = 1.0
    rows[29, 3] = 0.0
    before = TrainedDocuments.of(Table(rows[:20], ("a",) * 20), None, 1, SECRET).opening()
    later = TrainedDocuments.of(Table(rows, ("a",) * 30), None, 1, SECRET)
    assert "x3" in later.vetoed(before, 5)  # one of the added lacks what all others have


def test_what_is_remembered_can_be_kept_and_read_again() -> None:
    opening = TrainedDocuments.of(PEERS["ada"], GIVEN, 3, SECRET).opening()
    kept = decoded(encoded(opening.record()))
    assert isinstance(kept, dict)
    again = Remembered.read(kept)
    assert (again.rules, again.words, again.folds) == (opening.rules, opening.words, 3)
    assert [p.documents for p in again.sums] == [p.documents for p in opening.sums]


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_words_are_dropped_exactly_where_the_difference_shows_few_documents(
    data: st.DataObject,
) -> None:
    """Against all documents' words, which the memory does not keep."""
    words, fewest = WORDS[:4], data.draw(st.integers(1, 4))
    recipe = TextRecipe(dictionary="given", words=words)
    texts = st.lists(st.sets(st.sampled_from(words)).map(lambda w: " ".join(sorted(w))), max_size=9)
    kept, gone, new = (data.draw(texts) for _ in range(3))
    first, second = ([f"{t} was{n}" for n, t in enumerate(kept)] for _ in range(2))
    first += [f"{t} gone{n}" for n, t in enumerate(gone)]
    second += [f"{t} new{n}" for n, t in enumerate(new)]
    if not first or not second:
        return
    before = TrainedDocuments.of(Documents.of(first), recipe, 1, SECRET).opening()
    later = TrainedDocuments.of(Documents.of(second), recipe, 1, SECRET)
    changed = [t.split() for t in (*gone, *new)]
    if 0 < len(changed) < fewest:
        with pytest.raises(ChangedTooLittleError):
            later.vetoed(before, fewest)
        return
    found = later.vetoed(before, fewest)
    for word in words:
        uses = sum(word in each for each in changed)
        lacks = len(changed) - uses
        assert (word in found) == (0 < uses < fewest or 0 < lacks < fewest)
