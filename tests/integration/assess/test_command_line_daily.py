"""A state in parts is one state to every command, and nothing of an erased user stays in any."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from support.communities import random_posts, write_days

from sottovoce.assess import erase, load_state
from sottovoce.assess.explanation import UserPosts
from sottovoce.assess.state import parts
from sottovoce.assess.state.parts import KeptState

Run = Callable[..., tuple[int, str, str]]
SCORE = ("--topics", "topics.toml", "--measure", "bow-dt,ent")
WHO = "erased-person-0417"
DAYS = 3


def with_her(day: pa.Table) -> pa.Table:
    return day.set_column(
        0, "user", pc.if_else(pc.equal(day["user"], "u3"), WHO, day["user"]).cast(pa.string())
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A community, days with few posts, and all in one file; one user is in most of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parts, "LEAST", 0)
    first = random_posts(50, users=80, posts=1500)
    days = [with_her(each) for each in [first, *(random_posts(n, posts=5) for n in range(DAYS))]]
    write_days(days)
    return tmp_path


def good(answer: tuple[int, str, str]) -> str:
    code, out, err = answer
    assert code == 0, err
    return out


def begun(run: Run, *options: object, days: int = DAYS) -> None:
    good(run("assess", "day0.parquet", *SCORE, "--state", "s", *options))
    for day in range(1, days + 1):
        good(run("assess", "--update", "s", f"day{day}.parquet"))


def all_files(folder: Path) -> list[Path]:
    inputs = {"topics.toml", "all.parquet", *(f"day{day}.parquet" for day in range(DAYS + 1))}
    return [path for path in folder.rglob("*") if path.is_file() and path.name not in inputs]


def holders(folder: Path) -> list[Path]:
    """The files that hold her id, as bytes or once they are unpacked."""
    return [
        path
        for path in all_files(folder)
        if WHO.encode() in path.read_bytes()
        or WHO in pq.ParquetFile(path).read()["user"].to_pylist()
    ]


def test_daily_runs_show_and_rank_what_one_run_does(run: Run, folder: Path) -> None:
    begun(run, days=DAYS - 1)
    assert KeptState.open(Path("s")).earlier
    shown = good(run("assess", "--update", "s", f"day{DAYS}.parquet", *SCORE, "--out", "r.parquet"))
    assert KeptState.open(Path("s")).earlier
    whole = good(run("assess", "all.parquet", *SCORE, "--state", "w", "--out", "whole.parquet"))
    assert Path("r.parquet").read_bytes() == Path("whole.parquet").read_bytes()
    assert shown.splitlines()[:-1] == whole.splitlines()[:-1]
    again = good(run("assess", "--state", "s", *SCORE, "--out", "r.parquet"))
    assert again == shown
    assert Path("r.parquet").read_bytes() == Path("whole.parquet").read_bytes()


def test_what_is_counted_without_ranking_is_right(run: Run, folder: Path) -> None:
    begun(run, days=1)
    shown = good(run("assess", "--update", "s", "day2.parquet"))
    state = load_state(Path("s"))
    assert f"{len(state):,} users, {int(state.posts.sum()):,} posts in the state" in shown
    answer = run("assess", "--update", "s", "day2.parquet")
    assert "these posts are in the state already: nothing was added" in answer[2]
    assert good(answer) == shown


def test_a_state_alone_is_brought_into_one_file(run: Run, folder: Path) -> None:
    begun(run)
    assert Path("s.earlier").is_dir()
    good(run("assess", "--state", "s"))
    assert not Path("s.earlier").exists()
    good(run("assess", "all.parquet", *SCORE, "--state", "w"))
    assert pq.read_table("s").equals(pq.read_table("w"))


def test_alerts_and_explanations_are_those_of_one_run(run: Run, folder: Path) -> None:
    begun(run)
    good(run("assess", "all.parquet", *SCORE, "--state", "w"))
    answers = []
    for state in ("s", "w"):
        assert (KeptState.open(Path(state)).earlier != ()) is (state == "s")
        alerted = good(run("alerts", state, "--measure", "bow-dt", "--top", "50", "--json"))
        files = (
            [f"day{day}.parquet" for day in range(DAYS + 1)] if state == "s" else ["all.parquet"]
        )
        asked = ("--user", WHO, "--topic", "debts", "--measure", "bow-dt", "--state", state)
        answers.append((alerted, good(run("explain", *files, *asked, "--json"))))
    assert answers[0] == answers[1]
    assert Path("s.alerts").read_bytes() == Path("w.alerts").read_bytes()


def test_an_update_meanwhile_does_not_disturb_an_explanation(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds no lock: it explains the state that it found, whose parts are gone by then."""
    begun(run, days=1)
    asked = ("--user", WHO, "--topic", "debts", "--measure", "bow-dt", "--state", "s", "--json")
    before = good(run("explain", "day0.parquet", "day1.parquet", *asked))
    note, updated = UserPosts.note_batches, list[str]()

    def note_batches(her: UserPosts, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if not updated:
            updated.append(good(run("assess", "--update", "s", "many.parquet")))
        return note(her, batches)

    pq.write_table(random_posts(9, users=80, posts=1400), "many.parquet")
    monkeypatch.setattr(UserPosts, "note_batches", note_batches)
    assert good(run("explain", "day0.parquet", "day1.parquet", *asked)) == before
    assert updated
    assert not Path("s.earlier").exists()


def test_a_part_that_is_in_the_state_is_not_merged_twice(run: Run, folder: Path) -> None:
    begun(run, days=2)
    good(run("assess", "day1.parquet", *SCORE, "--state", "other"))
    before = Path("s").read_bytes()
    code, _, err = run("assess", "--state", "s", "--merge", "other")
    assert code == 2
    assert "the states overlap: 1 of their inputs are the same" in err
    good(run("assess", "day3.parquet", *SCORE, "--state", "third"))
    assert Path("s").read_bytes() == before
    good(run("assess", "--state", "s", "--merge", "third"))
    posts = sum(pq.read_table(f"day{day}.parquet").num_rows for day in range(4))
    assert int(load_state(Path("s")).posts.sum()) == posts


def test_nothing_of_an_erased_user_stays_in_any_part(run: Run, folder: Path) -> None:
    begun(run)
    good(run("alerts", "s", "--measure", "bow-dt", "--top", "50"))
    assert len(holders(folder)) > 1
    good(run("forget", "s", "--user", WHO))
    assert not Path("s.earlier").exists()
    assert holders(folder) == []
    assert load_state(Path("s")).users.row(WHO) is None


def test_her_deleted_posts_stay_in_no_part(run: Run, folder: Path) -> None:
    begun(run, "--keep-posts")
    times = pq.read_table("all.parquet").filter(pc.field("user") == WHO)["time"].to_pylist()
    given = [part for time in sorted(set(times)) for part in ("--post", time.isoformat())]
    good(run("forget", "s", "--user", WHO, *given[2:]))
    state = load_state(Path("s"))
    assert int(state.posts[state.users.row(WHO) or 0]) == times.count(min(times))
    assert not Path("s.earlier").exists()
    good(run("forget", "s", "--user", WHO, *given[:2]))
    assert holders(folder) == []


def test_what_a_killed_erasure_left_is_removed_by_the_next(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It died after the state had its name, before the parts that held her were removed."""
    begun(run)
    with monkeypatch.context() as patch:
        patch.setattr(erase, "remove_erased", lambda _path: None)
        good(run("forget", "s", "--user", WHO))
    assert holders(folder)
    code, _, err = run("forget", "s", "--user", WHO)
    assert (code, err) == (2, "the user is not in this state, nor in its alerts.\n")
    assert holders(folder) == []


@pytest.mark.parametrize("command", [("assess", "--state", "s", *SCORE), ("alerts", "s")])
def test_no_output_takes_the_place_of_the_parts(
    run: Run, folder: Path, command: tuple[str, ...]
) -> None:
    begun(run, days=0)
    code, _, err = run(*command, "--out", "s.earlier")
    assert code == 2
    assert "which is the same file; give another name." in err


def test_a_resumed_run_onto_parts_gives_the_same_files(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(run, days=2)
    before = {path: path.read_bytes() for path in all_files(folder)}
    keep = ("--checkpoint", "c", "--checkpoint-every", "0")
    good(run("assess", "--update", "s", "day3.parquet", *keep))
    wanted = {path: path.read_bytes() for path in all_files(folder)}
    for path in wanted:
        path.unlink()
    for path, data in before.items():
        path.write_bytes(data)
    with monkeypatch.context() as patch:
        patch.setattr(KeptState, "adding", lambda *_: 1 / 0)
        assert run("assess", "--update", "s", "day3.parquet", *keep)[0] != 0
    assert Path("c", "checkpoint.json").exists()
    good(run("assess", "--update", "s", "day3.parquet", *keep, "--resume"))
    assert {path: path.read_bytes() for path in all_files(folder)} == wanted
