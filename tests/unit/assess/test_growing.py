"""Rows that grow keep what they hold, copied or not."""

import numpy as np
import pytest

from sottovoce.assess.state.buckets import GrowingRows


@pytest.mark.parametrize("looked_at", [False, True])
def test_rows_keep_their_numbers_when_they_grow(looked_at: bool) -> None:
    rows = GrowingRows(3, np.float64)
    views = []
    for size in (2, 5, 100_000):
        held = rows.array.copy()
        if looked_at:
            # Somebody's view keeps the pages from being moved.
            views.append(rows.array[:1])
        rows.grow(size)
        assert rows.array.shape == (size, 3)
        assert (rows.array[: len(held)] == held).all()
        assert not rows.array[len(held) :].any()
        rows.array[:] = np.arange(3 * size).reshape(size, 3)
    assert all(view.shape[1] == 3 for view in views)
