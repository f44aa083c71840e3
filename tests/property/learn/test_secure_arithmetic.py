"""Arithmetic between two parties gives what plain arithmetic gives."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.secure_arithmetic import KEY, hidden

from sottovoce.learn.arithmetic.comparison import ComparisonPlan, answer_less, ask_less
from sottovoce.learn.arithmetic.sign import (
    SharedNumbers,
    answer_positive,
    answer_positive_encrypted,
    answer_shared_positive,
    ask_positive,
    ask_positive_encrypted,
    ask_shared_positive,
)
from sottovoce.learn.paillier.wire import decrypt_integers
from sottovoce.learn.wire.script import run_together
from sottovoce.privacy.randomness import random_below

Objects = NDArray[Any]
BOUND = (1 << 40) - 1
FEW = settings(max_examples=8, deadline=None)


def objects(numbers: list[int], *shape: int) -> Objects:
    return np.array(numbers, dtype=object).reshape(shape)


@st.composite
def arrays(draw: st.DrawFn, *shape: int, bound: int = BOUND) -> Objects:
    size = math.prod(shape)
    edges = st.sampled_from([0, 1, -1, bound, -bound])
    number = edges | st.integers(-bound, bound)
    return objects(draw(st.lists(number, min_size=size, max_size=size)), *shape)


@FEW
@given(st.data(), st.integers(1, 12), st.integers(1, 40))
def test_a_comparison_of_private_numbers_is_the_plain_one(
    data: st.DataObject, count: int, bits: int
) -> None:
    number = st.sampled_from([0, (1 << bits) - 1]) | st.integers(0, (1 << bits) - 1)
    own = objects([data.draw(number) for _ in range(count)], count)
    near = [data.draw(st.sampled_from([int(each), data.draw(number)])) for each in own]
    theirs, plan = objects(near, count), ComparisonPlan(count, bits)
    run = run_together(ask_less(own, plan, KEY.public), answer_less(theirs, plan, KEY))
    assert ((run.asked ^ run.answered) == (theirs < own)).all()


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 8, 1023, 1024, BOUND])
def test_signs_are_right_at_every_boundary(bound: int) -> None:
    edges = sorted({0, 1, -1, bound, -bound, bound - 1, 1 - bound})
    numbers = objects(edges * 2, len(edges) * 2)
    x, outline = hidden(numbers, bound)
    told_asker = run_together(
        ask_positive(x, outline, told="ciphertext holder"),
        answer_positive(outline, KEY, told="ciphertext holder"),
    )
    told_holder = run_together(
        ask_positive(x, outline, told="key holder"),
        answer_positive(outline, KEY, told="key holder"),
    )
    told_nobody = run_together(
        ask_positive(x, outline, told="nobody"), answer_positive(outline, KEY, told="nobody")
    )
    encrypted = run_together(
        ask_positive_encrypted(x, outline), answer_positive_encrypted(outline, KEY)
    )
    expected = numbers > 0
    assert (told_asker.asked == expected).all()
    assert (told_holder.answered == expected).all()
    assert ((told_nobody.asked ^ told_nobody.answered) == expected).all()
    assert (decrypt_integers(encrypted.asked, KEY) == expected).all()
    assert encrypted.asked.bound == 1


@FEW
@given(st.data(), st.integers(1, 12))
def test_signs_of_random_numbers_are_the_plain_ones(data: st.DataObject, count: int) -> None:
    numbers = data.draw(arrays(count))
    x, outline = hidden(numbers, BOUND)
    run = run_together(
        ask_positive(x, outline, told="ciphertext holder"),
        answer_positive(outline, KEY, told="ciphertext holder"),
    )
    assert (run.asked == (numbers > 0)).all()


@FEW
@given(st.data(), st.integers(1, 8), st.integers(70, 120))
def test_signs_of_shared_numbers_are_the_plain_ones(
    data: st.DataObject, count: int, bits: int
) -> None:
    modulus = (1 << bits) - data.draw(st.integers(0, 1000))
    bound = modulus >> 65
    numbers = data.draw(arrays(count, bound=bound))
    own = objects([random_below(modulus) for _ in range(count)], count)
    shared = SharedNumbers(count, modulus, bound)
    run = run_together(
        ask_shared_positive(own, shared, KEY.public, told="ciphertext holder"),
        answer_shared_positive((numbers - own) % modulus, shared, KEY, told="ciphertext holder"),
    )
    assert (run.asked == (numbers > 0)).all()
