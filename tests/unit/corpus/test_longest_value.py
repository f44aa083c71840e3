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
    assert longest_value(np.frombuffer(plain, np.uint8), len(values)) == longest


def test_no_more_values_are_looked_at_than_are_announced() -> None:
    plain, cut = b"\1\0\0\0a" + b"\3\0\0\0abc", b"\xff\xff\xff\xff"
    assert (longest_of_few(plain, 1), longest_of_few(plain, 2)) == (1, 3)
    assert longest_of_few(cut, 9) == 2**32 - 1
    compiled = [longest_value(np.frombuffer(plain, np.uint8), values) for values in (1, 2)]
    assert compiled == [1, 3]
    assert longest_value(np.frombuffer(cut, np.uint8), 9) == 2**32 - 1
