"""What two servers open is the count under both servers' own noise, at the rate that is claimed."""

import math

import numpy as np
import pytest
from support.rank_servers import description

from sottovoce.advisor.rank.shares import ServerSide

RULES = description("shares", buckets=20)
FIRST, SECOND = (ServerSide(RULES, "debt", 1, bytes(32), place) for place in range(2))
TIMES = 400


def variance(rate: float) -> float:
    """Of one server's two-sided geometric noise."""
    alpha = math.exp(-rate)
    return 2 * alpha / (1 - alpha) ** 2


def spread(*noisy: ServerSide) -> float:
    """The mean square of opened counts of nobody, the servers in ``noisy`` adding their noise."""
    zero = FIRST.prio3.aggregate([])
    opened = [
        FIRST.prio3.unshard(
            [side.noised_sum([]) if side in noisy else zero for side in (FIRST, SECOND)]
        )
        for _ in range(TIMES)
    ]
    return float(np.mean(np.square(opened)))


def unlikely(measured: float, expected: float) -> bool:
    """Beyond five standard errors; noise has a kurtosis below 6, so squares vary by at most 5."""
    return abs(measured / expected - 1) > 5 * math.sqrt(5 / (20 * TIMES))


@pytest.mark.parametrize("alone", [FIRST, SECOND])
def test_each_servers_noise_alone_has_the_claimed_rate(alone: ServerSide) -> None:
    """So against the other server, which knows its own, a sum is epsilon-private: rate 1/2."""
    measured = spread(alone)
    assert not unlikely(measured, variance(1 / 2))
    # Noise at the whole of epsilon, which forgets that one person moves two counts, is caught.
    assert unlikely(measured, variance(1))


def test_what_is_published_has_the_noise_of_both() -> None:
    measured = spread(FIRST, SECOND)
    assert not unlikely(measured, 2 * variance(1 / 2))
    assert unlikely(spread(FIRST), 2 * variance(1 / 2))
