"""An interrupted assessment goes on where it was: the same bytes, and no batch counted twice."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from support.commands import done, refused
from support.communities import TWO_TOPICS, random_posts
from support.shown import Run
from support.warm_python import run_warm

from sottovoce.assess import State, erase, load_state
from sottovoce.assess.state.buckets import BestBuckets
from sottovoce.corpus.read import _parquet, corpus
from sottovoce.files import only_one

SCRIPT = Path(__file__).with_name("stopped_step.py")
BATCHES, ROWS = 7, 100
RANKS = "--topics topics.toml --measure bow-dt,ent --out r.parquet"
SCORE = f"{RANKS} --state s"
KEEP = "--checkpoint c --checkpoint-every 0"
BEGIN = f"assess posts.parquet {SCORE} {KEEP}"
RESUME = f"{BEGIN} --resume"
WRITTEN = ("r.parquet", "s")
KNOWN = dict[str, bytes]()
PLACES = (
    (State, "rows"),
    (State, "count_posts"),
    (BestBuckets, "add_groups"),
    (erase, "write_state"),
)


@pytest.fixture(autouse=True)
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


@pytest.fixture
def same(run: Run, folder: Path) -> dict[str, bytes]:
    """What an uninterrupted run writes, made once; the folder is then as before it."""
    if not KNOWN:
        done(run, f"assess earlier.parquet {SCORE}")
        Path("s").rename("before")
        begin_anew()
        done(run, f"assess posts.parquet {SCORE}")
        KNOWN.update(files(), before=Path("before").read_bytes())
    Path("before").write_bytes(KNOWN["before"])
    Path("before").chmod(0o600)
    begin_anew()
    return {name: KNOWN[name] for name in WRITTEN}


def begin_anew() -> None:
    shutil.copy("before", "s")
    Path("r.parquet").unlink(missing_ok=True)


def check_resumed(run: Run, same: dict[str, bytes]) -> None:
    """Resumed, it gives the same and leaves nothing else."""
    done(run, RESUME)
    assert files() == same
    known = {"posts.parquet", "earlier.parquet", "topics.toml", "before", *WRITTEN}
    assert {path.name for path in Path().iterdir()} == known


def interrupt(
    patch: pytest.MonkeyPatch, place: tuple[object, str], turn: int, *, before: bool = True
) -> None:
    """Send ourselves Ctrl-C at the n-th call of something, before or after it is made."""
    calls, original = count(1), getattr(*place)

    def call(*arguments: object) -> object:
        now = next(calls) == turn
        if now and before:
            os.kill(os.getpid(), signal.SIGINT)
        result = original(*arguments)
        if now and not before:
            os.kill(os.getpid(), signal.SIGINT)
        return result

    patch.setattr(*place, call)


@pytest.mark.parametrize("times", [10, pytest.param(40, marks=pytest.mark.long)])
def test_interrupted_anywhere_and_resumed_it_gives_the_same(
    run: Run, same: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    order, stopped, resumed = Random(1), 0, 0
    for _ in range(times):
        begin_anew()
        place, turn = order.choice(PLACES), order.randrange(1, BATCHES + 1)
        with monkeypatch.context() as patch:
            interrupt(patch, place, turn, before=order.random() < 0.5)
            code, _, err = run(*BEGIN.split())
        if code == 0:
            # It came through before its turn; that is a run as well.
            assert files() == same
            continue
        assert code == 130, err
        stopped += 1
        assert not Path("r.parquet").exists()
        assert Path("s").read_bytes() == Path("before").read_bytes()
        resumed += "with --resume continues" in err
        check_resumed(run, same)
    assert stopped > 0.62 * times
    assert times / 4 < resumed <= stopped


def command(stop_at: int, number: int, words: str) -> subprocess.CompletedProcess[str]:
    step = ["assess", str(stop_at), str(number)]
    return run_warm([sys.executable, str(SCRIPT), *step, *words.split()])


@pytest.mark.parametrize(
    ("times", "seed", "least"), [(3, 2, 1), pytest.param(50, 3, 16, marks=pytest.mark.long)]
)
def test_killed_processes_are_resumed_to_the_same(
    run: Run, same: dict[str, bytes], times: int, seed: int, least: int
) -> None:
    """Real processes, interrupted at random steps, some of them twice."""
    whole = command(-1, signal.SIGKILL, BEGIN)
    assert whole.returncode == 0, whole.stderr
    assert files() == same
    # Not simply the last word: coverage may have a warning to print when the process ends.
    (noted,) = (line for line in whole.stderr.splitlines() if line.startswith("steps:"))
    steps, order, codes = len(noted.split()) - 1, Random(seed), []
    assert steps > 3 * BATCHES
    for turn in range(times):
        begin_anew()
        number = order.choice([signal.SIGKILL, signal.SIGINT])
        codes.append(command(order.randrange(1, steps), number, BEGIN).returncode)
        if turn % 5 == 0:
            codes.append(command(order.randrange(1, steps), number, RESUME).returncode)
        check_resumed(run, same)
    assert codes.count(-signal.SIGKILL) >= least
    assert times < 50 or codes.count(130) >= least


@pytest.fixture
def stopped(run: Run, same: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """A checkpoint of three batches is left."""
    with monkeypatch.context() as patch:
        interrupt(patch, (BestBuckets, "add_groups"), 4)
        assert run(*BEGIN.split())[0] == 130
    # It is for its owner only.
    assert Path("c/checkpoint.json").exists()
    assert {path.stat().st_mode & 0o777 for path in Path("c").iterdir()} == {0o600}
    return same


def test_a_resumed_run_scores_only_what_is_left(
    run: Run, stopped: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of the new posts alone: the earlier ones are in the state, which is not read for this.
    assert int(load_state(next(Path("c").glob("state-*"))).posts.sum()) == 3 * ROWS
    folded, original = list[int](), State.count_posts

    def count_posts(state: State, rows: NDArray[np.int64], posts: NDArray[np.int64]) -> None:
        folded.append(int(posts.sum()))
        original(state, rows, posts)

    monkeypatch.setattr(State, "count_posts", count_posts)
    done(run, RESUME)
    assert folded.count(ROWS) == BATCHES - 3
    assert files() == stopped


def drop_post() -> None:
    table = pq.read_table("posts.parquet")
    pq.write_table(table.slice(0, table.num_rows - 1), "posts.parquet", row_group_size=ROWS)


def damage_checkpoint() -> None:
    held = next(Path("c").glob("state-*"))
    data = bytearray(held.read_bytes())
    data[len(data) // 2] ^= 1
    held.write_bytes(data)


def drop_state() -> None:
    Path("s").unlink()


def change_nothing() -> None:
    pass


OTHER_WORK = (
    "the checkpoint c belongs to other texts or parameters; use those, or remove the folder "
    "to start again.\n"
)


@pytest.mark.parametrize(
    ("change", "words", "said"),
    [
        (drop_post, RESUME, OTHER_WORK),
        (drop_state, RESUME, OTHER_WORK),
        (drop_state, f"{RESUME} --bucket 1d", OTHER_WORK),
        (change_nothing, f"{RESUME} --timezone Europe/Rome", OTHER_WORK),
        (damage_checkpoint, RESUME, "the checkpoint c is damaged; remove the folder.\n"),
        (
            change_nothing,
            BEGIN,
            "continue with --resume (in Python resume=True), or remove the folder",
        ),
    ],
)
@pytest.mark.usefixtures("stopped")
def test_a_checkpoint_of_other_work_or_a_damaged_one_is_refused_and_none_is_passed_over(
    run: Run, change: Callable[[], None], words: str, said: str
) -> None:
    change()
    err = refused(run, words, said)
    assert err == said or words == BEGIN
    assert not Path("r.parquet").exists()


def test_resume_without_a_checkpoint_begins_from_the_start(
    run: Run, same: dict[str, bytes]
) -> None:
    check_resumed(run, same)


def test_two_runs_do_not_share_a_checkpoint(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sottovoce.files.PATIENCE_S", 0.0)
    words = f"assess posts.parquet {RANKS} --checkpoint new/c --resume"
    Path("new").mkdir()
    with only_one(Path("new/c")):
        refused(run, words, "another command is updating new/c")
    assert not Path("r.parquet").exists()
    Path("new").rmdir()
    done(run, words)
    assert not list(Path("new").iterdir())


def test_resume_needs_to_know_where(run: Run) -> None:
    err = refused(run, f"assess posts.parquet {SCORE} --resume")
    assert err == "resume needs a checkpoint (--checkpoint FOLDER), the one to go on from.\n"
    assert not Path("r.parquet").exists()


def test_checkpoints_cost_at_most_a_twentieth_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
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
