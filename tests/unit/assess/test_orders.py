"""Names in another order are what Arrow takes, whatever they are made of."""

import numpy as np
import pyarrow as pa
import pytest

from sottovoce.assess._orders import ordered_users, positions_with_ties, rearranged
from sottovoce.assess._ranking import separation

NAMES = pa.array(["ada", "", "Zoë", "名前", "a longer name than the others", "b"])


@pytest.mark.kernel
@pytest.mark.parametrize("names", [NAMES, NAMES[1:5], NAMES[:0]], ids=["all", "slice", "none"])
def test_names_are_moved_whole(names: pa.Array) -> None:
    order = np.random.default_rng(1).permutation(len(names))
    found = rearranged(names, order)
    found.validate(full=True)
    assert found.equals(names.take(pa.array(order)))


@pytest.mark.parametrize("users", [1, 2, 7, 200, 333])
def test_the_separation_of_scores_does_not_depend_on_their_order(users: int) -> None:
    scores = np.round(np.random.default_rng(users).normal(size=users), 1)
    spread = scores.std()
    first = np.sort(scores)[::-1][: max(1, users // 100)]
    wanted = 0.0 if spread == 0 else (first.mean() - np.median(scores)) / spread
    assert separation(scores) == separation(-np.sort(-scores)) == wanted


@pytest.mark.kernel
def test_users_stand_by_score_and_then_by_name_with_the_positions_of_ties() -> None:
    generator = np.random.default_rng(7)
    scores = np.concatenate([generator.integers(-2, 3, 40) / 2, [np.inf, np.inf, -0.0, 0.0]])
    by_name = generator.permutation(scores.size)
    found = ordered_users(scores, by_name)
    place = {int(row): name for name, row in enumerate(by_name)}
    wanted = sorted(range(scores.size), key=lambda row: (-scores[row], place[row]))
    assert found.rows.tolist() == wanted
    assert found.scores.tolist() == scores[wanted].tolist()
    first, last = positions_with_ties(scores)
    assert found.first.tolist() == first[wanted].tolist()
    assert found.last.tolist() == last[wanted].tolist()
