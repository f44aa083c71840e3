"""A state that grows by parts is the state of all posts, and costs what is added to it."""

import os
import stat
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.communities import CATALOGUE, FixedSpace, random_posts

from sottovoce.assess import Scoring, State, load_state, save_state
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.assess.state import parts as kept_state
from sottovoce.assess.state._columns import numbers_in
from sottovoce.assess.state.parts import KeptState, earlier_folder, remove_unnamed, to_table
from sottovoce.errors import InputError

MEASURES = ("lda-t", "bow", "ent")


def scoring(*, posts: bool = False) -> Scoring:
    return plan_scoring(CATALOGUE, [FixedSpace()], MEASURES, posts=posts)[1]


@pytest.fixture
def tiny_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let parts of a few users stay apart."""
    monkeypatch.setattr(kept_state, "LEAST", 0)


def grow(path: Path, added: State, ranked: dict[str, object] | None = None) -> None:
    kept = KeptState.open(path)
    with kept.adding(added, ranked or kept.last_ranking):
        pass
    remove_unnamed(path)


def state_of(how: Scoring, posts: pa.Table, mark: str) -> State:
    state = how.state_of(posts.to_batches())
    state.inputs = frozenset({mark})
    return state


def days(number: int, *, users: int = 3) -> list[pa.Table]:
    """A large community, then few users a day, some of them new."""
    first = random_posts(100, users=200, posts=2000)
    later = [random_posts(seed, users=200 + seed, posts=users) for seed in range(number)]
    return [first, *later]


def grown(path: Path, how: Scoring, tables: Iterable[pa.Table]) -> list[int]:
    """Save the first and add the others; how many parts there were after each."""
    parts = []
    for number, table in enumerate(tables):
        added = state_of(how, table, f"day {number}")
        if number:
            grow(path, added)
        else:
            save_state(path, added)
        parts.append(1 + len(KeptState.open(path).earlier))
    return parts


def files_of(path: Path) -> list[Path]:
    folder = earlier_folder(path)
    return [path, *(sorted(folder.iterdir()) if folder.exists() else [])]


@pytest.mark.usefixtures("tiny_parts")
@pytest.mark.parametrize("posts", [False, True])
@pytest.mark.parametrize("number", [1, 5, 40])
def test_days_added_one_by_one_are_one_run_over_all(
    tmp_path: Path, number: int, posts: bool
) -> None:
    how, tables = scoring(posts=posts), days(number)
    parts = grown(tmp_path / "s", how, tables)
    assert max(parts) > 1
    loaded, whole = load_state(tmp_path / "s"), how.state_of(pa.concat_tables(tables).to_batches())
    assert loaded.inputs == {f"day {day}" for day in range(number + 1)}
    whole.inputs = loaded.inputs
    assert to_table(loaded).equals(to_table(whole), check_metadata=True)
    kept = KeptState.open(tmp_path / "s")
    assert (kept.users, kept.posts) == (len(whole), int(whole.posts.sum()))
    modes = {stat.S_IMODE(file.stat().st_mode) for file in files_of(tmp_path / "s")}
    assert modes == {0o600}
    if kept.earlier:
        assert stat.S_IMODE(earlier_folder(tmp_path / "s").stat().st_mode) == 0o700


@pytest.mark.usefixtures("tiny_parts")
def test_each_part_is_more_than_twice_as_large_as_the_next(tmp_path: Path) -> None:
    how = scoring()
    sizes = [3, 40, 1, 1, 90, 2, 2, 7, 300, 1, 5, 5, 60, 1, 1, 1, 20, 2]
    tables = [random_posts(seed, users=400, posts=size) for seed, size in enumerate(sizes)]
    for number, table in enumerate([*days(0), *tables]):
        added = state_of(how, table, str(number))
        if number:
            grow(tmp_path / "s", added)
        else:
            save_state(tmp_path / "s", added)
        kept = KeptState.open(tmp_path / "s")
        numbers = [part.numbers for part in (*kept.earlier, kept.newest)]
        assert all(large > 2 * small for large, small in pairwise(numbers))
        assert {file.name for file in files_of(tmp_path / "s")[1:]} == {
            part.name for part in kept.earlier
        }


def test_adding_writes_the_users_added_and_reads_ids_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cost law: bytes written do not depend on the community, only on who is added."""
    how, written, read = scoring(), [], set[object]()
    added = state_of(how, random_posts(7, users=900, posts=30), "day")
    original = pq.ParquetFile.read_row_group

    def noted(file: pq.ParquetFile, group: int, columns: list[str] | None = None) -> pa.Table:
        read.update(columns or ["all"])
        return original(file, group, columns=columns)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", noted)
    for number, users in enumerate([1500, 4500]):
        path = tmp_path / f"s{users}"
        posts = random_posts(number, users=users, posts=10 * users)
        save_state(path, state_of(how, posts, "all"))
        before = path.stat()
        grow(path, added)
        newest, (aside,) = files_of(path)[0], files_of(path)[1:]
        assert pq.ParquetFile(newest).metadata.num_rows == len(added)
        assert os.path.samestat(before, aside.stat())
        assert before.st_mtime_ns == aside.stat().st_mtime_ns
        written.append(newest.stat().st_size)
    assert read == {"user", "posts"}
    assert abs(written[0] - written[1]) < 100
    assert written[1] < before.st_size / 4


def test_rewriting_is_rare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over many days the numbers written are a few times those added, not days times the state."""
    monkeypatch.setattr(kept_state, "LEAST", 0)
    how, written, added, whole = scoring(), 0, 0, 0
    for number, table in enumerate(days(60, users=8)):
        state = state_of(how, table, str(number))
        if number:
            grow(tmp_path / "s", state)
            kept = KeptState.open(tmp_path / "s")
            written += kept.newest.numbers
            added += numbers_in(state)
            whole += kept.newest.numbers + sum(part.numbers for part in kept.earlier)
        else:
            save_state(tmp_path / "s", state)
    assert written < 8 * added
    assert written < whole / 8


def test_small_states_stay_one_file(tmp_path: Path) -> None:
    assert set(grown(tmp_path / "s", scoring(), days(5))) == {1}
    assert not earlier_folder(tmp_path / "s").exists()


@pytest.mark.usefixtures("tiny_parts")
def test_a_disk_without_hard_links_gets_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    how, tables = scoring(), days(2)
    grown(tmp_path / "s", how, tables)
    assert len(files_of(tmp_path / "s")) > 1
    assert {stat.S_IMODE(file.stat().st_mode) for file in files_of(tmp_path / "s")} == {0o600}
    assert len(load_state(tmp_path / "s")) == len(
        how.state_of(pa.concat_tables(tables).to_batches())
    )


@pytest.mark.usefixtures("tiny_parts")
def test_what_takes_the_place_of_a_link_is_whole(tmp_path: Path) -> None:
    how, (first, second, third) = scoring(), days(2)
    grown(tmp_path / "s", how, [first, second])
    (tmp_path / "link").symlink_to("s")
    before = to_table(load_state(tmp_path / "s"))
    assert to_table(load_state(tmp_path / "link")).equals(before, check_metadata=True)
    grow(tmp_path / "link", state_of(how, third, "third"))
    assert not (tmp_path / "link").is_symlink()
    assert files_of(tmp_path / "link") == [tmp_path / "link"]
    posts = pa.concat_tables([first, second, third]).num_rows
    assert int(load_state(tmp_path / "link").posts.sum()) == posts
    assert to_table(load_state(tmp_path / "s")).equals(before, check_metadata=True)


@pytest.mark.usefixtures("tiny_parts")
def test_a_reader_sees_the_state_before_or_after_its_parts_were_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds no lock, so parts may be joined, and removed, while it reads."""
    how, tables = scoring(), days(1)
    grown(tmp_path / "s", how, tables)
    after = random_posts(8, users=300, posts=3000)
    original, calls = KeptState.load, [0]

    def load(kept: KeptState) -> State:
        calls[0] += 1
        if calls[0] == 1:
            grow(tmp_path / "s", state_of(how, after, "after"))
            assert files_of(tmp_path / "s") == [tmp_path / "s"]
        return original(kept)

    monkeypatch.setattr(KeptState, "load", load)
    whole = how.state_of(pa.concat_tables([*tables, after]).to_batches())
    assert int(load_state(tmp_path / "s").posts.sum()) == int(whole.posts.sum())


@pytest.mark.usefixtures("tiny_parts")
def test_files_of_others_in_the_folder_stay(tmp_path: Path) -> None:
    grown(tmp_path / "s", scoring(), days(1))
    foreign = earlier_folder(tmp_path / "s") / "notes.txt"
    foreign.write_text("mine")
    left = earlier_folder(tmp_path / "s") / ("0" * 64)
    left.write_text("left over")
    remove_unnamed(tmp_path / "s")
    assert (foreign.exists(), left.exists()) == (True, False)
    assert len(load_state(tmp_path / "s"))
    with pytest.raises(InputError, match="is missing or damaged"):
        (tmp_path / "s").rename(tmp_path / "t")
        load_state(tmp_path / "t")
