"""Daily runs: new posts into a state, with or without ranks, one command at a time."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.commands import done, refused
from support.communities import MONDAY, random_posts, write_days
from support.shown import Run

from sottovoce.files import only_one

SCORE = "--topics topics.toml --measure bow-dt,ent"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Posts of several days, a file each, and all in one."""
    monkeypatch.chdir(tmp_path)
    write_days([random_posts(seed, users=30, posts=200) for seed in range(4)])
    return tmp_path


@pytest.fixture
def begun(run: Run, folder: Path) -> dict[str, bytes]:
    """A state and ranks of the first day, and their bytes."""
    done(run, f"assess day0.parquet {SCORE} --state s --out r.parquet")
    return written()


def written() -> dict[str, bytes]:
    return {name: Path(name).read_bytes() for name in ("r.parquet", "s")}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "there is nothing to assess: give POSTS, a file of posts"),
        ("--update s", "--update needs POSTS, the new ones."),
        ("day1.parquet --update s --state s", "both name the state; give one"),
        ("day1.parquet --update none", "there is no state none to update; begin one"),
        ("--update s day1.parquet --out absent/r.parquet", "cannot write"),
        ("--update s day1.parquet --out topics.toml/r.parquet", "cannot write"),
    ],
)
def test_an_update_that_cannot_be_is_refused(
    run: Run, folder: Path, begun: dict[str, bytes], given: str, said: str
) -> None:
    refused(run, f"assess {given}", said)
    assert written() == begun
    assert not list(folder.glob(".*.part"))


@pytest.mark.parametrize(
    "command",
    [
        "assess --update s day1.parquet",
        "assess day1.parquet --state s --out r.parquet",
        "forget s --user u1",
        "alerts s",
    ],
)
def test_a_state_that_is_being_updated_is_left_alone(
    run: Run, begun: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr("sottovoce.files.PATIENCE_S", 0.0)
    with only_one(Path("s")):
        err = refused(run, command)
    assert err == "another command is updating s; try again when it is done.\n"
    assert written() == begun
    assert not Path("s.alerts").exists()


def test_the_mode_of_a_state_need_not_be_repeated(run: Run, folder: Path) -> None:
    done(run, f"assess day0.parquet {SCORE} --mode paper --state s")
    done(run, f"assess --update s day1.parquet {SCORE} --out r.parquet")
    both = pa.concat_tables([pq.read_table(f"day{day}.parquet") for day in (0, 1)])
    pq.write_table(both, "both.parquet")
    done(run, f"assess both.parquet {SCORE} --mode paper --out whole.parquet")
    assert pq.read_table("r.parquet").equals(pq.read_table("whole.parquet"))
    said = "the state was made with the mode paper, got corrected"
    refused(run, "assess --update s day2.parquet --mode corrected", said)


def other_columns() -> None:
    day = pq.read_table("day1.parquet")
    pq.write_table(day.rename_columns(["colour", "time", "text"]), "n.parquet")


def other_types() -> None:
    day = pq.read_table("day1.parquet")
    numbers = pa.array([1.5] * day.num_rows)
    pq.write_table(day.set_column(2, "text", numbers), "n.parquet")


def cut_short() -> None:
    Path("n.parquet").write_bytes(Path("day1.parquet").read_bytes()[:-40])


@pytest.mark.parametrize("spoil", [other_columns, other_types, cut_short])
def test_posts_unlike_the_earlier_ones_change_nothing(
    run: Run, folder: Path, begun: dict[str, bytes], spoil: Callable[[], None]
) -> None:
    spoil()
    refused(run, "assess --update s n.parquet --out r.parquet", "n.parquet")
    assert written() == begun
    assert not list(folder.glob(".*.part"))


def test_the_same_instants_in_another_type_are_the_same_posts(run: Run, folder: Path) -> None:
    """Files may write times in their own ways, as long as each can be read."""
    day = pq.read_table("day1.parquet")
    hours = [(time - MONDAY) // timedelta(seconds=1) for time in day["time"].to_pylist()]
    seconds = pa.array([int(MONDAY.timestamp()) + each for each in hours])
    pq.write_table(day.set_column(1, "time", seconds), "numbers.parquet")
    for name in ("numbers", "day1"):
        done(run, f"assess day0.parquet {SCORE} --state {name}")
        done(run, f"assess --update {name} {name}.parquet --out {name}.ranks.parquet")
    ranks = [(folder / f"{name}.ranks.parquet").read_bytes() for name in ("numbers", "day1")]
    assert ranks[0] == ranks[1]
