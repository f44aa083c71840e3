"""A part of a state that is missing, damaged or another's is refused in a sentence."""

import json
import shutil
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

KEY = b"sottovoce.state"
REFUSED = "is no state that sottovoce assess wrote"
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


def missing(path: Path) -> None:
    parts(path)[0].unlink()


def cut_short(path: Path) -> None:
    data = parts(path)[1].read_bytes()
    parts(path)[1].write_bytes(data[: len(data) // 2])


def empty(path: Path) -> None:
    parts(path)[0].write_bytes(b"")


def swapped(path: Path) -> None:
    first, second = parts(path)
    first.write_bytes(second.read_bytes())


def of_another_state(path: Path) -> None:
    table = pq.read_table(parts(path)[1])
    pq.write_table(table.slice(1), parts(path)[1])


def a_folder(path: Path) -> None:
    parts(path)[0].unlink()
    parts(path)[0].mkdir()


@pytest.mark.parametrize("spoil", [missing, cut_short, empty, swapped, of_another_state, a_folder])
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


def test_a_state_without_its_folder_is_refused(path: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(path, tmp_path / "elsewhere" / "s")
    with pytest.raises(InputError, match=MISSING):
        load_state(tmp_path / "elsewhere" / "s")
    shutil.copytree(earlier_folder(path), tmp_path / "elsewhere" / "s.earlier")
    copied = to_table(load_state(tmp_path / "elsewhere" / "s"))
    assert copied.equals(to_table(load_state(path)), check_metadata=True)


def rewritten(path: Path, change: Callable[[dict[str, Any]], object], *, groups: int = 1) -> None:
    table = pq.ParquetFile(path).read()
    record = json.loads(table.schema.metadata[KEY])
    change(record)
    described = table.replace_schema_metadata({KEY: json.dumps(record)})
    pq.write_table(described, path, row_group_size=max(1, table.num_rows // groups))


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.update(earlier=5),
        lambda record: record.pop("earlier"),
        lambda record: record["earlier"][0].update(name="../s"),
        lambda record: record["earlier"][0].update(name="/etc/passwd"),
        lambda record: record["earlier"][0].update(name=7),
        lambda record: record["earlier"][0].update(bytes=-1),
        lambda record: record["earlier"][0].update(numbers=1.5),
        lambda record: record["earlier"][0].pop("numbers"),
        lambda record: record.update(users=-1),
        lambda record: record.update(users=True),
        lambda record: record.update(posts="many"),
        lambda record: record.pop("posts"),
        lambda record: record.update(posts=record["posts"] + 1),
        lambda record: record.update(users=record["users"] - 1),
        lambda record: record["earlier"].pop(),
        lambda record: record["earlier"].append(record["earlier"][0]),
    ],
)
def test_a_record_out_of_bounds_is_refused(
    path: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    rewritten(path, change)
    with pytest.raises(InputError, match=REFUSED):
        load_state(path)


@pytest.mark.parametrize("field", ["bytes", "numbers"])
def test_a_part_of_another_size_than_named_is_refused(path: Path, field: str) -> None:
    rewritten(path, lambda record: record["earlier"][0].update({field: 7}))
    with pytest.raises(InputError, match=MISSING):
        load_state(path)


def test_a_part_that_was_scored_in_another_way_is_refused(path: Path) -> None:
    rewritten(path, lambda record: record["header"].update(counted="other"))
    with pytest.raises(InputError, match=MISSING):
        load_state(path)


@pytest.mark.parametrize("groups", [1, 2])
def test_a_user_who_is_twice_in_a_part_is_refused(path: Path, groups: int) -> None:
    """In one group of rows or in two, even where she was counted twice."""
    table = pq.ParquetFile(path).read()
    pq.write_table(pa.concat_tables([table, table]), path)
    more = pc.sum(table["posts"]).as_py()
    rewritten(path, lambda record: record.update(posts=record["posts"] + more), groups=groups)
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
