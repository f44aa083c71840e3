"""Rados: what refuses to leave their maker, and attacks on the paper's arrangement."""

import copy
import pickle
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from sottovoce.errors import InputError, LeakError
from sottovoce.learn.rados.rados import (
    RadoMaker,
    SealedSignatures,
    all_signatures,
    fresh_signatures,
    rademacher_observations,
)
from sottovoce.learn.ridge import local_sums
from sottovoce.learn.support import KeptFeatures, all_kept, kept_from_sums, local_support

CHANCE = np.random.default_rng(5)
ROWS = CHANCE.normal(size=(9, 3))
SIGNS = CHANCE.choice([-1.0, 1.0], 9)


def test_a_rado_sums_the_rows_whose_signature_agrees_with_their_label() -> None:
    rows = np.array([[1.0, 0.0], [10.0, 1.0], [100.0, 0.0]])
    signs = np.array([1.0, -1.0, -1.0])
    signatures = np.array([[1, 1, 1], [-1, -1, -1], [-1, 1, -1]], np.int8)
    rados = rademacher_observations(rows, signs, signatures)
    np.testing.assert_array_equal(rados, [[1, 0], [-110, -1], [-100, 0]])


def test_all_rados_come_in_an_order_that_does_not_tell_their_signatures() -> None:
    maker = RadoMaker(ROWS, SIGNS)
    listed = rademacher_observations(ROWS, SIGNS, all_signatures(9))
    first, second = maker.all(), maker.all()
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, listed)
    np.testing.assert_array_equal(np.sort(first, axis=0), np.sort(listed, axis=0))


def test_sealed_signatures_show_only_their_number() -> None:
    sealed = SealedSignatures(7, 9)
    assert repr(sealed) == "<7 sealed signatures of 9 examples>"
    shown = [name for name in dir(sealed) if not name.startswith("_")]
    assert shown == ["add_labels", "combine", "shape"]


@pytest.mark.parametrize("secret", [SealedSignatures(2, 3), RadoMaker(ROWS, SIGNS)])
@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_what_holds_a_secret_cannot_be_copied(
    secret: object, copied: Callable[[object], object]
) -> None:
    with pytest.raises(LeakError):
        copied(secret)


def test_a_maker_shows_neither_rows_nor_signatures() -> None:
    maker = RadoMaker(ROWS, SIGNS)
    assert repr(maker) == "<maker of rados from 9 examples>"
    public = {name for name in dir(maker) if not name.startswith("_")}
    assert public == {"sample", "all"}


@pytest.mark.parametrize(
    ("rows", "labels", "said"),
    [
        ([[np.nan]], [1], "finite"),
        ([[np.inf]], [1], "finite"),
        ([1.0], [1], "matrix"),
        (np.zeros((0, 2)), [], "none of them empty"),
        ([[1.0]], [0], "-1 or 1"),
        ([[1.0], [2.0]], [1], "one per row"),
    ],
)
def test_unusable_examples_are_refused(rows: object, labels: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        RadoMaker(rows, labels)  # type: ignore[arg-type] # that is the point


Floats = NDArray[np.float64]


class PaperRados(NamedTuple):
    """What a party of the paper's pipeline may hold: enough to reconstruct the examples."""

    rados: Floats
    signatures: NDArray[np.int8]


def paper_rados(rows: Floats, signs: Floats, number: int) -> PaperRados:
    """Clear rados with their signatures, which no maker of ours hands out."""
    signatures = fresh_signatures(number, len(rows))
    return PaperRados(rademacher_observations(rows, signs, signatures), signatures)


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
    known = paper_rados(rows, signs, 41)
    np.testing.assert_allclose(reconstructed(known), rows, atol=1e-6)


def test_without_the_signatures_the_same_attack_finds_nothing() -> None:
    chance = np.random.default_rng(0)
    rows, signs = chance.normal(size=(40, 6)), chance.choice([-1, 1], 40)
    guessed = fresh_signatures(60, 40)
    wrong = reconstructed(PaperRados(RadoMaker(rows, signs).sample(60), guessed))
    assert np.abs(wrong - rows).max() > 1


def test_sixty_rados_give_a_rare_words_documents_away() -> None:
    chance = np.random.default_rng(1)
    column = np.zeros((500, 1))
    column[chance.choice(500, 5, replace=False)] = 1
    found = sparse_column(paper_rados(column, chance.choice([-1, 1], 500), 60))
    np.testing.assert_allclose(found, column[:, 0], atol=1e-6)


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
    documents = {tuple(row) for part in parts for row in kept.apply(part)}
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
