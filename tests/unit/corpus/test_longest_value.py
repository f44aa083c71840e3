"""The longest value of a Parquet dictionary, found with and without a compiler."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.corpus.read._parquet import compile_longest_value, longest_value


def both(plain: bytes, values: int) -> set[int]:
    compiled = compile_longest_value()(np.frombuffer(plain, np.uint8), values)
    return {int(compiled), int(longest_value(plain, values))}


@given(st.lists(st.binary(max_size=300), max_size=30), st.binary(max_size=3))
def test_both_ways_find_the_longest_value(values: list[bytes], rest: bytes) -> None:
    plain = b"".join(len(value).to_bytes(4, "little") + value for value in values) + rest
    assert both(plain, len(values)) == {max(map(len, values), default=0)}


def test_no_more_values_are_looked_at_than_are_announced() -> None:
    plain, cut = b"\1\0\0\0a" + b"\3\0\0\0abc", b"\xff\xff\xff\xff"
    assert (both(plain, 1), both(plain, 2), both(cut, 9)) == ({1}, {3}, {2**32 - 1})
