"""Random programs of operations give the plain results, and phe's, number by number."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from phe import paillier as phe
from support.paillier_keys import insecure_key_for_tests

from sottovoce.errors import ParameterError, SottovoceError
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.slots import Program, plan_slots
from sottovoce.learn.paillier.wire import (
    array_from_bytes,
    array_to_bytes,
    decrypt_integers,
    encrypt_integers,
)

KEY = insecure_key_for_tests(256)
PHE = phe.PaillierPublicKey(int(KEY.public.n))
PHE_PRIVATE = phe.PaillierPrivateKey(PHE, int(KEY.secret.p), int(KEY.secret.q))
CAPACITY = (1 << 39) - 1

Objects = NDArray[np.object_]


class Twins(NamedTuple):
    """One program's state, three times: ours, phe's and in clear."""

    ours: EncryptedArray
    theirs: Objects
    plain: Objects


class Step(NamedTuple):
    """An operation that all three understand, and the factor or term by which bounds grow."""

    on_ours: Callable[[EncryptedArray], EncryptedArray]
    on_others: Callable[[Objects], Objects]


def integers(low: int, high: int, *shape: int) -> st.SearchStrategy[Objects]:
    size = int(np.prod(shape))
    numbers = st.lists(st.integers(low, high), min_size=size, max_size=size)
    return numbers.map(lambda drawn: np.array(drawn, dtype=object).reshape(shape))


@st.composite
def starts(draw: st.DrawFn) -> Twins:
    rows, length = draw(st.integers(1, 3)), draw(st.integers(1, 9))
    plain = draw(integers(-1000, 1000, rows, length))
    plan = plan_slots(Program.start(1000), key_bits=256, slot_bits=40, packed=draw(st.booleans()))
    key = KEY if draw(st.booleans()) else KEY.public
    theirs = np.vectorize(PHE.encrypt, otypes=[object])(plain)
    return Twins(encrypt_integers(plain, plan, key), theirs, plain)


def _stored(array: EncryptedArray) -> EncryptedArray:
    """The bound that travels is a step of the plan, and may be wider."""
    read = array_from_bytes(array_to_bytes(array), KEY.public, plan=array.plan)
    return replace(read, bound=array.bound)


@st.composite
def steps(draw: st.DrawFn, of: Twins) -> Step:
    rows, length = of.plain.shape
    kind = draw(st.integers(0, 8))
    scalar = draw(st.integers(-300, 300))
    other = draw(integers(-500, 500, rows, length))
    column = draw(integers(-20, 20, rows, 1))
    matrix = draw(integers(-20, 20, draw(st.integers(1, 3)), rows))
    order = draw(st.permutations(range(rows)))
    return [
        Step(lambda a: a + a, lambda a: a + a),
        Step(lambda a: a * scalar, lambda a: a * scalar),
        Step(lambda a: a.plus_integers(other), lambda a: a + other),
        Step(lambda a: -a, lambda a: a * -1),
        Step(lambda a: a * column, lambda a: a * column),
        Step(lambda a: a.combine(matrix), lambda a: np.dot(matrix, a)),
        Step(lambda a: a.sum(0).reshape(1, length), lambda a: a.sum(0).reshape(1, length)),
        Step(lambda a: a[order] - a, lambda a: a[order] + a * -1),
        Step(_stored, lambda a: a),
    ][kind]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_random_programs_agree_with_phe_and_with_plain_integers(data: st.DataObject) -> None:
    state = data.draw(starts())
    for _ in range(data.draw(st.integers(1, 5))):
        step = data.draw(steps(state))
        try:
            ours = step.on_ours(state.ours)
        except ParameterError as refusal:
            assert "would need slots" in str(refusal)  # noqa: PT017 - a refusal may or may not come
            break
        state = Twins(ours, step.on_others(state.theirs), step.on_others(state.plain))
        assert ours.bound <= CAPACITY
    assert max(map(abs, state.plain.ravel())) <= state.ours.bound
    found = decrypt_integers(state.ours, KEY).tolist()
    assert found == state.plain.tolist()
    assert found == np.vectorize(PHE_PRIVATE.decrypt, otypes=[object])(state.theirs).tolist()
    assert decrypt_integers(state.ours.blind(), KEY).tolist() == found


PLAN = plan_slots(Program.of_bits(8), key_bits=256)
SAMPLE = array_to_bytes(encrypt_integers(np.arange(60).reshape(2, 30), PLAN, KEY))


damages = st.lists(
    st.tuples(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255)), min_size=1, max_size=4
)


@settings(max_examples=300, deadline=None)
@given(damages, st.integers(0, len(SAMPLE)))
def test_damaged_bytes_are_an_array_or_a_refusal(
    damage: list[tuple[int, int]], length: int
) -> None:
    check_damaged(damage, length)


@pytest.mark.long
@settings(max_examples=2000, deadline=None)
@given(damages, st.integers(0, len(SAMPLE)))
def test_many_damaged_bytes_are_an_array_or_a_refusal(
    damage: list[tuple[int, int]], length: int
) -> None:
    check_damaged(damage, length)


def check_damaged(damage: list[tuple[int, int]], length: int) -> None:
    data = bytearray(SAMPLE)
    for at, value in damage:
        data[at] = value
    for broken in (bytes(data), bytes(data[:length])):
        try:
            read = array_from_bytes(broken, KEY.public, plan=PLAN)
        except SottovoceError:
            continue
        assert read.ciphertexts.size <= len(SAMPLE)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_an_array_or_a_refusal(data: bytes) -> None:
    for start in (b"", SAMPLE[:5], SAMPLE[:9]):
        try:
            array_from_bytes(start + data, KEY.public, plan=PLAN)
        except SottovoceError:
            continue
