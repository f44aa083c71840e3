"""Releases on a real cluster: a small driver for many documents, and deaths at any moment."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from sottovoce_spark.shards import ROWS
from support.spark_cluster import SHORT_LIVED, Cluster, start_command

from sottovoce.errors import InputError
from sottovoce.privacy.ledger.ledger import Ledger
from sottovoce.release.folder import released_card
from sottovoce.release.release import load_release

pytestmark = pytest.mark.long
WORDS = 1_000
MANY, SOME = 2_000_000, 60_000
KILLS = 20
DRIVER_BYTES = 1e9
# Spark wants a heap of 471 MB at least; it need not be filled before it is swept.
SMALL_HEAP = "-Xms64m -XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=20 -Xmn16m"


def written(folder: Path, documents: int, files: int) -> Path:
    """Documents of a dozen words, some used often; and the public list of them."""
    folder.mkdir()
    words = pa.array([f"word{number:03}" for number in range(WORDS)])
    generator = np.random.default_rng(documents)
    for number in range(files):
        size = documents // files
        ids = np.minimum(generator.zipf(1.3, (size, 12)) - 1, WORDS - 1)
        ends = pa.array(np.arange(0, 12 * size + 1, 12, dtype=np.int32))
        texts = pc.binary_join(
            pa.ListArray.from_arrays(ends, words.take(pa.array(ids.ravel()))), " "
        )
        # A number of its own, or documents of one text would be charged as one.
        own = pc.cast(pa.array(np.arange(number * size, (number + 1) * size)), pa.string())
        table = pa.table({"text": pc.binary_join_element_wise(texts, own, " ")})
        pq.write_table(table, folder / f"{number:02}.parquet", row_group_size=50_000)
    words_file = folder.with_suffix(".words")
    words_file.write_text("\n".join(words.to_pylist()) + "\n")
    return folder


def started(corpus: Path, cluster: Cluster, place: Path) -> subprocess.Popen[str]:
    promise = ["--epsilon", "2", "-N", "2", "--vocabulary", corpus.with_suffix(".words")]
    small = f"spark.driver.extraJavaOptions={SHORT_LIVED} {SMALL_HEAP}"
    engine = ["--engine", "spark", "--master", cluster.url, *cluster.options]
    engine += ["--spark-conf", small]
    where = ["--ledger", place / "ledger", "--out", place / "out", "--json"]
    # What other ledgers know of the same documents is none of this run's.
    own = {"MALLOC_ARENA_MAX": "2", "XDG_STATE_HOME": str(place)}
    return start_command(
        "release", corpus, *promise, *where, *engine, env=own, start_new_session=True
    )


def finished(process: subprocess.Popen[str], out: Path | None = None) -> float:
    """Wait for it; the most memory that the driver had, its Java and its Python together.

    At no time may there be shards of two drawings in ``out``.
    """
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, sum(map(_resident, _tree(process.pid))))
        assert out is None or len(list(out.glob("counts-*"))) <= 1
        time.sleep(0.1)
    shown, err = process.communicate()
    assert process.returncode == 0, err
    assert json.loads(shown)["documents"] > 0
    return peak


def _tree(process: int) -> list[int]:
    found = [process]
    for known in found:
        children = Path(f"/proc/{known}/task/{known}/children")
        found += [int(child) for child in _text(children).split()]
    return found


def _resident(process: int) -> float:
    """All that it has in memory, what it may share with others included."""
    lines = _text(Path(f"/proc/{process}/status")).splitlines()
    return sum(1024.0 * int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def spends_of(ledger: Path) -> list[int]:
    if not ledger.exists():
        return []
    opened = Ledger(ledger)
    found = [len(opened.spends(account.corpus)) for account in opened.accounts()]
    opened.close()
    return found


def test_a_release_of_two_million_documents_has_a_driver_of_less_than_a_gigabyte(
    cluster: Cluster, tmp_path: Path
) -> None:
    corpus = written(tmp_path / "corpus", MANY, files=16)
    begin = time.monotonic()
    peak = finished(started(corpus, cluster, tmp_path))
    took = time.monotonic() - begin
    shards = list(tmp_path.glob("out/counts-*/*.parquet"))
    size = sum(path.stat().st_size for path in shards)
    sys.stderr.write(
        f"{MANY:,} x {WORDS:,}: {took:.0f} s, driver {peak / 1e6:.0f} MB, {len(shards)} shards of "
        f"{size / 1e6:.0f} MB in all\n"
    )
    assert peak < DRIVER_BYTES
    assert spends_of(tmp_path / "ledger") == [1]
    begin = time.monotonic()
    found = load_release(tmp_path / "out")
    assert found.rows.shape == (MANY, WORDS)
    totals = found.words()
    took = time.monotonic() - begin
    sys.stderr.write(
        f"read, checked and summed in {took:.0f} s, peak {_resident(os.getpid()):.3g}\n"
    )
    assert abs(totals.table["total"].to_numpy().sum() / (12 * MANY) - 1) < 0.01


def test_whatever_dies_and_when_there_is_one_noise_one_spend_and_a_whole_folder_or_none(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Workers and drivers are killed at moments that are even over the time of a whole run."""
    corpus = written(tmp_path / "corpus", SOME, files=6)
    begin = time.monotonic()
    (tmp_path / "first").mkdir()
    finished(started(corpus, cluster, tmp_path / "first"))
    whole_run = time.monotonic() - begin
    chance = random.Random(time.time_ns())
    for number in range(KILLS):
        place = tmp_path / str(number)
        place.mkdir()
        victim = chance.choice(["driver", "one", "two"])
        outcome = _killed_once(corpus, cluster, place, victim, chance.uniform(0, whole_run))
        sys.stderr.write(f"{number}: {outcome}\n")
    sys.stderr.write(f"a whole run took {whole_run:.0f} s\n")


def _killed_once(corpus: Path, cluster: Cluster, place: Path, victim: str, after_s: float) -> str:
    running = started(corpus, cluster, place)
    time.sleep(after_s)
    if victim == "driver":
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
    else:
        cluster.kill_worker(victim)
        finished(running, place / "out")
        cluster.add_worker(victim)
    left = _rows_in(place / "out")
    noises = {path.name for path in (place / "out").glob("counts-*")}
    was_whole = _is_whole(place / "out")
    spent = spends_of(place / "ledger")
    assert spent in ([], [0], [1])
    assert spent == [1] or not left.num_rows
    assert was_whole or victim == "driver"
    assert len(noises) <= 1
    if not was_whole:
        finished(started(corpus, cluster, place), place / "out")
    assert spends_of(place / "ledger") == [1]
    found = _rows_in(place / "out").sort_by("document")
    assert found["document"].to_pylist() == list(range(SOME))
    assert load_release(place / "out").counts.shape == (SOME, WORDS)
    (published,) = (path.name for path in (place / "out").glob("counts-*"))
    # Of the same drawing it is the same noise; of another one nothing is left.
    assert published not in noises or found.take(left["document"]).equals(left)
    kept = [path.suffix for path in place.glob("ledger.outputs/*")]
    assert kept == [".bin"]
    shards = f"{left.num_rows:,} documents in shards"
    return f"{victim}, {shards}, {'whole' if was_whole else 'no release yet'}"


def _rows_in(folder: Path) -> pa.Table:
    """All documents in all shards that can be read, those of tasks that were not done as well."""
    tables = [ROWS.empty_table()]
    for path in folder.rglob("*.parquet"):
        # What is half-written cannot be read; nobody learns anything from it.
        with suppress(OSError, pa.ArrowException):
            tables.append(pq.read_table(path).cast(ROWS))
    return pa.concat_tables(tables).combine_chunks()


def _is_whole(folder: Path) -> bool:
    try:
        return released_card(folder).documents == SOME and bool(load_release(folder))
    except InputError:
        return False
