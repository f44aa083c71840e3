"""Batches are scored in pieces of bounded size, which no state and no caller can tell."""

import pytest
from support.communities import CATALOGUE, random_posts

from sottovoce.assess import State
from sottovoce.assess import _score as score
from sottovoce.assess._score import plan_scoring
from sottovoce.assess.state._parts import to_table


@pytest.mark.parametrize("threads", [1, 2])
def test_pieces_change_neither_the_state_nor_the_batches(
    monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    _, plan = plan_scoring(CATALOGUE, [], ("bow-dt", "ent"), posts=True)
    batches = random_posts(3, posts=100).to_batches(max_chunksize=30)
    wanted = to_table(plan.state_of(batches))
    monkeypatch.setattr(score, "_STRENGTHS_AT_ONCE", 7 * len(CATALOGUE))
    state = State(plan.header)
    assert list(plan.folding(state, batches, threads=threads)) == [30, 30, 30, 10]
    assert to_table(state).equals(wanted)
