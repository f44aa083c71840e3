"""Walker's tables give back exactly the shares they were made from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.arrays import Floats, Integers
from sottovoce.release.compression.decompress import alias_tables

pytestmark = pytest.mark.kernel


def implied_shares(keep: Floats, alias: Integers, starts: Integers) -> Floats:
    """The probability of each word when a slot is chosen evenly, then kept or aliased."""
    sizes = np.diff(starts)
    per_slot = np.repeat(1 / sizes, sizes)
    shares = keep * per_slot
    np.add.at(shares, alias, (1 - keep) * per_slot)
    return shares


@given(st.lists(st.integers(1, 8), min_size=1, max_size=4), st.integers(0, 2**32))
@settings(deadline=None, max_examples=80)
def test_slots_and_aliases_add_up_to_the_shares(sizes: list[int], seed: int) -> None:
    generator = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    weights = generator.integers(0, 5, starts[-1]) * generator.random(starts[-1])
    weights[starts[:-1]] += 0.1  # some word of every column
    totals = np.add.reduceat(weights, starts[:-1])
    shares = weights / np.repeat(totals, sizes)
    keep, alias = alias_tables(shares, starts)
    np.testing.assert_allclose(implied_shares(keep, alias, starts), shares, atol=1e-12)
    column = np.repeat(np.arange(len(sizes)), sizes)
    assert (column[alias] == column).all()
