"""Bytes that nobody vouches for: whatever they are, a value or a named refusal comes out."""

import hashlib
import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from sottovoce.errors import DamagedMessageError
from sottovoce.learn.wire.codec import DTYPES, Value, decode_value, encode_value
from sottovoce.learn.wire.message import Message

scalars = (
    st.integers() | st.binary() | st.text() | st.none() | st.booleans() | st.floats(allow_nan=False)
)
tables = st.sampled_from(DTYPES).flatmap(
    lambda dtype: arrays(dtype, array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)
values = st.recursive(
    scalars | tables,
    lambda inner: (
        st.lists(inner, max_size=4).map(tuple) | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=8,
)


def same(one: Value, other: Value) -> bool:
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and one.dtype == other.dtype
            and one.shape == other.shape
            and one.tobytes() == other.tobytes()
        )
    if isinstance(one, tuple):
        return isinstance(other, tuple) and all(map(same, one, other)) and len(one) == len(other)
    if isinstance(one, dict):
        return isinstance(other, dict) and all(same(one[key], other[key]) for key in other)
    return type(one) is type(other) and one == other


@given(values)
@example(np.arange(6).reshape(2, 3).T)
def test_what_is_encoded_is_decoded(value: Value) -> None:
    assert same(value, decode_value(encode_value(value)))


@given(st.binary(max_size=200))
@example(struct.pack("<BBBQQ", 4, 7, 2, 0, 2**63))
@example(struct.pack("<BBBQ", 4, 7, 1, 0))
def test_any_bytes_are_decoded_or_refused_by_name(data: bytes) -> None:
    try:
        value = decode_value(data)
    except DamagedMessageError:
        return
    assert same(value, decode_value(encode_value(value)))


@given(values, st.integers(0, 10**6), st.integers(0, 255))
def test_a_changed_byte_under_a_right_digest_is_decoded_or_refused_by_name(
    value: Value, place: int, byte: int
) -> None:
    message = Message(bytes(16), "a", "b", 1, "kind", {"value": value})
    content = bytearray(message.to_bytes()[:-32])
    content[place % len(content)] = byte
    data = bytes(content) + hashlib.sha256(content).digest()
    try:
        again = Message.from_bytes(data)
    except DamagedMessageError:
        return
    assert again.step >= 1


@given(st.binary(max_size=300))
def test_random_bytes_are_no_message(data: bytes) -> None:
    with pytest.raises(DamagedMessageError):
        Message.from_bytes(data)
