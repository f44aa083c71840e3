"""Names in another order are what Arrow takes, whatever they are made of."""

import numpy as np
import pyarrow as pa
import pytest

from sottovoce.assess._orders import (
    ordered_topics,
    positions_with_ties,
    rearrange_names,
    separations,
)

NAMES = pa.array(["ada", "", "Zoë", "名前", "a longer name than the others", "b"])


@pytest.mark.kernel
@pytest.mark.parametrize("names", [NAMES, NAMES[1:5], NAMES[:0]], ids=["all", "slice", "none"])
def test_names_are_moved_whole(names: pa.Array) -> None:
    generator = np.random.default_rng(1)
    orders = np.array([generator.permutation(len(names)) for _ in range(3)], np.int32)
    found = rearrange_names(names, orders)
    found.validate(full=True)
    assert found.equals(names.take(pa.array(orders.reshape(-1))))


@pytest.mark.parametrize("users", [1, 2, 7, 200, 333])
def test_separation_is_how_far_the_first_stand_from_the_middle(users: int) -> None:
    scores = np.round(np.random.default_rng(users).normal(size=users), 1)
    spread = scores.std()
    first = np.sort(scores)[::-1][: max(1, users // 100)]
    wanted = 0.0 if spread == 0 else (first.mean() - np.median(scores)) / spread
    assert separations(-np.sort(-scores)[np.newaxis]) == [wanted]


def test_topics_whose_scores_are_not_all_finite_have_no_separation() -> None:
    scores = -np.sort(-np.random.default_rng(3).normal(size=(3, 250)))
    scores[1, 0] = np.inf
    first, last = separations(scores[[0, 2]])
    assert separations(scores) == [first, None, last]


@pytest.mark.kernel
def test_users_stand_by_score_and_then_by_name_with_the_positions_of_ties() -> None:
    generator = np.random.default_rng(7)
    ties = np.concatenate([generator.integers(-2, 3, 40) / 2, [np.inf, np.inf, -0.0, 0.0]])
    apart = generator.normal(size=ties.size)
    alike = np.full(ties.size, -3.5)
    by_name = generator.permutation(ties.size)
    place = {int(row): name for name, row in enumerate(by_name)}
    scores = np.array([ties, apart, alike])
    limits = np.array([[1, 5, 20], [0, 2, 44], [0, 0, 43]])
    found = ordered_topics(scores, by_name, limits)
    for topic, line in enumerate(scores):
        wanted = sorted(range(line.size), key=lambda row: (-line[row], place[row]))
        assert found.rows[topic].tolist() == wanted
        assert found.scores[topic].tolist() == line[wanted].tolist()
        first, last = positions_with_ties(line)
        assert found.first[topic].tolist() == first[wanted].tolist()
        bands = [int((limits[topic] < each).sum()) for each in last[wanted]]
        assert found.bands[topic].tolist() == bands
        assert found.in_band[topic].tolist() == [bands.count(band) for band in range(4)]


@pytest.mark.kernel
def test_what_is_no_number_stands_last() -> None:
    scores = np.array([[1.0, np.nan, 2.0, -np.nan, -np.inf]])
    found = ordered_topics(scores, np.arange(5), np.zeros((1, 3), np.int64))
    assert found.rows.tolist() == [[2, 0, 4, 1, 3]]
