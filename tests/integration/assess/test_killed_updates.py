"""Killed at any step, an update leaves the state before or the state after, and can be repeated."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from support.communities import TWO_TOPICS, random_posts
from support.warm_python import run_warm

from sottovoce.assess import load_state
from sottovoce.assess.state import parts
from sottovoce.assess.state.parts import to_table

Run = Callable[..., tuple[int, str, str]]
SCRIPT = Path(__file__).with_name("stopped_step.py")
ADD = ("assess", "--update", "s", "day2.parquet")
JOIN = ("assess", "--update", "s", "day3.parquet")
FORGET = ("forget", "s", "--user", "u7")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> Path:
    """A state of two parts; one more day is little, and one is enough to join them all."""
    monkeypatch.setattr(parts, "LEAST", 0)
    monkeypatch.chdir(tmp_path)
    sizes = [(80, 1500), (40, 60), (10, 3), (80, 1200)]
    for number, (users, posts) in enumerate(sizes):
        pq.write_table(random_posts(number, users=users, posts=posts), f"day{number}.parquet")
    Path("topics.toml").write_text(TWO_TOPICS)
    given = ("--topics", "topics.toml", "--measure", "bow-dt,ent", "--state", "s")
    assert run("assess", "day0.parquet", *given)[0] == 0
    assert run("assess", "--update", "s", "day1.parquet")[0] == 0
    keep(Path("before"))
    return tmp_path


def keep(where: Path) -> None:
    where.mkdir()
    shutil.copy("s", where)
    if Path("s.earlier").exists():
        shutil.copytree("s.earlier", where / "s.earlier")


def bring_back(where: Path) -> None:
    shutil.rmtree("s.earlier", ignore_errors=True)
    shutil.copy(where / "s", "s")
    if (where / "s.earlier").exists():
        shutil.copytree(where / "s.earlier", "s.earlier")


def files(where: Path) -> dict[str, bytes]:
    found = [where / "s", *(where / "s.earlier").glob("*"), *(where / "s.earlier").glob(".*")]
    return {str(path.relative_to(where)): path.read_bytes() for path in found}


def killed(stop_at: int, command: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    step = ["update", str(stop_at), str(signal.SIGKILL)]
    return run_warm([sys.executable, str(SCRIPT), *step, *command])


def chosen(steps: list[str], every: bool) -> list[int]:
    """All steps, or those around which a file gets or loses its name."""
    if every:
        return list(range(1, len(steps) + 1))
    naming = [place for place, step in enumerate(steps, 1) if step in {"os.rename", "os.link"}]
    return sorted({min(place + more, len(steps)) for place in naming for more in (0, 1)})


def check_every_kill(run: Run, command: tuple[str, ...], *, every: bool) -> None:
    done = killed(-1, command)
    assert done.returncode == 0, done.stderr
    after = files(Path())
    tables = [to_table(load_state(Path("before/s"))), to_table(load_state(Path("s")))]
    found = set()
    # Not simply the last line: coverage may have a warning to print when the process ends.
    (steps,) = (line for line in done.stderr.splitlines() if line.startswith("steps:"))
    for stop_at in chosen(steps.split()[1:], every):
        bring_back(Path("before"))
        assert killed(stop_at, command).returncode == -signal.SIGKILL
        now = to_table(load_state(Path("s")))
        found.add(next(at for at, each in enumerate(tables) if each.equals(now)))
        # Who is erased already cannot be erased again.
        assert run(*command)[0] == (2 if command == FORGET and now.equals(tables[1]) else 0)
        assert files(Path()) == after
    assert found == {0, 1}, done.stderr


@pytest.mark.parametrize("command", [ADD, JOIN, FORGET])
def test_an_update_killed_where_files_get_their_names(
    run: Run, folder: Path, command: tuple[str, ...]
) -> None:
    check_every_kill(run, command, every=False)


@pytest.mark.long
@pytest.mark.parametrize("command", [ADD, JOIN, FORGET])
def test_an_update_killed_at_every_step(run: Run, folder: Path, command: tuple[str, ...]) -> None:
    check_every_kill(run, command, every=True)
