"""The fewest posts whose removal takes a user out of their band, against trying all sets."""

from itertools import combinations

import numpy as np
import pytest

from sottovoce.assess.explanation import band_of, fewest_posts, highest_outside


def mean_of_best(strengths: np.ndarray, buckets: np.ndarray, m: int) -> float:
    best = sorted(
        (strengths[buckets == each].max() for each in set(buckets.tolist())), reverse=True
    )
    return float(sum(best[:m]) / m)


def by_trying(strengths: np.ndarray, buckets: np.ndarray, m: int, limit: float) -> int:
    everything = set(range(strengths.size))
    for size in range(strengths.size + 1):
        for removed in combinations(sorted(everything), size):
            rest = sorted(everything - set(removed))
            if not rest or mean_of_best(strengths[rest], buckets[rest], m) <= limit:
                return size
    raise AssertionError


@pytest.mark.parametrize("seed", range(40))
def test_no_smaller_set_would_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    posts = int(rng.integers(1, 9))
    strengths = rng.integers(0, 6, posts).astype(float)
    buckets = rng.integers(0, 4, posts)
    m = int(rng.integers(1, 4))
    limit = float(rng.integers(0, 4)) * 0.75
    found, proved = fewest_posts(strengths, buckets, m, limit)
    assert proved
    rest = np.setdiff1d(np.arange(posts), found)
    assert not rest.size or mean_of_best(strengths[rest], buckets[rest], m) <= limit
    assert len(found) == by_trying(strengths, buckets, m, limit)


def test_bands_and_the_score_that_leaves_them() -> None:
    others = np.arange(99.0)
    assert [band_of(score, others) for score in (200.0, 94.5, 90.5, 5.0)] == [
        "top 1%",
        "top 5%",
        "top 10%",
        "rest",
    ]
    for band, score in (("top 1%", 200.0), ("top 5%", 94.5), ("top 10%", 90.5)):
        limit = highest_outside(band, others)
        assert limit is not None
        assert band_of(limit, others) != band
        assert band_of(np.nextafter(limit, np.inf), others) == band
        assert score > limit
