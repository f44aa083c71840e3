"""A saved state is private, whole, and refused where it does not fit."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.communities import CATALOGUE, FixedSpace, random_posts

from sottovoce.assess import State, load_state, save_state
from sottovoce.assess.job import scoring_for
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.assess.setting import Bucket
from sottovoce.assess.state.parts import to_table
from sottovoce.errors import InputError
from sottovoce.topics import BagOfWords, Catalogue

KEY = b"sottovoce.state"


@pytest.fixture
def state() -> State:
    scoring = plan_scoring(CATALOGUE, [FixedSpace()], ("lda-t", "bow", "ent"))[1]
    return scoring.state_of(random_posts(5).to_batches())


def test_a_state_holds_no_text(state: State, tmp_path: Path) -> None:
    save_state(tmp_path / "s", state)
    columns = pq.read_table(tmp_path / "s").column_names
    assert columns == [
        "user",
        "posts",
        "words",
        "bow.buckets",
        "bow.strengths",
        "lda.buckets",
        "lda.strengths",
    ]


def test_a_file_that_is_no_state_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no state")
    pq.write_table(pa.table({"user": ["a"]}), tmp_path / "table")
    for name in ("text", "table"):
        with pytest.raises(InputError, match="is no state that sottovoce assess wrote"):
            load_state(tmp_path / name)
    with pytest.raises(InputError, match="No such file"):
        load_state(tmp_path / "absent")


def test_another_version_is_refused(state: State, tmp_path: Path) -> None:
    table = to_table(state)
    record = json.loads(table.schema.metadata[KEY]) | {"version": 99}
    pq.write_table(table.replace_schema_metadata({KEY: json.dumps(record)}), tmp_path / "s")
    with pytest.raises(InputError, match="has version 99, this release reads 1"):
        load_state(tmp_path / "s")


@pytest.mark.parametrize(
    "broken",
    [
        lambda table: table.drop_columns("posts"),
        lambda table: table.set_column(1, "posts", pa.array(["x"] * len(table))),
        lambda table: table.set_column(2, "words", pa.array([b"x"] * len(table))),
        lambda table: pa.concat_tables([table, table]),
        lambda table: table.set_column(
            4, "bow.strengths", pa.array([[0.5] * 5] * len(table), pa.large_list(pa.float64()))
        ),
        lambda table: table.set_column(
            3, "bow.buckets", pa.array([[1]] * len(table), pa.large_list(pa.int32()))
        ),
    ],
)
def test_a_damaged_state_is_refused(
    broken: Callable[[pa.Table], pa.Table], state: State, tmp_path: Path
) -> None:
    table = to_table(state)
    damaged = broken(table).replace_schema_metadata(table.schema.metadata)
    pq.write_table(damaged, tmp_path / "s")
    with pytest.raises(InputError, match="is no state that sottovoce assess wrote"):
        load_state(tmp_path / "s")


def test_states_made_in_another_way_do_not_merge(state: State) -> None:
    header = state.header
    others = {
        "topics of the catalogue": replace(header, catalogue=Catalogue(CATALOGUE.topics[::-1])),
        "vector spaces": replace(header, spaces={"bow": header.spaces["bow"]}),
        "models": replace(header, spaces={**header.spaces, "lda": "other"}),
        "salient words": replace(header, counted="other"),
        "time buckets": replace(header, bucket=Bucket(1, "d")),
        "buckets kept": replace(header, kept=5),
        "mode": replace(header, mode="paper"),
    }
    for what, other in others.items():
        with pytest.raises(InputError, match=f"do not fit together: the {what}.* differ"):
            state.fold(State(other))


def test_new_posts_need_every_model_the_state_was_made_with(state: State) -> None:
    with pytest.raises(InputError, match="holds strengths in lda: new posts need that model too"):
        scoring_for(state.header, [])
    with pytest.raises(InputError, match="the models differ"):
        scoring_for(state.header, [FixedSpace(seed=1)])
    assert scoring_for(state.header, [FixedSpace(), BagOfWords()]).header == state.header
