"""Daily runs: new posts into a state, with or without ranks, one command at a time."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.communities import MONDAY, random_posts, write_days

from sottovoce.files import only_one

Run = Callable[..., tuple[int, str, str]]
SCORE = ("--topics", "topics.toml", "--measure", "bow-dt,ent")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Posts of several days, a file each, and all in one."""
    monkeypatch.chdir(tmp_path)
    days = [random_posts(seed, users=30, posts=200) for seed in range(4)]
    write_days(days)
    return tmp_path


def good(answer: tuple[int, str, str]) -> str:
    code, out, err = answer
    assert code == 0, err
    return out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "there is nothing to assess: give POSTS, a file of posts"),
        (("--update", "s"), "--update needs POSTS, the new ones."),
        (("day1.parquet", "--update", "s", "--state", "s"), "both name the state; give one"),
        (("day1.parquet", "--update", "none"), "there is no state none to update; begin one"),
    ],
)
def test_an_update_that_cannot_be_is_refused(
    run: Run, folder: Path, given: tuple[str, ...], said: str
) -> None:
    good(run("assess", "day0.parquet", *SCORE, "--state", "s"))
    before = Path("s").read_bytes()
    code, out, err = run("assess", *given)
    assert (code, out) == (2, "")
    assert said in err
    assert (folder / "s").read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [
        ("assess", "--update", "s", "day1.parquet"),
        ("assess", "day1.parquet", "--state", "s", "--out", "r.parquet"),
        ("forget", "s", "--user", "u1"),
        ("alerts", "s"),
    ],
)
def test_a_state_that_is_being_updated_is_left_alone(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    good(run("assess", "day0.parquet", *SCORE, "--state", "s"))
    before = Path("s").read_bytes()
    monkeypatch.setattr("sottovoce.files.PATIENCE_S", 0.0)
    with only_one(Path("s")):
        code, out, err = run(*command)
    assert (code, out) == (2, "")
    assert err == "another command is updating s; try again when it is done.\n"
    assert Path("s").read_bytes() == before
    assert not (folder / "s.alerts").exists()


def test_the_mode_of_a_state_need_not_be_repeated(run: Run, folder: Path) -> None:
    good(run("assess", "day0.parquet", *SCORE, "--mode", "paper", "--state", "s"))
    good(run("assess", "--update", "s", "day1.parquet", *SCORE, "--out", "r.parquet"))
    both = pa.concat_tables([pq.read_table(f"day{day}.parquet") for day in (0, 1)])
    pq.write_table(both, "both.parquet")
    good(run("assess", "both.parquet", *SCORE, "--mode", "paper", "--out", "whole.parquet"))
    assert pq.read_table("r.parquet").equals(pq.read_table("whole.parquet"))
    code, _, err = run("assess", "--update", "s", "day2.parquet", "--mode", "corrected")
    assert code == 2
    assert "the state was made with the mode paper, got corrected" in err


def other_columns() -> None:
    pq.write_table(
        pq.read_table("day1.parquet").rename_columns(["colour", "time", "text"]), "n.parquet"
    )


def other_types() -> None:
    day = pq.read_table("day1.parquet")
    numbers = pa.array([1.5] * day.num_rows)
    pq.write_table(day.set_column(2, "text", numbers), "n.parquet")


def cut_short() -> None:
    Path("n.parquet").write_bytes(Path("day1.parquet").read_bytes()[:-40])


@pytest.mark.parametrize("spoil", [other_columns, other_types, cut_short])
def test_posts_unlike_the_earlier_ones_change_nothing(
    run: Run, folder: Path, spoil: Callable[[], None]
) -> None:
    good(run("assess", "day0.parquet", *SCORE, "--state", "s", "--out", "r.parquet"))
    before = {name: Path(name).read_bytes() for name in ("r.parquet", "s")}
    spoil()
    code, out, err = run("assess", "--update", "s", "n.parquet", "--out", "r.parquet")
    assert (code, out) == (2, "")
    assert "n.parquet" in err
    assert {name: Path(name).read_bytes() for name in ("r.parquet", "s")} == before
    assert not list(folder.glob(".*.part"))


def test_the_same_instants_in_another_type_are_the_same_posts(run: Run, folder: Path) -> None:
    """Files may write times in their own ways, as long as each can be read."""
    day = pq.read_table("day1.parquet")
    hours = [(time - MONDAY) // timedelta(seconds=1) for time in day["time"].to_pylist()]
    seconds = pa.array([int(MONDAY.timestamp()) + each for each in hours])
    pq.write_table(day.set_column(1, "time", seconds), "numbers.parquet")
    for name in ("numbers", "day1"):
        good(run("assess", "day0.parquet", *SCORE, "--state", name))
        good(run("assess", "--update", name, f"{name}.parquet", "--out", f"{name}.ranks.parquet"))
    assert (folder / "numbers.ranks.parquet").read_bytes() == (
        folder / "day1.ranks.parquet"
    ).read_bytes()


@pytest.mark.parametrize("where", ["absent/r.parquet", "topics.toml/r.parquet"])
def test_an_output_that_cannot_be_written_leaves_the_state(
    run: Run, folder: Path, where: str
) -> None:
    good(run("assess", "day0.parquet", *SCORE, "--state", "s"))
    before = Path("s").read_bytes()
    code, out, err = run("assess", "--update", "s", "day1.parquet", "--out", where)
    assert (code, out) == (2, "")
    assert err.startswith("cannot write")
    assert Path("s").read_bytes() == before
    assert not list(folder.glob(".*.part"))
