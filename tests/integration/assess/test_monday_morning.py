"""Monday morning: an export and a fresh environment, and each command works at the first try."""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.forum_export import QUOTER, forum_rows, write_export

from sottovoce.corpus.read.corpus import open_posts
from sottovoce.corpus.read.guessed import guessed_reading

ROWS = 20_000
FIRST_ANSWER_S = 60.0


def typed(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A command as it is typed, by an interpreter of its own and with nobody's settings."""
    home = {"HOME": str(folder), "XDG_DATA_HOME": str(folder / "data")}
    kept = {
        name: os.environ[name]
        for name in ("PATH", "PYTHONPATH", "NUMBA_CACHE_DIR")
        if name in os.environ
    }
    done = subprocess.run(
        [sys.executable, "-m", "sottovoce.cli", *command],
        cwd=folder, env={**kept, **home}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.long
def test_each_question_is_answered_at_the_first_try(tmp_path: Path) -> None:
    export = write_export(tmp_path / "export.csv", ROWS)
    begun = time.monotonic()
    typed(tmp_path, "assess", "export.csv", "--topic", "health", "--report", "report.html")
    assert time.monotonic() - begun < FIRST_ANSWER_S
    page = (tmp_path / "report.html").read_text()
    assert "depression" in page
    assert not [row[1] for row in export.rows if row[1] in page]
    who = export.afflicted[0]
    why = typed(tmp_path, "explain", "export.csv", "--user", who, "--topic", "depression", "--json")
    assert json.loads(why.stdout)["posts"]
    stated = ("--vocabulary", "everyday", "--epsilon", "2", "--precision", "2")
    typed(tmp_path, "release", "export.csv", "--by", "thread", *stated, "--out", "counts")
    shown = typed(tmp_path, "analyse", "counts", "--json")
    threads = {row[3].removeprefix("Re: ") for row in export.rows}
    assert json.loads(shown.stdout)["documents"] == len(threads)


@pytest.mark.long
def test_two_million_posts_take_bounded_memory_and_time_in_proportion(tmp_path: Path) -> None:
    """Ten times the posts of the same people: ten times the time, not ten times the memory."""
    rows = forum_rows(ROWS).rows
    used: dict[int, tuple[float, int]] = {}
    for times in (10, 100):
        path = tmp_path / f"export-{times}.csv"
        with path.open("w", encoding="utf-8") as file:
            file.write("id,author,created_at,subject,body\n")
            block = "".join(_line(row) for row in rows)
            file.writelines(block for _ in range(times))
        begun = time.monotonic()
        typed(tmp_path, "assess", path.name, "--topic", "depression", "--out", "ranks.csv")
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        used[times] = (time.monotonic() - begun, most)
        path.unlink()
    assert used[100][0] < 20 * used[10][0]
    assert used[100][1] < 2 * used[10][1]


def _line(row: tuple[str, ...]) -> str:
    quoted = ('"' + cell.replace('"', '""') + '"' for cell in row)
    return ",".join(quoted) + "\n"


def test_an_export_of_that_shape_is_read_whole(tmp_path: Path) -> None:
    export = write_export(tmp_path / "export.csv", 300)
    from sottovoce.corpus.read.tally import ReadOptions  # noqa: PLC0415 - beside its use
    from sottovoce.corpus.schema import POSTS  # noqa: PLC0415 - beside its use

    found = guessed_reading(tmp_path / "export.csv", POSTS, ReadOptions())
    posts = open_posts(tmp_path / "export.csv", options=found.options).read_all()
    assert posts["text"].to_pylist() == [row[4] for row in export.rows]
    assert QUOTER in posts["user"].to_pylist()
