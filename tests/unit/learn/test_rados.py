"""Rados: their identities, and what refuses to leave its maker."""

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from sottovoce.errors import InputError, LeakError
from sottovoce.learn.rados.rados import (
    RadoMaker,
    SealedSignatures,
    all_signatures,
    rademacher_observations,
)

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
