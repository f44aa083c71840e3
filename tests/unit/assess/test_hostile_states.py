"""A saved state is private and whole; what somebody else made is checked before it is trusted."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.communities import CATALOGUE, FixedSpace, random_posts

from sottovoce.assess import State, load_state, save_state
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.assess.setting import MOST_KEPT, Bucket
from sottovoce.assess.state.parts import from_table, load_ranked, to_table
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics import Catalogue

KEY = b"sottovoce.state"
*OTHERS, LAST = CATALOGUE.topics
NINE_WORDS = Catalogue((*OTHERS, replace(LAST, words=(*LAST.words, "zebra"))), CATALOGUE.model)
# So that the last bits of a byte stand for no word.
REFUSED = "is not a state that sottovoce assess wrote"


@pytest.fixture
def state() -> State:
    measures = ("lda-t", "bow", "ent", "voice-t")
    spaces = [FixedSpace(), FixedSpace("voice")]
    scoring = plan_scoring(NINE_WORDS, spaces, measures, posts=True)[1]
    return scoring.state_of(random_posts(5).to_batches())


def with_record(table: pa.Table, change: Callable[[dict[str, Any]], object]) -> pa.Table:
    record = json.loads(table.schema.metadata[KEY])
    change(record)
    return table.replace_schema_metadata({KEY: json.dumps(record)})


def test_a_state_holds_no_text(state: State, tmp_path: Path) -> None:
    save_state(tmp_path / "s", state)
    pairs = {f"{kind}.{part}" for kind in state.header.spaces for part in ("buckets", "strengths")}
    found = set(pq.read_table(tmp_path / "s").column_names)
    posts = {each for each in found if "post_" in each or each.startswith("post.")}
    assert found - posts == {"user", "posts", "words", *pairs}
    assert posts == {
        "post.times",
        "post.words",
        *(f"{kind}.post_strengths" for kind in state.header.spaces),
    }


def test_a_file_that_is_no_state_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no state")
    pq.write_table(pa.table({"user": ["a"]}), tmp_path / "table")
    for name in ("text", "table"):
        with pytest.raises(InputError, match=REFUSED):
            load_state(tmp_path / name)
    with pytest.raises(InputError, match="No such file"):
        load_state(tmp_path / "absent")


def test_another_version_is_refused(state: State) -> None:
    with pytest.raises(InputError, match="has version 99, this release reads 1"):
        from_table(with_record(to_table(state), lambda record: record.update(version=99)))


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


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record["header"]["salient"].update(debts=[10**6]),
        lambda record: record["header"]["salient"].update(debts=[-1]),
        lambda record: record["header"]["salient"].update(debts=[True]),
        lambda record: record["header"]["salient"].pop("debts"),
        lambda record: record["header"]["salient"].update(more=[0]),
        lambda record: record["header"].update(salient=[1]),
        lambda record: record["header"].update(words=10**12),
        lambda record: record["header"].update(words=2),
        lambda record: record["header"].update(words=float("inf")),
        lambda record: record["header"].update(kept=10**12),
        lambda record: record["header"].update(kept=0),
        lambda record: record["header"].update(mode="wrong"),
        lambda record: record["header"].update(mode=["paper"]),
        lambda record: record["header"].update(bucket="1h"),
        lambda record: record["header"].update(bucket=7),
        lambda record: record["header"].update(spaces=[]),
        lambda record: record["header"]["catalogue"]["topics"][0].update(name=5),
        lambda record: record["header"]["catalogue"]["topics"][0].update(words=[5]),
        lambda record: record.update(header=None),
        lambda record: record.update(inputs=5),
    ],
)
def test_a_header_out_of_bounds_is_refused(
    state: State, change: Callable[[dict[str, Any]], object]
) -> None:
    with pytest.raises(InputError, match=REFUSED):
        from_table(with_record(to_table(state), change))


def with_value(name: str, value: object, at: int = 0) -> Callable[[pa.Table], pa.Table]:
    """The first cell, or an entry of its list, replaced; the type kept."""

    def change(table: pa.Table) -> pa.Table:
        cells = table[name].to_pylist()
        if isinstance(cells[0], list):
            cells[0][at] = value
        else:
            cells[0] = value
        place = table.schema.get_field_index(name)
        return table.set_column(place, name, pa.array(cells, table[name].type))

    return change


def with_type(name: str, kind: pa.DataType) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index(name)
        return table.set_column(place, name, table[name].cast(kind))

    return change


def with_cells(name: str, cell: object, kind: pa.DataType) -> Callable[[pa.Table], pa.Table]:
    """All cells replaced."""

    def change(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index(name)
        return table.set_column(place, name, pa.array([cell] * len(table), kind))

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.set_column(0, "user", pa.array(np.arange(len(table)))),
        lambda table: table.drop_columns("posts"),
        lambda table: pa.concat_tables([table, table]),
        with_cells("posts", "x", pa.string()),
        with_cells("words", b"x", pa.binary()),
        with_cells("bow.strengths", [0.5] * 5, pa.large_list(pa.float64())),
        with_cells("bow.buckets", [1], pa.large_list(pa.int32())),
        with_value("user", None),
        with_value("posts", -1),
        with_value("posts", 0),
        with_value("posts", 1 << 62),
        with_value("posts", None),
        with_value("words", b"\xff\xff"),
        with_value("words", None),
        with_value("bow.strengths", float("inf")),
        with_value("bow.strengths", float("nan")),
        with_value("bow.strengths", 1.5),
        with_value("bow.strengths", None),
        with_value("lda.strengths", -2.0),
        with_value("voice.strengths", float("inf")),
        with_value("lda.post_strengths", 2.0),
        with_value("post.words", 0xFF, at=1),
        with_value("bow.buckets", None),
        with_type("posts", pa.float64()),
        with_type("bow.strengths", pa.large_list(pa.float32())),
        with_type("bow.buckets", pa.large_list(pa.int64())),
        with_type("post.times", pa.large_list(pa.timestamp("us"))),
        with_type("words", pa.binary()),
    ],
)
def test_a_column_of_another_kind_is_refused(
    state: State, tmp_path: Path, change: Callable[[pa.Table], pa.Table]
) -> None:
    table = to_table(state)
    # Nine words, so that most bits of the last byte stand for none.
    assert state.header.words % 8, "the test needs a spare bit"
    changed = change(table).replace_schema_metadata(table.schema.metadata)
    pq.write_table(changed, tmp_path / "s")
    with pytest.raises(InputError, match=REFUSED):
        load_state(tmp_path / "s")


def test_evidence_is_no_cosine_and_may_be_above_one(state: State) -> None:
    table = to_table(state)
    changed = with_value("voice.strengths", 40.0)(table)
    loaded = from_table(changed.replace_schema_metadata(table.schema.metadata))
    assert loaded.strongest("voice").max() == 40.0


@pytest.mark.parametrize(
    "ranked",
    [5, ["k"], {"measures": "bow"}, {"measures": [1]}, {"k": "much"}, {"m": 2.5}, {"m": None}],
)
def test_a_last_ranking_of_another_kind_is_refused(
    state: State, tmp_path: Path, ranked: object
) -> None:
    table = with_record(to_table(state), lambda record: record.update(ranked=ranked))
    pq.write_table(table, tmp_path / "s")
    with pytest.raises(InputError, match=REFUSED):
        load_ranked(tmp_path / "s")


def test_a_deeply_nested_record_is_refused(state: State) -> None:
    table = to_table(state).replace_schema_metadata({KEY: b"[" * 200_000})
    with pytest.raises(InputError, match=REFUSED):
        from_table(table)


def test_a_state_larger_than_the_memory_is_not_read(
    state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(to_table(state), tmp_path / "s")
    load_state(tmp_path / "s")
    monkeypatch.setattr("os.sysconf", lambda name: 1 if name == "SC_PHYS_PAGES" else 4096)
    with pytest.raises(InputError, match=REFUSED):
        load_state(tmp_path / "s")


def test_no_state_keeps_more_buckets_than_can_be_read_back() -> None:
    with pytest.raises(ParameterError, match="from 1 to 10000, got 10001"):
        plan_scoring(CATALOGUE, [], ("bow",), kept=MOST_KEPT + 1)
