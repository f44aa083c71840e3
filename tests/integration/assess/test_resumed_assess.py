"""An interrupted assessment goes on where it was: the same bytes, and no batch counted twice."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from support.communities import TWO_TOPICS, random_posts
from support.warm_python import run_warm

from sottovoce.assess import State, erase, load_state
from sottovoce.assess.state.buckets import BestBuckets
from sottovoce.corpus.read import _parquet, corpus
from sottovoce.files import only_one

Run = Callable[..., tuple[int, str, str]]
SCRIPT = Path(__file__).with_name("interrupted_assess.py")
BATCHES, ROWS = 7, 100
SCORE = ("--topics", "topics.toml", "--measure", "bow-dt,ent", "--out", "r.parquet", "--state", "s")
WRITTEN = ("r.parquet", "s")
KNOWN = dict[str, bytes]()
KEEP = ("--checkpoint", "c", "--checkpoint-every", "0")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Posts that are read in several batches, and a state of earlier ones."""
    monkeypatch.chdir(tmp_path)
    # Small batches are not joined, so that few posts make several.
    monkeypatch.setattr(corpus, "ENOUGH_ROWS", 1)
    monkeypatch.setattr(_parquet, "_ROWS", ROWS)
    posts = random_posts(5, users=60, posts=BATCHES * ROWS)
    pq.write_table(posts, "posts.parquet", row_group_size=ROWS)
    pq.write_table(random_posts(6, users=50, posts=300), "earlier.parquet")
    Path("topics.toml").write_text(TWO_TOPICS)
    return tmp_path


def files() -> dict[str, bytes]:
    return {name: Path(name).read_bytes() for name in WRITTEN}


def wanted(run: Run) -> dict[str, bytes]:
    """What an uninterrupted run writes, made once; the folder is then as before it."""
    if not KNOWN:
        code, _, err = run("assess", "earlier.parquet", *SCORE)
        assert code == 0, err
        Path("s").rename("before")
        begin_anew()
        code, _, err = run("assess", "posts.parquet", *SCORE)
        assert code == 0, err
        KNOWN.update(files(), before=Path("before").read_bytes())
    Path("before").write_bytes(KNOWN["before"])
    Path("before").chmod(0o600)
    begin_anew()
    return {name: KNOWN[name] for name in WRITTEN}


def begin_anew() -> None:
    shutil.copy("before", "s")
    Path("r.parquet").unlink(missing_ok=True)


def nothing_left(folder: Path) -> bool:
    known = {"posts.parquet", "earlier.parquet", "topics.toml", "before", "r.parquet", "s"}
    return {path.name for path in folder.iterdir()} == known


def interrupt(monkeypatch: pytest.MonkeyPatch, order: Random) -> None:
    """Send ourselves Ctrl-C at one of the calls that fold, keep or write something."""
    places = [(State, "rows"), (State, "count_posts"), (BestBuckets, "add_groups")]
    where, name = order.choice([*places, (erase, "write_state")])
    turn, calls, original = order.randrange(1, BATCHES + 1), [0], getattr(where, name)
    before = order.random() < 0.5

    def call(*arguments: object) -> object:
        calls[0] += 1
        if before and calls[0] == turn:
            os.kill(os.getpid(), signal.SIGINT)
        result = original(*arguments)
        if not before and calls[0] == turn:
            os.kill(os.getpid(), signal.SIGINT)
        return result

    monkeypatch.setattr(where, name, call)


@pytest.mark.parametrize("times", [10, pytest.param(40, marks=pytest.mark.long)])
def test_interrupted_anywhere_and_resumed_it_gives_the_same(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    same, order = wanted(run), Random(1)
    stopped = resumed = 0
    for _ in range(times):
        begin_anew()
        with monkeypatch.context() as patch:
            interrupt(patch, order)
            code, _, err = run("assess", "posts.parquet", *SCORE, *KEEP)
        if code == 0:
            # It came through before its turn; that is a run as well.
            assert files() == same
            continue
        assert code == 130, err
        stopped += 1
        assert not Path("r.parquet").exists()
        assert Path("s").read_bytes() == Path("before").read_bytes()
        resumed += "with --resume goes on" in err
        code, _, err = run("assess", "posts.parquet", *SCORE, *KEEP, "--resume")
        assert code == 0, err
        assert files() == same
        assert nothing_left(folder)
    assert stopped > 0.62 * times
    assert times / 4 < resumed <= stopped


def test_a_resumed_run_scores_only_what_is_left(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = wanted(run)
    folded: list[int] = []
    original = State.count_posts

    def count_posts(state: State, rows: NDArray[np.int64], posts: NDArray[np.int64]) -> None:
        folded.append(int(posts.sum()))
        if len(folded) == 4:
            os.kill(os.getpid(), signal.SIGINT)
        original(state, rows, posts)

    monkeypatch.setattr(State, "count_posts", count_posts)
    assert run("assess", "posts.parquet", *SCORE, *KEEP)[0] == 130
    kept = load_state(next((folder / "c").glob("state-*")))
    # Of the new posts alone: the earlier ones are in the state, which is not read for this.
    assert int(kept.posts.sum()) == 3 * ROWS
    folded.clear()
    folded += [0] * 10
    assert run("assess", "posts.parquet", *SCORE, *KEEP, "--resume")[0] == 0
    assert [count for count in folded[10:] if count == ROWS] == [ROWS] * (BATCHES - 3)
    assert files() == same


def command(stop_at: int, number: int, *more: str) -> subprocess.CompletedProcess[str]:
    arguments = ["assess", "posts.parquet", *SCORE, *KEEP, *more]
    script = [sys.executable, str(SCRIPT), str(stop_at), str(number), *arguments]
    return run_warm(script)


def kill_and_resume(run: Run, folder: Path, times: int, seed: int) -> list[int]:
    """Interrupt real processes at random steps, some of them twice; the exit codes."""
    same = wanted(run)
    done = command(-1, signal.SIGKILL)
    assert done.returncode == 0, done.stderr
    assert files() == same
    # Not simply the last word: coverage may have a warning to print when the process ends.
    (noted,) = (line for line in done.stderr.splitlines() if line.startswith("steps:"))
    steps, order, codes = int(noted.split()[1]), Random(seed), []
    assert steps > 3 * BATCHES
    for turn in range(times):
        begin_anew()
        number = order.choice([signal.SIGKILL, signal.SIGINT])
        codes.append(command(order.randrange(1, steps), number).returncode)
        if turn % 5 == 0:
            codes.append(command(order.randrange(1, steps), number, "--resume").returncode)
        code, _, err = run("assess", "posts.parquet", *SCORE, *KEEP, "--resume")
        assert code == 0, err
        assert files() == same
        assert nothing_left(folder)
    return codes


def test_killed_processes_are_resumed_to_the_same(run: Run, folder: Path) -> None:
    codes = kill_and_resume(run, folder, times=3, seed=2)
    assert -signal.SIGKILL in codes


@pytest.mark.long
def test_fifty_killed_processes_are_resumed_to_the_same(run: Run, folder: Path) -> None:
    codes = kill_and_resume(run, folder, times=50, seed=3)
    assert codes.count(-signal.SIGKILL) > 15
    assert codes.count(130) > 15


def stopped_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave a checkpoint of three batches."""
    original, calls = BestBuckets.add_groups, [0]

    def add_groups(*arguments: object) -> None:
        calls[0] += 1
        if calls[0] == 4:
            os.kill(os.getpid(), signal.SIGINT)
        original(*arguments)  # type: ignore[arg-type] # as they came

    with monkeypatch.context() as patch:
        patch.setattr(BestBuckets, "add_groups", add_groups)
        assert run("assess", "posts.parquet", *SCORE, *KEEP)[0] == 130
    assert (Path("c") / "checkpoint.json").exists()


def change_posts() -> tuple[str, ...]:
    table = pq.read_table("posts.parquet")
    pq.write_table(table.slice(0, table.num_rows - 1), "posts.parquet", row_group_size=ROWS)
    return SCORE


def change_state() -> tuple[str, ...]:
    Path("s").unlink()
    return SCORE


def change_bucket() -> tuple[str, ...]:
    Path("s").unlink()
    return (*SCORE, "--bucket", "1d")


def change_reading() -> tuple[str, ...]:
    return (*SCORE, "--timezone", "Europe/Rome")


@pytest.mark.parametrize("change", [change_posts, change_state, change_bucket, change_reading])
def test_a_checkpoint_of_other_work_is_refused(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[], tuple[str, ...]]
) -> None:
    wanted(run)
    stopped_run(run, monkeypatch)
    given = change()
    code, out, err = run("assess", "posts.parquet", *given, *KEEP, "--resume")
    assert (code, out) == (2, "")
    assert err == (
        "the checkpoint c belongs to other texts or parameters; repeat those, or remove the "
        "folder to begin again.\n"
    )
    assert not (folder / "r.parquet").exists()


def test_a_checkpoint_is_not_passed_over_in_silence(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted(run)
    stopped_run(run, monkeypatch)
    code, _, err = run("assess", "posts.parquet", *SCORE, *KEEP)
    assert code == 2
    assert "go on with --resume (in Python resume=True), or remove the folder" in err
    assert not (folder / "r.parquet").exists()


def test_a_damaged_checkpoint_is_refused(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted(run)
    stopped_run(run, monkeypatch)
    held = next((folder / "c").glob("state-*"))
    data = bytearray(held.read_bytes())
    data[len(data) // 2] ^= 1
    held.write_bytes(data)
    code, _, err = run("assess", "posts.parquet", *SCORE, *KEEP, "--resume")
    assert (code, err) == (2, "the checkpoint c is damaged; remove the folder.\n")


def test_a_checkpoint_is_for_its_owner_only(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted(run)
    stopped_run(run, monkeypatch)
    modes = {path.stat().st_mode & 0o777 for path in (folder / "c").iterdir()}
    assert modes == {0o600}


def test_resume_without_a_checkpoint_begins_from_the_start(run: Run, folder: Path) -> None:
    same = wanted(run)
    assert run("assess", "posts.parquet", *SCORE, *KEEP, "--resume")[0] == 0
    assert files() == same
    assert nothing_left(folder)


def test_two_runs_do_not_share_a_checkpoint(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sottovoce.files.PATIENCE_S", 0.0)
    command = ("assess", "posts.parquet", *SCORE[:-2], "--checkpoint", "new/c", "--resume")
    Path("new").mkdir()
    with only_one(Path("new/c")):
        code, _, err = run(*command)
    assert (code, "another command is updating new/c" in err) == (2, True)
    assert not Path("r.parquet").exists()
    Path("new").rmdir()
    assert run(*command)[0] == 0
    assert not list(Path("new").iterdir())


def test_resume_needs_to_know_where(run: Run, folder: Path) -> None:
    code, _, err = run("assess", "posts.parquet", *SCORE, "--resume")
    assert (code, err) == (
        2,
        "resume needs a checkpoint (--checkpoint FOLDER), the one to go on from.\n",
    )
    assert not (folder / "r.parquet").exists()


def test_checkpoints_cost_at_most_a_twentieth_of_the_time(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock that stands still but for what writing and scoring a batch are said to take."""
    from sottovoce.assess.job import CheckpointedFold  # noqa: PLC0415 - as above
    from sottovoce.assess.measures.catalogue import plan_scoring  # noqa: PLC0415 - for this test only
    from sottovoce.corpus.read.corpus import open_posts  # noqa: PLC0415 - as above
    from sottovoce.topics.catalogue import Catalogue  # noqa: PLC0415 - as above
    from sottovoce.topics.training import Checkpoint  # noqa: PLC0415 - as above

    clock, writes = [0.0], [0]

    def write(*_: object) -> None:
        writes[0] += 1
        clock[0] += 2.0

    def tick() -> float:
        clock[0] += 0.5
        return clock[0]

    monkeypatch.setattr("sottovoce.topics.training.Checkpoint.write", write)
    _, scoring = plan_scoring(Catalogue.load(Path("topics.toml")), [], ("bow-dt",))
    journey = CheckpointedFold(Checkpoint(Path("c")), "request", 1.0, now=tick)
    batches = [batch[:5] for _ in range(60) for batch in open_posts("posts.parquet")]
    journey.fold(scoring, State(scoring.header), batches, 0)
    assert writes[0] > 2
    assert 2.0 * writes[0] <= 0.06 * clock[0]
    assert np.isfinite(clock[0])
