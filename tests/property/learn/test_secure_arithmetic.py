"""Arithmetic between two parties gives what plain arithmetic gives."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.secure_arithmetic import KEY, WIDE_KEY, hidden, hidden_numbers

from sottovoce.learn.arithmetic.comparison import ComparisonPlan, answer_less, ask_less
from sottovoce.learn.arithmetic.shown import Outline
from sottovoce.learn.arithmetic.sign import (
    SharedNumbers,
    answer_positive,
    answer_positive_encrypted,
    answer_shared_positive,
    ask_positive,
    ask_positive_encrypted,
    ask_shared_positive,
)
from sottovoce.learn.paillier.slots import Program, SlotStage, plan_slots
from sottovoce.learn.paillier.wire import decrypt_integers, encrypt_integers
from sottovoce.learn.paper._functions import ExponentialPlan, answer_exponential, ask_exponential
from sottovoce.learn.paper._products import (
    answer_inner_product,
    answer_matrix_product,
    answer_multiplication,
    answer_outer_product,
    answer_rescaling,
    answer_unpacking,
    ask_inner_product,
    ask_matrix_product,
    ask_multiplication,
    ask_outer_product,
    ask_rescaling,
    ask_unpacking,
)
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


sizes = st.integers(1, 4)


@FEW
@given(st.data(), sizes, sizes)
def test_an_elementwise_product_is_the_plain_one(
    data: st.DataObject, rows: int, width: int
) -> None:
    left, right = data.draw(arrays(rows, width)), data.draw(arrays(rows, width))
    (x, of_x), (y, of_y) = hidden(left, BOUND), hidden(right, BOUND)
    run = run_together(ask_multiplication(x, y, of_x, of_y), answer_multiplication(of_x, of_y, KEY))
    assert (decrypt_integers(run.asked, KEY) == left * right).all()
    assert Outline.of(run.asked) == run.answered
    assert run.traffic.rounds == 2


@FEW
@given(st.data(), sizes, sizes, sizes)
def test_a_matrix_product_is_the_plain_one(data: st.DataObject, k: int, m: int, n: int) -> None:
    left, right = data.draw(arrays(k, m)), data.draw(arrays(m, n, bound=999))
    (x, of_x), (y, of_y) = hidden(left, BOUND), hidden(right, 999)
    run = run_together(ask_matrix_product(x, y, of_x, of_y), answer_matrix_product(of_x, of_y, KEY))
    assert (decrypt_integers(run.asked, KEY) == left.dot(right)).all()
    assert Outline.of(run.asked) == run.answered


@FEW
@given(st.data(), sizes, sizes)
def test_inner_and_outer_products_are_the_plain_ones(data: st.DataObject, m: int, n: int) -> None:
    left, like, right = data.draw(arrays(m)), data.draw(arrays(m)), data.draw(arrays(n))
    (x, of_x), (z, of_z), (y, of_y) = (hidden(each, BOUND) for each in (left, like, right))
    inner = run_together(ask_inner_product(x, z, of_x, of_z), answer_inner_product(of_x, of_z, KEY))
    outer = run_together(ask_outer_product(x, y, of_x, of_y), answer_outer_product(of_x, of_y, KEY))
    assert inner.asked.shape == () == inner.answered.shape
    assert decrypt_integers(inner.asked, KEY) == left.dot(like)
    assert (decrypt_integers(outer.asked, KEY) == np.outer(left, right)).all()


@FEW
@given(st.data(), st.integers(1, 20), st.integers(1, 30))
def test_a_rescaled_number_is_within_a_unit_of_its_last_place(
    data: st.DataObject, count: int, dropped: int
) -> None:
    numbers = data.draw(arrays(count))
    outline = Outline((count,), BOUND, 30)
    x = encrypt_integers(numbers, outline.plan(512), KEY)
    run = run_together(ask_rescaling(x, outline, dropped), answer_rescaling(outline, dropped, KEY))
    found = decrypt_integers(run.asked, KEY)
    assert run.asked.fraction_bits == 30 - dropped
    assert all(
        abs(each - Fraction(int(number), 1 << dropped)) < 1
        for each, number in zip(found, numbers, strict=True)
    )


@FEW
@given(st.data(), st.integers(1, 20))
def test_an_unpacked_array_holds_the_same_numbers(data: st.DataObject, count: int) -> None:
    numbers = data.draw(arrays(2, count, bound=1000))
    plan = plan_slots(Program((SlotStage(1000, 0),)).masked(), key_bits=512)
    assert plan.slots > 1
    packed = encrypt_integers(numbers, plan, KEY)
    outline = Outline((2, count), 1000)
    run = run_together(ask_unpacking(packed, outline), answer_unpacking(outline, plan, KEY))
    assert not run.asked.packed
    assert (decrypt_integers(run.asked, KEY) == numbers).all()


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


@settings(max_examples=8, deadline=None)
@given(
    st.lists(st.floats(-6, 6) | st.sampled_from([0.0, 6.0, -6.0]), min_size=1, max_size=6),
    st.integers(10, 40),
)
def test_an_exponential_is_within_two_units_of_its_last_place(
    exponents: list[float], places: int
) -> None:
    x, outline = hidden_numbers(exponents, 6.0, 24)
    plan = ExponentialPlan(outline, places)
    run = run_together(ask_exponential(x, plan), answer_exponential(plan, WIDE_KEY))
    rounded = np.rint(np.ldexp(exponents, 24)) / 2**24
    found = decrypt_integers(run.asked, WIDE_KEY).astype(np.float64)
    # The double's own error, of some 2^-51 of e^6, is far below a unit at 40 places.
    assert np.abs(found - np.exp(rounded) * 2.0**places).max() < 1.5
    assert run.asked.fraction_bits == places
