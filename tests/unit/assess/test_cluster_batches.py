"""Batches that did not come from our readers are scored right, or refused."""

from collections.abc import Callable

import pyarrow as pa
import pytest
from support.communities import CATALOGUE, FixedSpace, random_posts

from sottovoce.assess import State
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.assess.scores import Scoring
from sottovoce.assess.setting import Bucket
from sottovoce.assess.state.parts import to_table
from sottovoce.errors import InputError


@pytest.fixture
def scoring() -> Scoring:
    return plan_scoring(CATALOGUE, [FixedSpace()], ("lda-t", "bow", "ent"), posts=True)[1]


def with_column(table: pa.Table, name: str, column: pa.Array) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, column)


@pytest.mark.parametrize(
    "kind",
    [
        pa.timestamp("s"),
        pa.timestamp("ms", "UTC"),
        pa.timestamp("ns", "UTC"),
        pa.timestamp("ns", "Asia/Tokyo"),
        pa.timestamp("us", "Europe/Rome"),
    ],
)
def test_the_unit_of_a_time_does_not_matter(scoring: Scoring, kind: pa.DataType) -> None:
    posts = random_posts(5)
    other = with_column(posts, "time", posts["time"].cast(kind))
    wanted = to_table(scoring.state_of(posts.to_batches()))
    assert to_table(scoring.state_of(other.to_batches())).equals(wanted)


def test_a_nanosecond_before_midnight_is_the_day_before() -> None:
    times = pa.array([-1, 0, 86_400 * 10**9 - 1], pa.timestamp("ns"))
    assert Bucket(1, "d").numbers(times).tolist() == [-1, 0, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: with_column(t, "time", pa.nulls(len(t), pa.timestamp("us"))), "have a time"),
        (lambda t: with_column(t, "user", pa.nulls(len(t), pa.string())), "have a user"),
        (lambda t: with_column(t, "text", pa.nulls(len(t), pa.string())), "have a text"),
        (lambda t: with_column(t, "time", t["time"].cast(pa.int64())), "timestamps, got int64"),
        (lambda t: with_column(t, "user", pa.array(range(len(t)))), "a string, got int64"),
        (lambda t: t.drop_columns("time"), "got no time"),
        (
            lambda t: with_column(t, "time", pa.array([2**62] * len(t), pa.timestamp("s"))),
            "within the years",
        ),
    ],
)
def test_what_is_no_post_is_refused_and_the_state_stays(
    scoring: Scoring, change: Callable[[pa.Table], pa.Table], message: str
) -> None:
    state = State(scoring.header)
    with pytest.raises(InputError, match=message):
        scoring.fold(state, change(random_posts(5)).to_batches())
    assert not state.posts.sum()


def test_posts_are_not_folded_into_a_state_made_in_another_way(scoring: Scoring) -> None:
    other = plan_scoring(CATALOGUE, [FixedSpace(seed=1)], ("lda-t", "bow", "ent"), posts=True)[1]
    with pytest.raises(InputError, match="the models differ"):
        scoring.fold(State(other.header), random_posts(5).to_batches())
