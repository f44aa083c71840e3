"""Assess the bench's cases with an earlier commit and with this tree, in turns, in one run.

    python tools/before_after.py COMMIT [--posts 1000000] [--rounds 3] [--threads 1,2]

Each turn is a process of its own that works with the sources and the cases of one of the two; the
shortest time of each is shown, and whether the digests of the results agree. The commit must be one
that has the laboratory beside the product.
"""

import argparse
import importlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCES = ("src", "sottovoce-lab/src")
CASES = "sottovoce_lab.bench._assess_cores"


def main() -> None:
    """Compare, or be one of the two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit")
    parser.add_argument("--posts", type=float, default=1e6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--cases", default="")
    parser.add_argument("--files", help="a folder for the posts, used again if it is there")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        earlier = Path(folder, "earlier")
        unpack(asked.commit, earlier)
        files = asked.files or folder
        compare({"before": earlier, "after": ROOT}, asked, Path(files))


def unpack(commit: str, folder: Path) -> None:
    """The sources of a commit."""
    command = ["git", "archive", commit, *SOURCES]
    packed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")


def compare(trees: dict[str, Path], asked: argparse.Namespace, files: Path) -> None:
    """Let both trees take turns at each case, and print a line for each."""
    numbers = [int(each) for each in asked.threads.split(",")]
    best: dict[tuple[str, int, str], float] = {}
    digests: dict[str, set[str]] = {}
    posts: dict[str, int] = {}
    for turn in range(asked.rounds):
        for name, tree in trees.items():
            for found in ran(tree, asked, files, numbers, digest=turn == 0):
                key = (found["case"], found["threads"], name)
                best[key] = min(best.get(key, float("inf")), found["seconds"])
                posts[found["case"]] = found["posts"]
                if found["digest"]:
                    digests.setdefault(found["case"], set()).add(found["digest"])
    for case, number in posts.items():
        print(f"{case}: {'same bits' if len(digests[case]) == 1 else 'OTHER BITS'}")
        for threads in numbers:
            before, after = (best[case, threads, name] for name in trees)
            print(
                f"  {threads} threads: {number / before:,.0f} -> {number / after:,.0f} posts/s, "
                f"{before / after:.2f} times"
            )
    print("load", " ".join(f"{each:.1f}" for each in os.getloadavg()))


def ran(
    tree: Path, asked: argparse.Namespace, files: Path, numbers: list[int], *, digest: bool
) -> list[dict[str, Any]]:
    """What a process found that works with the sources in ``tree``."""
    words = [str(files), str(int(asked.posts)), json.dumps(numbers), str(int(digest)), asked.cases]
    done = subprocess.run(
        [sys.executable, __file__, "--turn", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(str(tree / each) for each in SOURCES)},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def turn(folder: str, posts: str, numbers: str, digest: str, chosen: str) -> None:
    """One turn at every case, once it has run on a small one for the compiler."""
    cores: Any = importlib.import_module(CASES)
    with tempfile.TemporaryDirectory() as small:
        for case in cores.core_cases(Path(small), 3_000, 20):
            case.run(2)
    wanted = chosen.split(",") if chosen else [""]
    for case in cores.core_cases(Path(folder), int(posts)):
        if not any(each in case.name for each in wanted):
            continue
        for threads in json.loads(numbers):
            begin = time.perf_counter()
            result = case.run(threads)
            seconds = time.perf_counter() - begin
            found = case.digest(result, threads) if int(digest) else ""
            del result
            line = {"case": case.name, "threads": threads, "posts": case.posts}
            print(json.dumps({**line, "seconds": seconds, "digest": found}), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--turn"]:
        turn(*sys.argv[2:])
    else:
        main()
