"""The longest value of a Parquet dictionary, found with and without a compiler."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.corpus.read._parquet import longest_of_few
from sottovoce.corpus.read._parquet_kernel import longest_value


@given(st.lists(st.binary(max_size=300), max_size=30), st.binary(max_size=3))
def test_both_ways_find_the_longest_value(values: list[bytes], rest: bytes) -> None:
    plain = b"".join(len(value).to_bytes(4, "little") + value for value in values) + rest
    longest = max(map(len, values), default=0)
    assert longest_of_few(plain, len(values)) == longest
    assert longest_value(np.frombuffer(plain, np.uint8)) == longest


def test_no_more_values_are_looked_at_than_are_announced() -> None:
    plain = b"\1\0\0\0a" + b"\3\0\0\0abc"
    assert longest_of_few(plain, 1) == 1
    assert longest_of_few(plain, 2) == 3
    assert longest_of_few(b"\xff\xff\xff\xff", 9) == 2**32 - 1
