"""Comparisons and the largest of shared numbers: found, shown to nobody, and what is refused."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.paillier_keys import insecure_key_for_tests
from support.secure_arithmetic import KEY

from sottovoce.errors import DamagedMessageError, InputError, ParameterError
from sottovoce.learn.modes.comparison import (
    Bits,
    ComparisonPlan,
    SharedNumbers,
    answer_less,
    ask_less,
)
from sottovoce.learn.modes.queries import LargestPlan, answer_largest, ask_largest, largest_label
from sottovoce.learn.paillier.keys import PrivateKey
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.stages import Pairing, ScriptedParty, run_together
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


OTHER_KEY = insecure_key_for_tests(512, number=1)
OWN, THEIRS = np.array([3, 4, 5], object), np.array([4, 4, 1], object)
PLAN = ComparisonPlan(3, 4)


def pair_of_parties(
    pairing: Pairing | None = None,
) -> tuple[ScriptedParty[Bits], ScriptedParty[Bits]]:
    pair = pairing or Pairing()
    answering = pair.answering(answer_less(THEIRS, PLAN, KEY))
    return pair.asking(ask_less(OWN, PLAN, KEY.public)), answering


def as_other(message: Message, **changes: object) -> Message:
    return replace(message, **changes)  # type: ignore[arg-type] # fields of their own types


def test_a_damaged_message_leaves_the_party_waiting_for_the_true_one() -> None:
    asker, answerer = pair_of_parties()
    (bits,) = answerer.start()
    asker.start()
    data = bits.item("array", bytes)
    foreign = data[: -KEY.public.ciphertext_bytes] + bytes(KEY.public.ciphertext_bytes)
    with pytest.raises(InputError, match="ciphertext must be between"):
        asker.receive(as_other(bits, payload={"array": foreign}))
    with pytest.raises(DamagedMessageError):
        asker.receive(as_other(bits, payload={"array": 7}))
    assert len(asker.receive(bits)) == 1


@pytest.mark.parametrize(
    ("plan", "key", "reason"),
    [
        (PLAN, OTHER_KEY, "another key"),
        (ComparisonPlan(3, 5), KEY, r"bits must have shape \(3, 4\)"),
    ],
)
def test_another_key_or_plan_than_agreed_on_is_refused(
    plan: ComparisonPlan, key: PrivateKey, reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        run_together(ask_less(OWN, PLAN, KEY.public), answer_less(THEIRS, plan, key))


def test_shares_need_a_modulus_with_slack() -> None:
    SharedNumbers(1, 1 << 75, 1 << 10)
    with pytest.raises(ParameterError, match="times the largest number"):
        SharedNumbers(1, (1 << 75) - 1, 1 << 10)
    with pytest.raises(ParameterError, match="residues"):
        SharedNumbers(1, 1 << 75, 1).check_share(np.array([1 << 75], dtype=object))


def test_comparisons_without_sense_are_refused() -> None:
    with pytest.raises(ParameterError, match="at least one"):
        ComparisonPlan(0, 3)
    for numbers in ([8], [-1], [1, 2]):
        with pytest.raises(ParameterError, match="1 numbers of 3 bits"):
            next(ask_less(np.array(numbers, dtype=object), ComparisonPlan(1, 3), KEY.public))
