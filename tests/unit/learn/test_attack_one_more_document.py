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

from sottovoce.errors import DamagedRecordError, LeakError
from sottovoce.learn.documents import Documents, Table
from sottovoce.learn.features import Features, TextRecipe
from sottovoce.learn.openings import Opening as Remembered
from sottovoce.learn.openings import TrainedDocuments

SECRET = b"what ada shows nobody"
PEERS = made_peers(documents=30)
EXTRA = Documents.from_texts(*made_texts(20, 99))


def joined(one: Documents, other: Documents) -> Documents:
    return Documents.from_texts(
        (*one.texts, *other.texts), (*(one.labels or ()), *(other.labels or ()))
    )


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


def spelt_anew(documents: Documents, labels: tuple[str, ...] | None = None) -> Documents:
    """The same words, as another program writes them."""
    return Documents.from_texts(
        [f"{text.upper()} ." for text in documents.texts], labels or documents.labels
    )


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
    with pytest.raises(LeakError, match=f"at least 5, got {added} added"):
        ada.trains_on(joined(PEERS["ada"], few(EXTRA, added)))


def test_a_training_with_a_document_less_or_another_label_is_refused() -> None:
    ada = Ada()
    ada.trains_on(PEERS["ada"])
    with pytest.raises(LeakError, match="got 1 added, removed or changed"):
        ada.trains_on(few(PEERS["ada"], 29))
    labels = [*(PEERS["ada"].labels or ())]
    labels[3] = "ham" if labels[3] == "spam" else "spam"
    with pytest.raises(LeakError, match="got 2 added, removed or changed"):
        ada.trains_on(Documents.from_texts(PEERS["ada"].texts, labels))


def test_documents_that_are_spelt_anew_are_the_same_documents() -> None:
    """Else all changed, and the sums differ by the one that was left out."""
    ada = Ada()
    first = ada.trains_on(PEERS["ada"])
    with pytest.raises(LeakError, match="got 1 added, removed or changed"):
        ada.trains_on(spelt_anew(few(PEERS["ada"], 29)))
    labels = PEERS["ada"].labels or ()
    turned = ("ham" if labels[0] == "spam" else "spam", *labels[1:])
    with pytest.raises(LeakError, match="got 2 added, removed or changed"):
        ada.trains_on(spelt_anew(PEERS["ada"], turned))
    np.testing.assert_array_equal(ada.trains_on(spelt_anew(PEERS["ada"])).kept, first.kept)


def test_sums_of_documents_spelt_and_labelled_anew_count_with_those_of_before() -> None:
    turned = (PEERS["ada"].labels or ())[::-1]
    both = (PEERS["ada"], spelt_anew(PEERS["ada"], turned))
    first, second = (
        TrainedDocuments.from_examples(each, GIVEN, SECRET).opened_digests[0] for each in both
    )
    assert len(first & second) == len(PEERS["ada"])


@pytest.mark.parametrize("values", ["binary", "counts"])
def test_how_often_a_word_occurs_changes_a_document_where_it_is_counted(values: str) -> None:
    recipe = TextRecipe(dictionary="given", words=WORDS, values=values)  # type: ignore[arg-type] # one of two
    twice = Documents.from_texts(
        [f"{text} {text}" for text in PEERS["ada"].texts], PEERS["ada"].labels
    )
    before = TrainedDocuments.from_examples(PEERS["ada"], recipe, SECRET).opening()
    found = TrainedDocuments.from_examples(twice, recipe, SECRET).find_changes(before, 5)
    assert [each.documents for each in found] == ([0, 0] if values == "binary" else [60, 60])


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
    turned = Documents.from_texts(PEERS["ada"].texts[::-1], (PEERS["ada"].labels or ())[::-1])
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


def test_other_rules_for_words_need_the_documents_of_before() -> None:
    before = TrainedDocuments.from_examples(PEERS["ada"], GIVEN, SECRET).opening()
    other = replace(GIVEN, shortest=3)
    fewer = TrainedDocuments.from_examples(few(PEERS["ada"], 20), other, SECRET)
    with pytest.raises(LeakError, match="what counts as a word too"):
        fewer.find_changes(before, 5)
    found = TrainedDocuments.from_examples(PEERS["ada"], other, SECRET).find_changes(before, 5)
    assert not any(each.documents for each in found)


def test_the_rules_digest_does_not_depend_on_the_order_of_a_set() -> None:
    """Each process has its own order of stop words, and the digest must be the same in all."""
    words = tuple(f"stop{letter}" for letter in "abcdefgh")
    one, two = (replace(GIVEN, words=WORDS, stop_words=each) for each in (words, words[::-1]))
    digests = {
        TrainedDocuments.from_examples(PEERS["ada"], each, SECRET).rules.hex()
        for each in (one, two)
    }
    fixed = "5909af9dc700a67466532ee807a64373e3b635f92780ee09ea89fb1ceafe904b"
    assert digests == {fixed}


def test_rows_of_numbers_are_remembered_by_their_columns() -> None:
    chance = np.random.default_rng(3)
    rows = (chance.random((30, 4)) < 0.5).astype(float)
    rows[:, 3] = 1.0
    rows[29, 3] = 0.0
    before = TrainedDocuments.from_examples(Table(rows[:20], ("a",) * 20), None, SECRET).opening()
    later = TrainedDocuments.from_examples(Table(rows, ("a",) * 30), None, SECRET)
    changed = later.find_changes(before, 5)
    assert all(
        "x3" in each.unopened_words(5) for each in changed
    )  # one added lacks what all others have


def test_what_another_version_remembered_is_refused() -> None:
    record = TrainedDocuments.from_examples(PEERS["ada"], GIVEN, SECRET).opening().record()
    with pytest.raises(DamagedRecordError, match="version 2, got 1, which also opened parts"):
        Remembered.read({"rules": record["rules"], "words": (), "sums": ()})


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
    before = TrainedDocuments.from_examples(Documents.from_texts(first), recipe, SECRET).opening()
    later = TrainedDocuments.from_examples(Documents.from_texts(second), recipe, SECRET)
    changed = [t.split() for t in (*gone, *new)]
    if 0 < len(changed) < fewest:
        with pytest.raises(LeakError):
            later.find_changes(before, fewest)
        return
    found = later.find_changes(before, fewest)[0].unopened_words(fewest)
    for word in words:
        uses = sum(word in each for each in changed)
        lacks = len(changed) - uses
        assert (word in found) == (0 < uses < fewest or 0 < lacks < fewest)
