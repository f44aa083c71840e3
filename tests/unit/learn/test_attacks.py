"""Attacks that work against the paper's arrangement, and what stands in their way in ours."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from sottovoce.errors import LeakError, ParameterError
from sottovoce.learn.rados.blocks import ONE_ROW_BLOCKS, peer_blocks
from sottovoce.learn.rados.rados import PAPER_MODE, PaperRados, RadoMaker
from sottovoce.learn.ridge import local_sums
from sottovoce.learn.sums.fixed import ALLOW_TWO, Ring
from sottovoce.learn.sums.ring import RingPeer
from sottovoce.learn.support import (
    KeptFeatures,
    all_kept,
    kept_from_sums,
    local_support,
)
from sottovoce.learn.wire.exchange import Exchange
from sottovoce.learn.wire.message import new_session

Floats = NDArray[np.float64]


def reconstructed(known: PaperRados) -> Floats:
    """The examples from signatures and clear rados: 2 pi = sigma'X + y'X is linear in both."""
    unknown_sum = np.ones((len(known.rados), 1))
    matrix = np.hstack([known.signatures, unknown_sum])
    solution: Floats = np.linalg.lstsq(matrix, 2 * known.rados, rcond=None)[0]
    return solution[:-1]


def sparse_column(known: PaperRados) -> Floats:
    """A column between 0 and 1 with the least sum that explains the rados, labels unknown."""
    examples = known.signatures.shape[1]
    matrix = np.hstack([known.signatures, np.ones((len(known.rados), 1))])
    cost = np.append(np.ones(examples), 0.0)
    bounds = [(0, 1)] * examples + [(None, None)]
    found = linprog(cost, A_eq=matrix, b_eq=2 * known.rados[:, 0], bounds=bounds)
    assert found.x is not None
    return found.x[:-1]


def test_known_signatures_and_one_more_rado_than_examples_give_the_examples_away() -> None:
    chance = np.random.default_rng(0)
    rows, signs = chance.normal(size=(40, 6)), chance.choice([-1, 1], 40)
    known = RadoMaker(rows, signs).with_signatures(41, mode=PAPER_MODE)
    np.testing.assert_allclose(reconstructed(known), rows, atol=1e-6)


def test_without_the_signatures_the_same_attack_finds_nothing() -> None:
    chance = np.random.default_rng(0)
    rows, signs = chance.normal(size=(40, 6)), chance.choice([-1, 1], 40)
    maker = RadoMaker(rows, signs)
    guessed = maker.with_signatures(60, mode=PAPER_MODE).signatures
    wrong = reconstructed(PaperRados(maker.sampled(60), guessed))
    assert np.abs(wrong - rows).max() > 1


def test_sixty_rados_give_a_rare_words_documents_away() -> None:
    chance = np.random.default_rng(1)
    column = np.zeros((500, 1))
    column[chance.choice(500, 5, replace=False)] = 1
    maker = RadoMaker(column, chance.choice([-1, 1], 500))
    found = sparse_column(maker.with_signatures(60, mode=PAPER_MODE))
    np.testing.assert_allclose(found, column[:, 0], atol=1e-6)


def test_ours_hands_out_signatures_only_under_the_papers_name() -> None:
    maker = RadoMaker(np.eye(3), [1, 1, -1])
    with pytest.raises(LeakError):
        maker.with_signatures(60, mode="corrected")  # type: ignore[arg-type] # that is the point
    assert isinstance(maker.sampled(4), np.ndarray)


def word_counts() -> tuple[Floats, Floats]:
    """Two peers' documents by words; word 0 is in one document, word 1 in all but one."""
    chance = np.random.default_rng(2)
    counts = (chance.random((60, 30)) < 0.4).astype(float)
    counts[:, 0], counts[:, 1] = 0, 1
    counts[17, 0], counts[23, 1] = 1, 0
    return counts[:30], counts[30:]


def aggregate(parts: tuple[Floats, Floats], kept: KeptFeatures) -> tuple[Floats, Floats]:
    sums = [local_sums(part, np.ones(len(part)), kept) for part in parts]
    return sums[0].products + sums[1].products, sums[0].totals + sums[1].totals


def shown_documents(parts: tuple[Floats, Floats], kept: KeptFeatures) -> int:
    """How many documents stand in a row of X'X, or in the totals less such a row."""
    products, totals = aggregate(parts, kept)
    shown = {tuple(row) for row in products} | {tuple(totals - row) for row in products}
    documents = {tuple(row) for part in parts for row in kept.applied(part)}
    return len(shown & documents)


def test_a_rare_words_row_of_the_products_is_its_document() -> None:
    parts = word_counts()
    products, totals = aggregate(parts, all_kept(30))
    np.testing.assert_array_equal(products[0], parts[0][17])
    np.testing.assert_array_equal(totals - products[1], parts[0][23])
    assert shown_documents(parts, all_kept(30)) == 2


def test_the_support_guard_leaves_no_document_to_read_off() -> None:
    parts = word_counts()
    kept = kept_from_sums(local_support(parts[0]) + local_support(parts[1]))
    np.testing.assert_array_equal(np.flatnonzero(~kept.kept), [0, 1])
    assert shown_documents(parts, kept) == 0


def test_a_peer_with_unguarded_columns_is_refused() -> None:
    parts = word_counts()
    kept = kept_from_sums(local_support(parts[0]) + local_support(parts[1]))
    with pytest.raises(ValueError, match="peers must agree on the features"):
        local_sums(kept.applied(parts[0]), np.ones(30), kept)


def test_a_block_of_one_row_is_that_row_and_takes_its_name_to_make() -> None:
    shared, own = np.arange(6.0)[:, None], np.random.default_rng(3).normal(size=(6, 4))
    blocks = peer_blocks(shared, own, np.ones(6), smallest=1, override=ONE_ROW_BLOCKS)
    np.testing.assert_array_equal(blocks.sums[(2.0,), 1], own[2])
    assert not peer_blocks(shared, own, np.ones(6)).sums
    with pytest.raises(LeakError):
        peer_blocks(shared, own, np.ones(6), smallest=1)


def summed_by_two(first: Ring, second: Ring) -> Ring:
    session, names = new_session(), ["a", "b"]
    pair = [
        RingPeer(name, session, names, vector, allow_two=ALLOW_TWO)
        for name, vector in zip(names, (first, second), strict=True)
    ]
    Exchange(pair).run()
    assert pair[0].total is not None
    return pair[0].total


def test_of_two_each_learns_the_others_summand() -> None:
    first, second = (np.arange(3, dtype=np.uint64) + i for i in (5, 9))
    np.testing.assert_array_equal(summed_by_two(first, second) - first, second)


def test_the_neighbours_of_a_peer_in_the_ring_learn_its_summand() -> None:
    session, names = new_session(), ["a", "b", "c", "d"]
    summands = {name: np.arange(3, dtype=np.uint64) * 7 + i for i, name in enumerate(names)}
    ring = [RingPeer(name, session, names, summands[name]) for name in names]
    exchange = Exchange(ring)
    exchange.run()

    def passed_to(name: str) -> Ring:
        (running,) = (m for m in exchange.views[name] if m.kind == "running total")
        return running.array("vector", "<u8")

    # b passed its own running total on to c, so b and d know what c added.
    sent_by_b = passed_to("c")
    np.testing.assert_array_equal(passed_to("d") - sent_by_b, summands["c"])


def test_all_rados_are_refused_where_they_are_too_many() -> None:
    with pytest.raises(ParameterError):
        RadoMaker(np.ones((21, 1)), np.ones(21)).all()
