"""Arithmetic between two parties gives what plain arithmetic gives."""

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.secure_arithmetic import KEY

from sottovoce.learn.modes.comparison import ComparisonPlan, SharedNumbers, answer_less, ask_less
from sottovoce.learn.wire.stages import run_together
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
    mine, theirs = shared.check_share(own), shared.check_share((numbers - own) % modulus)
    run = run_together(
        ask_less(modulus + 1 - mine, shared.comparison, KEY.public),
        answer_less(theirs, shared.comparison, KEY),
    )
    assert ((run.asked ^ run.answered ^ 1) == (numbers > 0)).all()
