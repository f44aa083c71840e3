"""A state in parts is one state to every command, and nothing of an erased user stays in any."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from support.commands import answer, done, refused
from support.communities import random_posts, write_days
from support.shown import Run

from sottovoce.assess import erase, load_state
from sottovoce.assess.explanation import UserPosts
from sottovoce.assess.state import parts
from sottovoce.assess.state.parts import KeptState

SCORE = "--topics topics.toml --measure bow-dt,ent"
WHO = "erased-person-0417"
FORGET = f"forget s --user {WHO}"
EXPLAIN = f"--user {WHO} --topic debts --measure bow-dt --json --state"
KEEP = "--checkpoint c --checkpoint-every 0"
DAYS = 3


def with_her(day: pa.Table) -> pa.Table:
    renamed = pc.if_else(pc.equal(day["user"], "u3"), WHO, day["user"])
    return day.set_column(0, "user", renamed.cast(pa.string()))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A community, days with few posts, and all in one file; one user is in most of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parts, "LEAST", 0)
    first = random_posts(50, users=80, posts=1500)
    write_days(
        [with_her(each) for each in [first, *(random_posts(n, posts=5) for n in range(DAYS))]]
    )
    return tmp_path


def begun(run: Run, options: str = "", days: int = DAYS) -> None:
    done(run, f"assess day0.parquet {SCORE} --state s {options}")
    for day in range(1, days + 1):
        done(run, f"assess --update s day{day}.parquet")


def all_files() -> dict[Path, bytes]:
    inputs = {"topics.toml", "all.parquet", *(f"day{day}.parquet" for day in range(DAYS + 1))}
    found = [path for path in Path().rglob("*") if path.is_file() and path.name not in inputs]
    return {path: path.read_bytes() for path in found}


def holders() -> list[Path]:
    """The files that hold her id, as bytes or once they are unpacked."""
    return [
        path
        for path, data in all_files().items()
        if WHO.encode() in data or WHO in pq.ParquetFile(path).read()["user"].to_pylist()
    ]


def test_daily_runs_show_and_rank_what_one_run_does(run: Run) -> None:
    begun(run, days=DAYS - 1)
    assert KeptState.open(Path("s")).earlier
    shown = done(run, f"assess --update s day{DAYS}.parquet {SCORE} --out r.parquet")
    assert KeptState.open(Path("s")).earlier
    whole = done(run, f"assess all.parquet {SCORE} --state w --out whole.parquet")
    assert Path("r.parquet").read_bytes() == Path("whole.parquet").read_bytes()
    assert shown.splitlines()[:-1] == whole.splitlines()[:-1]
    assert done(run, f"assess --state s {SCORE} --out r.parquet") == shown
    assert Path("r.parquet").read_bytes() == Path("whole.parquet").read_bytes()


def test_what_is_counted_without_ranking_is_right(run: Run) -> None:
    begun(run, days=1)
    shown = done(run, "assess --update s day2.parquet")
    state = load_state(Path("s"))
    assert f"{len(state):,} users, {int(state.posts.sum()):,} posts in the state" in shown
    again, err = answer(run, "assess --update s day2.parquet")
    assert "these posts are in the state already: nothing was added" in err
    assert again == shown


def test_a_state_alone_is_brought_into_one_file(run: Run) -> None:
    begun(run)
    assert Path("s.earlier").is_dir()
    done(run, "assess --state s")
    assert not Path("s.earlier").exists()
    done(run, f"assess all.parquet {SCORE} --state w")
    assert pq.read_table("s").equals(pq.read_table("w"))


def test_alerts_and_explanations_are_those_of_one_run(run: Run) -> None:
    begun(run)
    done(run, f"assess all.parquet {SCORE} --state w")
    days = " ".join(f"day{day}.parquet" for day in range(DAYS + 1))
    answers = []
    for state, files in (("s", days), ("w", "all.parquet")):
        assert (KeptState.open(Path(state)).earlier != ()) is (state == "s")
        alerted = done(run, f"alerts {state} --measure bow-dt --top 50 --json")
        answers.append((alerted, done(run, f"explain {files} {EXPLAIN} {state}")))
    assert answers[0] == answers[1]
    assert Path("s.alerts").read_bytes() == Path("w.alerts").read_bytes()


def test_an_update_meanwhile_does_not_disturb_an_explanation(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds no lock: it explains the state that it found, whose parts are gone by then."""
    begun(run, days=1)
    explain = f"explain day0.parquet day1.parquet {EXPLAIN} s"
    before = done(run, explain)
    note, updated = UserPosts.note_batches, list[str]()

    def note_batches(her: UserPosts, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if not updated:
            updated.append(done(run, "assess --update s many.parquet"))
        return note(her, batches)

    pq.write_table(random_posts(9, users=80, posts=1400), "many.parquet")
    monkeypatch.setattr(UserPosts, "note_batches", note_batches)
    assert done(run, explain) == before
    assert updated
    assert not Path("s.earlier").exists()


def test_a_part_that_is_in_the_state_is_not_merged_twice(run: Run) -> None:
    begun(run, days=2)
    done(run, f"assess day1.parquet {SCORE} --state other")
    before = Path("s").read_bytes()
    overlap = "the states overlap: 1 of their inputs are the same"
    refused(run, "assess --state s --merge other", overlap)
    assert Path("s").read_bytes() == before
    done(run, f"assess day3.parquet {SCORE} --state third")
    done(run, "assess --state s --merge third")
    posts = sum(pq.read_table(f"day{day}.parquet").num_rows for day in range(4))
    assert int(load_state(Path("s")).posts.sum()) == posts


def test_nothing_of_an_erased_user_stays_in_any_part(run: Run) -> None:
    begun(run)
    done(run, "alerts s --measure bow-dt --top 50")
    assert len(holders()) > 1
    done(run, FORGET)
    assert not Path("s.earlier").exists()
    assert holders() == []
    assert load_state(Path("s")).users.row(WHO) is None


def test_her_deleted_posts_stay_in_no_part(run: Run) -> None:
    begun(run, "--keep-posts")
    times = pq.read_table("all.parquet").filter(pc.field("user") == WHO)["time"].to_pylist()
    first, *later = [f"--post {time.isoformat()}" for time in sorted(set(times))]
    done(run, f"{FORGET} {' '.join(later)}")
    state = load_state(Path("s"))
    assert int(state.posts[state.users.row(WHO) or 0]) == times.count(min(times))
    assert not Path("s.earlier").exists()
    done(run, f"{FORGET} {first}")
    assert holders() == []


def test_what_a_killed_erasure_left_is_removed_by_the_next(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It died after the state had its name, before the parts that held her were removed."""
    begun(run)
    with monkeypatch.context() as patch:
        patch.setattr(erase, "remove_erased", lambda _path: None)
        done(run, FORGET)
    assert holders()
    assert refused(run, FORGET) == "neither this state nor its alerts have this user.\n"
    assert holders() == []


@pytest.mark.parametrize("command", [f"assess --state s {SCORE}", "alerts s"])
def test_no_output_takes_the_place_of_the_parts(run: Run, command: str) -> None:
    begun(run, days=0)
    refused(run, f"{command} --out s.earlier", "which is the same file; give another name.")


def test_a_resumed_run_onto_parts_gives_the_same_files(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(run, days=2)
    before, command = all_files(), f"assess --update s day3.parquet {KEEP}"
    done(run, command)
    wanted = all_files()
    for path in wanted:
        path.unlink()
    for path, data in before.items():
        path.write_bytes(data)
    with monkeypatch.context() as patch:
        patch.setattr(KeptState, "adding", lambda *_: 1 / 0)
        assert run(*command.split())[0] != 0
    assert Path("c", "checkpoint.json").exists()
    done(run, f"{command} --resume")
    assert all_files() == wanted
