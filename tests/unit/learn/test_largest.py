"""The largest of shared numbers: found, and shown to neither of the two who find it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from support.secure_arithmetic import KEY

from sottovoce.learn.modes.queries import (
    LargestPlan,
    answer_largest,
    ask_largest,
    largest_label,
)
from sottovoce.learn.wire.stages import run_together
from sottovoce.privacy.randomness import random_below

BOUND = 1 << 4
ROWS = 40
MODULI = ((1 << 70) + 13, (1 << 71) + 7, (1 << 70) + 11)
# A comparison costs as much as its bits: of so few, one number of a hundred thousand is misread.
SHORT = ((1 << 20) + 13, (1 << 21) + 7, (1 << 20) + 11)


def shares(numbers: NDArray[np.int64], moduli: tuple[int, ...]) -> tuple[Any, Any]:
    """Two parties' residues, each uniform by itself."""
    first = [[random_below(modulus) for modulus in moduli] for _ in numbers]
    second = [
        [(int(y) - a) % modulus for y, a, modulus in zip(row, own, moduli, strict=True)]
        for row, own in zip(numbers, first, strict=True)
    ]
    return np.array(first, dtype=object), np.array(second, dtype=object)


def halves(
    numbers: NDArray[np.int64], moduli: tuple[int, ...] = MODULI
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    plan = LargestPlan(len(numbers), moduli)
    own, other = shares(numbers, moduli)
    played = run_together(ask_largest(own, plan, KEY.public), answer_largest(other, plan, KEY))
    return played.asked, played.answered


def test_the_largest_is_found_whatever_the_moduli() -> None:
    chance = np.random.default_rng(2)
    numbers = chance.integers(-BOUND, BOUND, (8, 3))
    assert largest_label(*halves(numbers)).tolist() == numbers.argmax(axis=1).tolist()


def test_of_equal_numbers_the_first_counts() -> None:
    numbers = np.array([[5, 5, 5], [-1, 3, 3], [0, -2, 0], [-7, -7, -8]])
    assert largest_label(*halves(numbers)).tolist() == [0, 1, 0, 0]


def test_neither_half_says_which_is_the_largest() -> None:
    """Always the same number is the largest: both its place and the order must still be uniform."""
    numbers = np.tile([[1, 9, 2]], (ROWS, 1))
    order, places = halves(numbers, SHORT)
    # Uniform ones fail once in a million runs: 3 (2/3)^40 and 15 (2/3)^40.
    assert set(places.tolist()) == {0, 1, 2}
    assert len(set(map(tuple, order.tolist()))) > 4
