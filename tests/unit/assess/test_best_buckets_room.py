"""Users who move to larger blocks leave gaps; closing them loses nothing and bounds memory."""

import numpy as np
import pytest

from sottovoce.assess.state import _buckets_kernels as buckets_kernels
from sottovoce.assess.state import buckets as best_buckets
from sottovoce.assess.state.buckets import BestBuckets


@pytest.mark.kernel
@pytest.mark.parametrize("kept", [1, 2, 3, 5, 12])
def test_everybody_growing_week_by_week_keeps_her_best(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = [0]
    close = buckets_kernels.close_gaps

    def counted(*arguments: object) -> object:
        closed[0] += 1
        return close(*arguments)  # type: ignore[arg-type] # as they came

    monkeypatch.setattr(best_buckets, "close_gaps", counted)
    generator, users, weeks = np.random.default_rng(kept), 200, 9
    strengths = generator.integers(0, 20, (weeks, users, 2)) / 20
    held = BestBuckets(2, kept)
    for week in range(weeks):
        for part in np.array_split(generator.permutation(users), 3):
            buckets = np.full(part.size, week, np.int32)
            held.add_posts(part, buckets, strengths[week, part])
    best = -np.sort(-strengths, axis=0)[:kept]
    for topic in range(2):
        found = held.best(topic, kept)[:, : min(kept, weeks)]
        assert (found == best[:, :, topic].T).all()
    assert closed[0] > 0 or kept < 3


def test_gaps_are_closed_rather_than_room_doubled() -> None:
    """All users move from one slot to two: half as many slots again would be lost."""
    held, users = BestBuckets(1, 3), 1000
    for week in range(3):
        held.add_posts(np.arange(users), np.full(users, week, np.int32), np.ones((users, 1)))
    slots = held._free[0]
    assert slots < 1.5 * 3 * users
