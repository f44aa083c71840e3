"""Keep every output of the product on fixed inputs, or compare those of two checkouts.

    python tools/golden_outputs.py write FOLDER
    python tools/golden_outputs.py before COMMIT
    python tools/golden_outputs.py compare FOLDER FOLDER

Each command runs in a fork of `golden_child`, which draws all randomness from a seed. Ports, paths,
times of today and durations are replaced by names. ``before`` exits with 1 if any output differs.
"""

import argparse
import difflib
import hashlib
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow.parquet as pq
from golden_steps import (
    ASSESS,
    DATA,
    JUDGED,
    LEARN,
    PEERS,
    PROFILES,
    RELEASE,
    answer_sheets,
    steps_of,
    write_inputs,
    write_texts,
)
from walks import Page

ROOT = Path(__file__).parents[1]
CHILD = Path(__file__).with_name("golden_child.py")
SOURCES = ("src", "sottovoce-lab/src", "sottovoce-spark/src")
DIFFERING_LINES = 12
WAIT_S = 60.0
PAGES = ("/start", "/standing", "/draft", "/alerts", "/settings", "/delete",
         "/openapi.json", "/assets/page.css", "/assets/page.js")  # fmt: skip
BROUGHT = "It was a hard week.\n\nI saw a doctor about my debts."
_SECRET = (".key", ".pem", ".lock", ".part", "-wal", "-shm", "-journal")
_ROWS = 400
_CHANCE = (
    r'("?\w*seconds"?:? +)\d+(?:\.\d+)?',
    r"(waited for +).*",
    # A run's name is a digest of its terms, and so says nothing that the terms do not.
    r'("run": "|run +|│ )[0-9a-f]{12,32}\b',
    r'("waited_s": )\{[^}]*\}',
    r"((?:fingerprint|certificate)\W+)[0-9a-f]{64}",
)


class Checkout:
    """A source tree whose commands run in one scratch folder."""

    def __init__(self, tree: Path, scratch: Path, core: int) -> None:
        self.scratch, self._tree = scratch, tree
        self._outputs, self._steps = scratch.with_name(f"{scratch.name}-said"), 0
        self._stay: list[int] = []
        self._outputs.mkdir(parents=True)
        scratch.mkdir(parents=True)
        paths = os.pathsep.join(str(tree / each) for each in SOURCES)
        names = ("HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "SOTTOVOCE_DATA")
        own = dict.fromkeys(names, str(scratch / "home"))
        fixed = {
            "PYTHONPATH": paths,
            "COLUMNS": "160",
            "NUMBA_DISABLE_JIT": "1",
            "TZ": "UTC",
            "PYTHONWARNINGS": "ignore",
        }
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
        self._server = subprocess.Popen(
            [sys.executable, str(CHILD), str(core)],
            env={**os.environ, **own, **fixed, **threads, "PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop_all()
        self._server.communicate()

    def run(self, words: Sequence[str], **environment: str) -> None:
        """Run a command to its end, and keep what it prints and its exit code."""
        self._steps += 1
        name = re.sub(r"[^a-z0-9.]+", "-", " ".join(words)[:60].lower()).strip("-")
        out, err = (self._outputs / f"{self._steps:03}-{name}.{end}" for end in ("out", "err"))
        code = self._ask(words, out, err, environment, stays=False)
        head = f"$ sottovoce {' '.join(words)}\nexit {code}\n"
        said = f"{head}{_read(out)}--- errors\n{_read(err)}"
        out.with_suffix(".txt").write_text(said, encoding="utf-8")
        out.unlink()
        err.unlink()

    def run_all(self, block: str) -> None:
        """Run every command of a block."""
        for words in steps_of(block):
            self.run(words)

    def start(self, name: str, words: Sequence[str], **environment: str) -> str:
        """Start a command that stays; the first line that it prints."""
        out, err = (self.scratch.parent / f"{self.scratch.name}.{name}.{end}" for end in "oe")
        self._stay.append(self._ask(words, out, err, environment, stays=True))
        deadline = time.monotonic() + WAIT_S
        while "\n" not in (said := _read(out)):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{' '.join(words)} must start, got: {_read(err)[-300:]}")
            time.sleep(0.05)
        return said.splitlines()[0]

    def stop_all(self) -> None:
        """Ask all that stay to end."""
        while self._stay:
            os.kill(self._stay.pop(), 15)

    def keep(self, name: str, text: str) -> None:
        """Keep an output that no command printed."""
        (self._outputs / name).write_text(text, encoding="utf-8")

    def write(self, folder: Path) -> None:
        """Everything that was printed or written, as text without what differs by chance."""
        for path in sorted(self._outputs.iterdir()):
            _write(folder / "printed" / path.name, self._without_chance(_read(path)))
        for path in sorted(each for each in self.scratch.rglob("*") if each.is_file()):
            name = path.relative_to(self.scratch)
            if "home/numba" not in str(name) and not name.name.endswith(_SECRET):
                target = folder / "files" / self._without_chance(str(name)).replace("<", "_")
                _write(target.with_name(f"{target.name}.txt"), self._without_chance(as_text(path)))

    def _ask(
        self, words: Sequence[str], out: Path, err: Path, environment: object, *, stays: bool
    ) -> int:
        asked = {"arguments": list(words), "folder": str(self.scratch), "stays": stays}
        seed = " ".join(words)
        asked |= {"out": str(out), "err": str(err), "environment": environment, "seed": seed}
        if self._server.stdin:
            print(json.dumps(asked), file=self._server.stdin, flush=True)
        return int(self._answer())

    def _answer(self) -> str:
        answer = self._server.stdout.readline().strip() if self._server.stdout else ""
        return answer or "-1"

    def _without_chance(self, text: str) -> str:
        text = text.replace(str(self.scratch), "<FOLDER>").replace(str(self._tree), "<TREE>")
        text = text.replace(socket.gethostname(), "<HOST>")
        now = datetime.now(UTC)
        for day in (now - timedelta(days=1), now, now + timedelta(days=1)):
            text = re.sub(rf"{day:%Y-%m-%d}([T ]\d\d:\d\d[\d:.]*(Z|\+00:?00)?)?", "<TIME>", text)
            text = re.sub(rf"{day:%-d %B %Y}, \d\d:\d\d", "<TIME>", text)
        for pattern in _CHANCE:
            text = re.sub(pattern, r"\1<CHANCE>", text)
        text = re.sub(r"(127\.0\.0\.1|localhost):\d+", r"\1:<PORT>", text)
        return re.sub(r"\b\d+(\.\d+)? (s|ms|seconds?|posts/s|MB|MiB)\b", r"<N> \2", text)


def as_text(path: Path) -> str:
    """What a file holds, as text whose lines can be compared."""
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        rows = [json.dumps(row, default=str) for row in table.slice(0, _ROWS).to_pylist()]
        return "\n".join([str(table.schema), *rows, _digest(str(table.to_pydict()).encode())])
    content = path.read_bytes()
    if path.suffix in {".npz", ".npy"}:
        return _arrays_as_text(path)
    if content.startswith(b"SQLite format 3"):
        return "\n".join(_database_as_text(path))
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return "\n".join(f"{each} {_digest(archive.read(each))}" for each in archive.namelist())
    try:
        return content.decode()
    except UnicodeDecodeError:
        return f"{len(content)} bytes {_digest(content)}"


def _arrays_as_text(path: Path) -> str:
    loaded = np.load(path, allow_pickle=False)
    arrays = {"": loaded} if isinstance(loaded, np.ndarray) else dict(loaded)
    return "\n".join(
        f"{name} {each.dtype} {each.shape} {_digest(each.tobytes())}\n{each.ravel()[:_ROWS]}"
        for name, each in sorted(arrays.items())
    )


def _database_as_text(path: Path) -> Iterator[str]:
    with closing(sqlite3.connect(path)) as store:
        tables = store.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
        for name, sql in tables:
            yield str(sql)
            # Rows of a party's store are sealed, and in the order in which messages came.
            if str(sql).startswith("CREATE TABLE") and path.parent.name != "store":
                rows = store.execute(f"SELECT * FROM [{name}]")  # noqa: S608 - its own tables
                yield from sorted(str(row) for row in rows)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def run_everything(checkout: Checkout) -> None:
    """Every step, in the order in which one makes what the next reads."""
    folder = checkout.scratch
    for name, users in (("community", "60"), ("small-community", "50")):
        sizes = ("--users", users, "--weeks", "3", "--seed", "7")
        checkout.run(["simulate", name, *sizes])
    write_inputs(folder)
    background = pq.read_table(folder / "community/background.parquet")
    pq.write_table(background.slice(0, 300), folder / "small.parquet")
    for name in ("community", "small-community"):
        pq.write_table(background.slice(0, 300), folder / name / "background.parquet")
    checkout.run_all(DATA)
    answer_sheets(sorted(folder.glob("sheets-*.csv")))
    checkout.run_all(JUDGED)
    checkout.run_all(ASSESS)
    answer_sheets(sorted(folder.glob("profiles-*.csv")))
    checkout.run_all(PROFILES)
    checkout.run_all(RELEASE)
    read_pages(checkout)
    learn(checkout)


def read_pages(checkout: Checkout) -> None:
    """Each page of the advisor, and what a what-if answers."""
    options = ("--no-open", "--json", "--store", "page.sqlite", "--community", "export.csv")
    page = Page(json.loads(checkout.start("advise", ["advise", *options]))["address"])
    page.bring(BROUGHT)
    topic = page.first_topic()
    for path in (*PAGES, f"/topic?name={topic.replace(' ', '+')}"):
        try:
            said = page.ask("GET", path.replace(" ", "+"))
        except RuntimeError as error:
            said = str(error)
        checkout.keep(
            f"page-{re.sub('[^a-z]+', '-', path.lower())}.txt", said.replace("><", ">\n<")
        )
    asked = json.dumps({"topic": topic, "shown": [1, 2], "kept": [2]})
    checkout.keep("page-what-if.txt", page.ask("PUT", "/api/what-if", asked, "application/json"))
    checkout.stop_all()


def learn(checkout: Checkout) -> None:
    """A trial of all parties: train, evaluate, classify and count."""
    checkout.run(["learn", "init", "all", "--names", ",".join(PEERS)])
    for name in PEERS:
        write_texts(checkout.scratch / "all" / name / "texts.csv")
        settings = checkout.scratch / "all" / name / "party.toml"
        settings.write_text(
            _read(settings).replace("budget = 2\n", "budget = 9\n"), encoding="utf-8"
        )
    for name in ("coordinator", *PEERS):
        config = f"all/{name}/party.toml"
        role = "peer" if name in PEERS else name
        state = str(checkout.scratch / f"state-{name}")
        checkout.start(name, ["learn", role, "--config", config], XDG_STATE_HOME=state)
    checkout.run_all(LEARN)
    checkout.stop_all()


def write_golden(tree: Path, folder: Path, scratch: Path, core: int = 0) -> None:
    """Run everything with the sources of a tree, and write all outputs."""
    with Checkout(tree, scratch, core) as checkout:
        run_everything(checkout)
        checkout.write(folder)


def compare(before: Path, after: Path) -> int:
    """Print which outputs differ, with their first differing lines; how many do."""
    names = sorted({*_files_below(before), *_files_below(after)})
    differing = 0
    for name in names:
        lines = first_difference(before / name, after / name)
        if lines:
            differing += 1
            print("\n".join((f"== {name}", *lines)))
    print(f"{len(names) - differing} outputs are equal, {differing} differ.")
    return differing


def first_difference(before: Path, after: Path) -> list[str]:
    """The first lines in which two outputs differ, or that one is missing."""
    for path, place in ((before, "before"), (after, "after")):
        if not path.exists():
            return [f"missing {place}"]
    one, other = (_read(path).splitlines() for path in (before, after))
    changes = list(difflib.unified_diff(one, other, n=0, lineterm=""))[2:]
    return [line[:200] for line in changes[:DIFFERING_LINES]]


def _files_below(folder: Path) -> Iterator[str]:
    return (str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@contextmanager
def worktree(commit: str, folder: Path) -> Iterator[Path]:
    """A checkout of a commit, for a while."""
    git = ("git", "-C", str(ROOT), "worktree")
    subprocess.run([*git, "add", "--detach", "--quiet", str(folder), commit], check=True)
    try:
        yield folder
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)


def compare_with(commit: str, keep: Path | None) -> int:
    """Run an earlier commit and this tree side by side; how many outputs differ."""
    with tempfile.TemporaryDirectory() as made:
        top = keep or Path(made)
        shutil.rmtree(top, ignore_errors=True)
        top.mkdir(parents=True)
        with worktree(commit, Path(made, "tree")) as tree, ThreadPoolExecutor(2) as both:
            turns = [
                both.submit(write_golden, source, top / name, Path(made, f"run-{core}"), core)
                for core, (name, source) in enumerate((("before", tree), ("after", ROOT)))
            ]
            for turn in turns:
                turn.result()
        return compare(top / "before", top / "after")


def main() -> None:
    """Write, compare, or both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("write", "before", "compare"))
    parser.add_argument("what", help="a folder, or a commit")
    parser.add_argument("other", nargs="?", help="compare: the second folder")
    parser.add_argument("--keep", type=Path, help="before: a folder for both trees' outputs")
    asked = parser.parse_args()
    if asked.action == "write":
        with tempfile.TemporaryDirectory() as made:
            write_golden(ROOT, Path(asked.what), Path(made, "run-0"))
    elif asked.action == "compare":
        raise SystemExit(bool(compare(Path(asked.what), Path(asked.other))))
    else:
        raise SystemExit(bool(compare_with(asked.what, asked.keep)))


if __name__ == "__main__":
    main()
