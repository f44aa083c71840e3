"""Batches are scored in pieces of bounded size, which no state and no caller can tell."""

import pytest
from support.communities import CATALOGUE, random_posts

from sottovoce.assess import State
from sottovoce.assess import scores as score
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.assess.scores import pieces_by_user
from sottovoce.assess.setting import Bucket
from sottovoce.assess.state.parts import to_table
from sottovoce.corpus.read.corpus import open_posts
from sottovoce.errors import ParameterError


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_pieces_change_neither_the_state_nor_the_batches(
    monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    _, plan = plan_scoring(CATALOGUE, [], ("bow-dt", "ent"), posts=True)
    batches = random_posts(3, posts=100).to_batches(max_chunksize=30)
    wanted = to_table(plan.state_of(batches))
    monkeypatch.setattr(score, "_STRENGTHS_AT_ONCE", 7 * len(CATALOGUE))
    monkeypatch.setattr(score, "_POSTS_FOR_THREADS", 0)
    state = State(plan.header)
    assert list(plan.folding(state, batches, threads=threads)) == [30, 30, 30, 10]
    assert to_table(state).equals(wanted)


def test_cleaning_is_counted_whichever_thread_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score, "_STRENGTHS_AT_ONCE", 7 * len(CATALOGUE))
    monkeypatch.setattr(score, "_POSTS_FOR_THREADS", 0)
    posts = [("ada", "2024-01-01", "[quote]so[/quote] a loan")] * 20
    posts += [("[deleted]", "2024-01-02", "gone"), ("ben", "2024-01-03", "> only a quote")]
    counted = []
    for threads in (1, 3):
        _, plan = plan_scoring(CATALOGUE, [], ("bow-dt",), clean=True)
        state = plan.state_of(open_posts(posts), threads=threads)
        assert int(state.posts.sum()) == 21
        assert plan.cleaned is not None
        counted.append(plan.cleaned.facts())
    assert counted[0] == counted[1]
    assert counted[0]["posts of nobody"] == 1
    assert counted[0]["only quotes"] == 1


def test_fewer_than_one_thread_is_refused() -> None:
    _, plan = plan_scoring(CATALOGUE, [], ("bow",))
    with pytest.raises(ParameterError, match="threads must be >= 1, got 0"):
        plan.state_of(random_posts(1, posts=3).to_batches(), threads=0)


def test_a_group_that_is_larger_than_a_piece_is_cut() -> None:
    rows = [("ada", "2024-01-01", "a loan")] * 25 + [("ben", "2024-01-02", "the sea")]
    (batch,) = open_posts(rows)
    sizes = [each.num_rows for each in pieces_by_user(batch, Bucket(1, "w"), 10)]
    assert sizes == [10, 10, 6]
