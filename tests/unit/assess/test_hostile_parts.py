"""A part of a state that is missing, damaged or another's is refused in a sentence."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from support.communities import CATALOGUE, FixedSpace, random_posts

from sottovoce.assess import Scoring, State, load_state, save_state
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.assess.state import parts as kept_state
from sottovoce.assess.state.parts import (
    KeptState,
    earlier_folder,
    from_table,
    remove_unnamed,
    to_table,
)
from sottovoce.errors import InputError

Change = Callable[[dict[str, Any]], object]
KEY = b"sottovoce.state"
REFUSED = "is not a state that sottovoce assess wrote"
MISSING = "a part of the state .*s is missing or damaged: .*; copy s.earlier along with the state"


@pytest.fixture
def how() -> Scoring:
    return plan_scoring(CATALOGUE, [FixedSpace()], ("lda-t", "bow", "ent"))[1]


def grow(path: Path, added: State) -> None:
    with KeptState.open(path).adding(added, {}):
        pass
    remove_unnamed(path)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: Scoring) -> Path:
    """A state of three parts."""
    monkeypatch.setattr(kept_state, "LEAST", 0)
    path = tmp_path / "s"
    for number, (users, posts) in enumerate([(200, 2000), (100, 60), (50, 3)]):
        state = how.state_of(random_posts(number, users=users, posts=posts).to_batches())
        state.inputs = frozenset({str(number)})
        if number:
            grow(path, state)
        else:
            save_state(path, state)
    assert len(KeptState.open(path).earlier) == 2
    return path


def parts(path: Path) -> list[Path]:
    return [earlier_folder(path) / part.name for part in KeptState.open(path).earlier]


def added(how: Scoring) -> State:
    state = how.state_of(random_posts(9, users=50, posts=1).to_batches())
    state.inputs = frozenset({"new"})
    return state


def cut_short(path: Path) -> None:
    data = parts(path)[1].read_bytes()
    parts(path)[1].write_bytes(data[: len(data) // 2])


def swap(path: Path) -> None:
    first, second = parts(path)
    first.write_bytes(second.read_bytes())


def take_of_another_state(path: Path) -> None:
    table = pq.read_table(parts(path)[1])
    pq.write_table(table.slice(1), parts(path)[1])


def make_a_folder(path: Path) -> None:
    parts(path)[0].unlink()
    parts(path)[0].mkdir()


def record(change: Change, *, groups: int = 1) -> Callable[[Path], None]:
    """Change what a state says of itself."""

    def rewrite(path: Path) -> None:
        table = pq.ParquetFile(path).read()
        fields = json.loads(table.schema.metadata[KEY])
        change(fields)
        described = table.replace_schema_metadata({KEY: json.dumps(fields)})
        pq.write_table(described, path, row_group_size=max(1, table.num_rows // groups))

    return rewrite


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: parts(path)[0].unlink(),
        lambda path: parts(path)[0].write_bytes(b""),
        cut_short,
        swap,
        take_of_another_state,
        make_a_folder,
        lambda path: earlier_folder(path).rename(path.with_name("elsewhere")),
        record(lambda fields: fields["earlier"][0].update(bytes=7)),
        record(lambda fields: fields["earlier"][0].update(numbers=7)),
    ],
)
def test_a_spoilt_part_is_refused_by_who_reads_and_who_adds(
    path: Path, how: Scoring, spoil: Callable[[Path], None]
) -> None:
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=MISSING):
        load_state(path)
    with pytest.raises(InputError, match=MISSING):
        grow(path, added(how))
    assert path.read_bytes() == before


def test_no_flipped_bit_changes_what_is_read(path: Path) -> None:
    """Wherever it is, it is refused, or it is where nothing is read from."""
    order, whole = Random(1), to_table(load_state(path))
    refused = 0
    for file in [*parts(path), path]:
        data = file.read_bytes()
        for _ in range(40):
            damaged = bytearray(data)
            damaged[order.randrange(len(data))] ^= 1 << order.randrange(8)
            file.write_bytes(damaged)
            try:
                assert to_table(load_state(path)).equals(whole, check_metadata=True)
            except InputError:
                refused += 1
        file.write_bytes(data)
    assert refused > 100


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: fields.update(earlier=5),
        lambda fields: fields.pop("earlier"),
        lambda fields: fields["earlier"][0].update(name="../s"),
        lambda fields: fields["earlier"][0].update(name="/etc/passwd"),
        lambda fields: fields["earlier"][0].update(name=7),
        lambda fields: fields["earlier"][0].update(bytes=-1),
        lambda fields: fields["earlier"][0].update(numbers=1.5),
        lambda fields: fields["earlier"][0].pop("numbers"),
        lambda fields: fields.update(users=-1),
        lambda fields: fields.update(users=True),
        lambda fields: fields.update(posts="many"),
        lambda fields: fields.pop("posts"),
        lambda fields: fields.update(posts=fields["posts"] + 1),
        lambda fields: fields.update(users=fields["users"] - 1),
        lambda fields: fields["earlier"].pop(),
        lambda fields: fields["earlier"].append(fields["earlier"][0]),
    ],
)
def test_a_record_out_of_bounds_is_refused(path: Path, change: Change) -> None:
    record(change)(path)
    with pytest.raises(InputError, match=REFUSED):
        load_state(path)


def test_a_part_that_was_scored_in_another_way_is_refused(path: Path) -> None:
    record(lambda fields: fields["header"].update(counted="other"))(path)
    with pytest.raises(InputError, match=MISSING):
        load_state(path)


@pytest.mark.parametrize("groups", [1, 2])
def test_a_user_who_is_twice_in_a_part_is_refused(path: Path, groups: int) -> None:
    """In one group of rows or in two, even where she was counted twice."""
    table = pq.ParquetFile(path).read()
    pq.write_table(pa.concat_tables([table, table]), path)
    more = pc.sum(table["posts"]).as_py()
    record(lambda fields: fields.update(posts=fields["posts"] + more), groups=groups)(path)
    with pytest.raises(InputError, match=REFUSED):
        load_state(path)


def test_one_part_is_no_table_of_a_state(path: Path) -> None:
    with pytest.raises(InputError, match=REFUSED):
        from_table(pq.ParquetFile(path).read())


def test_nothing_is_removed_for_a_state_that_cannot_be_read(path: Path) -> None:
    files = parts(path)
    path.write_bytes(b"damaged")
    remove_unnamed(path)
    assert all(file.exists() for file in files)
