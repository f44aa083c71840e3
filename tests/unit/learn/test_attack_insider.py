"""One peer and the coordinator plant documents to have rare words opened, and take them off again.

Five documents of the insider's own for each rare word used to be enough: five documents, two peers.
The sum's row of the word, less what the insider knows to be its own, was the only other document
that uses it. Now a peer counts at most five, and ten are needed (or three of eight, or two of
seven): five are somebody else's.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.hidden_systems import BITS, small_keys_allowed
from support.openings import Opening, opened
from support.text_runs import HASHED, WORDS, made_holdings, made_peers, made_terms, watched

from sottovoce.learn.documents import Documents
from sottovoce.learn.features import Features, TextRecipe
from sottovoce.learn.support import kept_from_sums, local_support

RARE = tuple(f"rare{letter * 3}" for letter in "abcdefghij")
LISTED = (*WORDS, *RARE)
RECIPE = TextRecipe(dictionary="given", words=LISTED)


def the_peers() -> dict[str, Documents]:
    """Ada has ten documents with a rare word each; dee plants five for each of these."""
    peers = made_peers(documents=30)
    texts = list(peers["ada"].texts)
    for at, word in enumerate(RARE):
        texts[at] += f" {word}"
    planted = [word for word in RARE for _ in range(5)]
    labels = ["ham", "spam"] * (len(planted) // 2)
    return {
        **peers,
        "ada": Documents.from_texts(texts, peers["ada"].labels),
        "dee": Documents.from_texts(planted, labels),
    }


def documents_read(opening: Opening, peers: dict[str, Documents]) -> int:
    """How many of ada's documents stand in a row of the sum, once dee has taken off its own."""
    own = Features(RECIPE).rows(peers["dee"].texts)[:, opening.kept]
    rest = opening.sums.products - own.T @ own
    rows = Features(RECIPE).rows(peers["ada"].texts)[:, opening.kept]
    return sum(bool((rest == row).all(axis=1).any()) for row in rows)


def test_an_insider_with_the_coordinator_reads_no_document() -> None:
    peers = the_peers()
    terms = made_terms(text=RECIPE, recipe={"penalty": 0.1}, labels=("ham", "spam"))
    opening = opened(terms, made_holdings(peers))
    assert documents_read(opening, peers) == 0
    assert not opening.kept[len(WORDS) :].any()


@pytest.mark.parametrize("others", [0, 1, 4, 5])
def test_five_documents_of_other_peers_are_needed_whatever_one_peer_plants(others: int) -> None:
    honest = np.zeros((12, 1))
    honest[:others] = 1.0
    planted = np.array([[1.0]] * 100 + [[0.0]] * 100)
    kept = kept_decision(local_support(honest) + local_support(planted))
    assert kept == (others >= 5)


@pytest.mark.parametrize("others", [1, 4, 5])
def test_a_word_that_all_but_a_few_documents_have_needs_five_others_that_lack_it(
    others: int,
) -> None:
    """The totals less its row are those that lack it."""
    honest = np.ones((40, 1))
    honest[:others] = 0.0
    planted = np.array([[1.0]] * 100 + [[0.0]] * 100)
    kept = kept_decision(local_support(honest) + local_support(planted))
    assert kept == (others >= 5)


def test_counting_words_does_not_take_the_guard_off_for_everybody() -> None:
    """A planted document that uses the word twice used to hide the one that lacks it."""
    honest = np.ones((40, 1))
    honest[:1] = 0.0
    planted = np.array([[2.0]] * 100)
    assert not kept_decision(local_support(honest) + local_support(planted))


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=7), st.integers(1, 7), st.integers(1, 3))
def test_a_kept_word_has_enough_documents_without_any_few_peers(
    uses: list[int], fewest: int, peers: int
) -> None:
    """And what is used by few in all, or lacked by few, is never kept."""
    column = [np.array([[1.0]] * n + [[0.0]] * 20) for n in uses]
    parts = [local_support(each, fewest_documents=fewest) for each in column]
    kept = kept_decision(np.sum(parts, axis=0), fewest, peers)
    left = sum(sorted(uses)[: max(0, len(uses) - peers + 1)])
    assert not kept or left >= fewest
    capped = sum(min(n, fewest) for n in uses)
    assert kept or capped < fewest * peers


def kept_decision(summed: NDArray[np.float64], fewest: int = 5, peers: int = 2) -> bool:
    """Of the second of two features, the first of which there is enough of."""
    common = local_support([[1.0]] * 10 + [[0.0]] * 10, fewest_documents=fewest) * 10
    both = np.ravel(np.column_stack([common, summed]))
    decided = kept_from_sums(both, fewest_documents=fewest, fewest_peers=peers)
    return bool(decided.kept[1])


@pytest.mark.parametrize("mode", ["open", "hidden"])
def test_peers_are_told_which_words_are_kept_and_no_support(mode: str) -> None:
    """Raw supports end at who decides; a peer hears one bit a feature, and kept ones' counts."""
    options = {"penalty": 0.1, "key_bits": BITS, "solver": "chebyshev", "fraction_bits": 16}
    terms = made_terms("train", mode, text=HASHED, recipe=options, labels=("ham", "spam"))
    with small_keys_allowed():
        exchange = watched(terms, made_holdings(made_peers(documents=30)))
    heard = [message for name in terms.peers for message in exchange.views[name]]
    sums = {message.array("vector", "<u8").size for message in heard if message.kind == "sum"}
    told = [message.array("kept", "|b1") for message in heard if message.kind == "kept"]
    assert [each.size for each in told] == [HASHED.width] * len(terms.peers)
    moments = 1 + 2 * int(told[0].sum())
    uses = 2 * int(told[0].sum()) + 2
    assert sums == ({0, uses} if mode == "open" else {0, moments})
