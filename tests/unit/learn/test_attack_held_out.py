"""A coordinator proposes two trainings that differ in held_out alone, and takes their difference.

Document i used to be held out by its place and the fraction: 1/30 held out ada's thirtieth document
and nothing of peers with fewer than thirty. The difference of the two opened sums was that
document, word by word. Now a peer holds out what its own secret says, in blocks.
"""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.openings import MemoryInProcess, Opening, opened
from support.text_runs import GIVEN, made_holdings, made_terms, made_texts

from sottovoce.errors import DataError, LeakError
from sottovoce.learn.documents import BLOCK, Documents, Table, held_out, held_out_count
from sottovoce.learn.features import Features

SECRET = b"what ada shows nobody"
PEERS = {
    name: Documents.from_texts(*made_texts(documents, seed))
    for seed, (name, documents) in enumerate({"ada": 40, "ben": 20, "cy": 20, "dee": 20}.items())
}


def a_training(held: float) -> Opening:
    terms = made_terms(text=GIVEN, recipe={"penalty": 0.1}, labels=("ham", "spam"), held_out=held)
    return opened(terms, made_holdings(PEERS))


def test_two_trainings_that_differ_in_held_out_show_no_document() -> None:
    whole, less = a_training(0.0), a_training(1 / 30)
    both = whole.kept & less.kept
    difference = whole.sums.totals[both[whole.kept]] - less.sums.totals[both[less.kept]]
    rows = Features(GIVEN).rows(PEERS["ada"].texts)[:, both]
    assert not (rows == difference).all(axis=1).any()
    assert whole.sums.count - less.sums.count == BLOCK * len(PEERS)


def test_peers_that_remember_open_no_word_of_a_few_held_out_documents() -> None:
    """Of the five documents by which two openings differ at a peer, a kept word is in all or none.

    Which documents these are differs from run to run, and so do the words; often none is left.
    """
    memories = {name: MemoryInProcess() for name in PEERS}
    held = made_holdings(PEERS)
    held |= {name: replace(held[name], memory=memories[name]) for name in PEERS}
    options: dict[str, Any] = {"text": GIVEN, "recipe": {"penalty": 0.1}, "labels": ("ham", "spam")}
    before = opened(made_terms(**options), held).kept
    used = np.array([changed_uses(name, held[name].wanted_secret(name)) for name in PEERS])
    few = ((used > 0) & (used < BLOCK)).any(axis=0)
    assert (before & few).any(), "the second training has something to keep back"
    try:
        after = opened(made_terms(held_out=1 / 30, **options), held).kept
    except LeakError:
        after = np.zeros_like(before)  # nothing is left that may be opened
    assert not (after & few).any()


def changed_uses(name: str, secret: bytes) -> NDArray[np.int64]:
    """How many of a peer's documents that only the first training is on use each word."""
    rows = Features(GIVEN).rows(PEERS[name].texts)
    counts: NDArray[np.int64] = (rows[held_out(PEERS[name], 1 / 30, secret)] != 0).sum(axis=0)
    return counts


@settings(deadline=None, max_examples=60)
@given(st.integers(2 * BLOCK, 90), st.lists(st.floats(1e-6, 0.5), min_size=2, max_size=6))
def test_two_fractions_hold_out_the_same_documents_or_a_whole_block_more(
    documents: int, fractions: list[float]
) -> None:
    table = Table(np.arange(documents, dtype=float)[:, None])
    chosen = [held_out(table, each, SECRET) for each in sorted(fractions)]
    for fewer, more in pairwise(chosen):
        assert not (fewer & ~more).any()
        assert (more & ~fewer).sum() % BLOCK == 0
    assert all(BLOCK <= each.sum() <= documents - BLOCK for each in chosen)


def test_the_choice_is_the_peers_own_and_the_same_every_time() -> None:
    documents = PEERS["ada"]
    chosen = held_out(documents, 0.25, SECRET)
    np.testing.assert_array_equal(chosen, held_out(documents, 0.25, SECRET))
    assert (chosen != held_out(documents, 0.25, b"what ben shows nobody")).any()
    turned = Documents.from_texts(
        documents.texts[::-1], documents.labels and documents.labels[::-1]
    )
    np.testing.assert_array_equal(held_out(turned, 0.25, SECRET), chosen[::-1])


def test_copies_of_a_document_are_chosen_one_by_one() -> None:
    copies = Documents.from_texts(["the same"] * 20)
    assert held_out(copies, 0.25, SECRET).sum() == BLOCK


def test_a_peer_with_too_few_documents_holds_none_out() -> None:
    with pytest.raises(DataError, match="at least 10 documents to hold some out, got 9"):
        held_out_count(9, 0.25)
    assert not held_out(Documents.from_texts(["one"]), 0.0, SECRET).any()
