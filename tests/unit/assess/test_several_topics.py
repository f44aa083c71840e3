"""Scores for several topics together are those for each of them alone."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from support.communities import CATALOGUE, random_posts

from sottovoce.assess import Setting, _orders, rank, ranking
from sottovoce.assess.measures.catalogue import MEASURES, plan_scoring
from sottovoce.assess.measures.measure import Measure
from sottovoce.errors import ParameterError


@pytest.mark.parametrize("mode", ["corrected", "paper"])
def test_topics_together_score_as_each_alone(mode: str) -> None:
    names = ("ent", "diff-priv", "bow", "bow-d", "bow-t", "bow-dt")
    setting = Setting(mode=mode)  # type: ignore[arg-type] # one of both modes
    _, plan = plan_scoring(CATALOGUE, [], names, mode=setting.mode)
    state = plan.state_of(random_posts(9, posts=150).to_batches())
    topics = CATALOGUE.names[::-1]
    for measure in (MEASURES[name] for name in names):
        together = measure.scores(state, topics, setting)
        alone = [measure.score(state, topic, setting) for topic in topics]
        assert np.array_equal(together, alone)
        evident = [int(measure.evident(state, topic).sum()) for topic in topics]
        assert measure.evident_users(state, topics) == evident


@pytest.mark.parametrize("users", [1, 1_000])
def test_a_measure_that_scores_other_users_than_there_are_is_refused(users: int) -> None:
    _, plan = plan_scoring(CATALOGUE, [], ("bow",))
    state = plan.state_of(random_posts(9, posts=150).to_batches())
    wrong = Measure(lambda _state, _topic, _setting: np.zeros(users))
    several = replace(wrong, several=lambda _state, topics, _setting: np.zeros((len(topics), 2)))
    for each in (wrong, several):
        with pytest.raises(ParameterError, match="one score for each of the"):
            rank(state, {"wrong": each})


def test_long_names_are_ordered_for_fewer_topics_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    _, plan = plan_scoring(CATALOGUE, [], ("bow",))
    state = plan.state_of(random_posts(9, posts=150).to_batches())
    measures = {"bow": MEASURES["bow"]}
    together, sizes, sound = rank(state, measures, threads=1), list[int](), _orders.rearrange_names

    def rearranged(names: pa.Array, orders: NDArray[np.int32]) -> pa.Array:
        sizes.append(names.nbytes * len(orders))
        return sound(names, orders)

    monkeypatch.setattr(ranking, "_STEPS_OF_A_THREAD", 1)
    monkeypatch.setattr(ranking, "rearrange_names", rearranged)
    assert rank(state, measures, threads=1).table.equals(together.table)
    most = 2 * max(sizes) // 3
    monkeypatch.setattr(ranking, "_LARGEST_NAMES", most)
    sizes.clear()
    assert rank(state, measures, threads=1).table.equals(together.table)
    assert max(sizes) <= most
