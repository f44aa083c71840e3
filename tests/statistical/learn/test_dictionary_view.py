"""What the coordinator sees of the peers' nominations follows from what it may know."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from support.text_runs import NAMES, made_holdings, made_terms, watched

from sottovoce.learn.documents import Documents
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.wire.message import Message

Words = NDArray[Any]
BUCKETS = 1 << 14
TEXT = TextRecipe(buckets=BUCKETS, width=50, candidate_documents=1)
SIGNIFICANCE = 1e-7  # masks are fresh in every run, and no run may fail by chance


def holders(prefix: str, shared: int = 12, own: int = 25) -> dict[str, Documents]:
    """Some words that all have, and some of each peer's own, in every other pair of documents."""
    common = " ".join(f"{prefix}all{at}" for at in range(shared))
    return {
        name: Documents.from_texts(
            [f"{common} " + " ".join(f"{prefix}{name}{at}" for at in range(own)), "..."] * 12,
            ["x", "x", "y", "y"] * 6,
        )
        for name in NAMES
    }


def coordinators_view(peers: dict[str, Documents]) -> tuple[list[Message], Words]:
    """All that it heard until the dictionary, and the sum that it opened."""
    terms = made_terms(text=TEXT, recipe={"penalty": 0.1, "allow_rare": None})
    exchange = watched(terms, made_holdings(peers))
    heard = exchange.views["coordinator"]
    masked = next(at for at, message in enumerate(heard) if message.kind == "opened")
    before = heard[: masked + len(NAMES)]
    vectors = [message.array("vector", "<u8") for message in before if message.kind == "masked"]
    return before, np.array(vectors)


def uniform_p(words: Words) -> float:
    """Of the bytes of words, whether all 256 come equally often."""
    counts = np.bincount(words.view(np.uint8).ravel(), minlength=256)
    return float(stats.chisquare(counts).pvalue)


def test_a_peers_marks_look_uniform_and_only_their_sum_does_not() -> None:
    _, vectors = coordinators_view(holders("a"))
    assert vectors.shape == (4, BUCKETS // 4)
    for vector in vectors:
        assert uniform_p(vector) > SIGNIFICANCE
    for one in range(4):
        for other in range(one):
            assert uniform_p(vectors[one] - vectors[other]) > SIGNIFICANCE


def test_marks_without_masks_would_be_seen() -> None:
    """The fault that the test above must catch."""
    bare = np.zeros(BUCKETS // 4, np.uint64)
    bare[::100] = 1
    assert uniform_p(bare) < SIGNIFICANCE


def simulated_sum(shared: int, own: int, chance: np.random.Generator) -> Words:
    """How many peers marked each bucket, from the numbers of words alone."""
    marks = np.zeros((len(NAMES), BUCKETS), bool)
    marks[:, chance.integers(BUCKETS, size=shared)] = True
    for peer in range(len(NAMES)):
        marks[peer, chance.integers(BUCKETS, size=own)] = True
    total: Words = marks.sum(axis=0)
    return total


@pytest.mark.parametrize("prefix", ["a", "quite other words "])
def test_the_opened_sum_is_what_a_simulator_makes_without_any_word(prefix: str) -> None:
    """Only how many buckets were marked by how many peers matters; which ones are random."""
    chance = np.random.default_rng(7)
    terms = made_terms(text=TEXT, recipe={"penalty": 0.1})
    exchange = watched(terms, made_holdings(holders(prefix.replace(" ", ""))))
    told = next(m for m in exchange.views["ada"] if m.kind == "dictionary")
    chosen = told.array("buckets", "<i8")
    simulated = np.flatnonzero(simulated_sum(12, 25, chance) >= 2)
    assert abs(chosen.size - simulated.size) <= 6  # words of different peers may collide
    spread = stats.kstest(chosen / BUCKETS, "uniform").pvalue
    assert spread > SIGNIFICANCE


def test_the_same_words_fall_into_other_buckets_where_peers_have_other_secrets() -> None:
    """Of the same peers they must fall into the same: the difference of two runs would tell."""
    chosen = []
    for secret in (1, 2):
        terms = made_terms(text=TEXT, recipe={"penalty": 0.1})
        holdings = made_holdings(holders("a"))
        for name in NAMES:
            holdings[name] = replace(holdings[name], secret=bytes([secret]) * 32)
        exchange = watched(terms, holdings)
        told = next(m for m in exchange.views["ada"] if m.kind == "dictionary")
        chosen.append(set(told.array("buckets", "<i8").tolist()))
    assert len(chosen[0] & chosen[1]) <= 3


def test_all_else_that_the_coordinator_hears_has_the_same_form_for_any_words() -> None:
    few, _ = coordinators_view(holders("a", own=3))
    many, _ = coordinators_view(holders("b", own=60))
    ordered = [sorted(view, key=lambda m: (m.kind, m.sender)) for view in (few, many)]
    shape = [[(m.sender, m.kind, len(m.to_bytes())) for m in view] for view in ordered]
    assert [each[:2] for each in shape[0]] == [each[:2] for each in shape[1]]
    random = {"opened", "shares"}  # Shamir's shares have as many bytes as they happen to need
    sizes = [{(s, k): b for s, k, b in view if k not in random} for view in shape]
    assert sizes[0] == sizes[1]
