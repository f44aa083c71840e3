"""On a real cluster: the bits of one machine, also when a worker dies."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from support.communities import random_posts, two_spaces
from support.spark_cluster import SOURCES, Cluster, start_command

from sottovoce.assess.evaluation.metrics import read_ranks
from sottovoce.assess.measures.catalogue import PAPER_METHODS
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import InputError
from sottovoce.privacy.ledger.ledger import Ledger
from sottovoce.release.folder import verified_card
from sottovoce.release.release import load_release

# Each command takes about a minute of processor time, most of it Java's beginnings.
FILES = 4
NAMES = ("measure", "user", "topic", "score", "rank", "band")


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return out, err


def wait_for(process: subprocess.Popen[str], there: Callable[[], object]) -> None:
    while not there():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


@pytest.fixture(scope="module")
def community(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Posts in several files, two models and the catalogue that fits them."""
    folder = tmp_path_factory.mktemp("community")
    posts = random_posts(11, users=150, posts=6000, weeks=20)
    (folder / "posts").mkdir()
    for number in range(FILES):
        pq.write_table(posts[number::FILES], folder / "posts" / f"{number}.parquet")
    lda, vectors, catalogue = two_spaces()
    lda.save(folder / "lda")
    vectors.save(folder / "w2v")
    catalogue.save(folder / "topics.toml")
    return folder


@pytest.fixture(scope="module")
def expected(community: Path) -> pa.Table:
    """What one machine makes of the same posts."""
    pq.write_table(pq.read_table(community / "posts"), community / "posts.parquet")
    models = ["--model", community / "lda", "--model", community / "w2v"]
    out = ["--topics", community / "topics.toml", "--out", community / "ranks.parquet"]
    finish(start_command("assess", community / "posts.parquet", *models, *out))
    table = pq.read_table(community / "ranks.parquet")
    return pa.table({name: _plain(table[name]) for name in NAMES})


def _plain(column: pa.ChunkedArray) -> pa.Array:
    kind = pa.string() if pa.types.is_dictionary(column.type) else column.type
    return column.cast(kind).combine_chunks()


def assess_command(community: Path, cluster: Cluster, out: Path, *more: object) -> list[object]:
    models = ["--model", community / "lda", "--model", community / "w2v"]
    topics = ["--topics", community / "topics.toml", "--out", out]
    engine = ["--engine", "spark", "--master", cluster.url, *cluster.options, "--partitions", 3]
    return ["assess", community / "posts", *models, *topics, *engine, *more]


def differences(out: Path, expected: pa.Table) -> dict[str, list[object]]:
    """Which columns differ, in any bit of any row, the order included; and for which measures."""
    found = pq.read_table(out)
    assert found.num_rows == expected.num_rows
    measures = np.array(expected["measure"].to_pylist())
    differing = {}
    for name in NAMES:
        one, two = (_bits(table[name]) for table in (found, expected))
        if (one != two).any():
            differing[name] = sorted(set(measures[one != two].tolist()))
    return differing


def _bits(column: pa.ChunkedArray) -> NDArray[Any]:
    values: NDArray[Any] = column.to_numpy()
    return values.view(np.int64) if values.dtype == np.float64 else values


@pytest.mark.long
def test_every_measure_ranks_bit_for_bit_as_on_one_machine(
    cluster: Cluster, community: Path, expected: pa.Table, tmp_path: Path
) -> None:
    out = tmp_path / "ranks.parquet"
    shown, err = finish(start_command(*assess_command(community, cluster, out, "--json")))
    assert differences(out, expected) == {}
    assert set(expected["measure"].to_pylist()) == set(PAPER_METHODS)
    assert json.loads(shown)["posts"] == 6000
    assert err == ""
    assert out.stat().st_mode & 0o077 == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ranks.parquet"]
    assert read_ranks(out).num_rows == expected.num_rows
    assert b"prozac" not in cluster.logs()


@pytest.mark.long
def test_a_worker_that_dies_after_its_first_task_changes_nothing(
    cluster: Cluster, community: Path, expected: pa.Table, tmp_path: Path
) -> None:
    out = tmp_path / "ranks.parquet"
    before = {path for name in ("one", "two") for path in shuffled(cluster, name)}
    running = start_command(*assess_command(community, cluster, out))
    # What was shuffled is lost with its worker, so that a finished task must run again.
    wait_for(running, lambda: set(shuffled(cluster, "one")) - before)
    cluster.kill_worker("one")
    finish(running)
    cluster.add_worker("one")
    assert differences(out, expected) == {}


def shuffled(cluster: Cluster, name: str) -> list[Path]:
    return list(cluster.scratch(name).glob("spark-*/**/shuffle_*.data"))


@pytest.mark.long
def test_sketched_ranks_bracket_the_exact_ones(
    cluster: Cluster, community: Path, expected: pa.Table, tmp_path: Path
) -> None:
    out = tmp_path / "ranks.parquet"
    some = ("--ranks", "sketch", "--measure", "ent,lda-dt")
    finish(start_command(*assess_command(community, cluster, out, *some)))
    exact = {(row["measure"], row["topic"], row["user"]): row for row in expected.to_pylist()}
    found = pq.read_table(out).to_pylist()
    assert len(found) == 2 * 3 * 150
    for row in found:
        truth = exact[row["measure"], row["topic"], row["user"]]
        assert row["score"] == truth["score"]
        assert row["rank"] <= truth["rank"] <= row["rank_most"]
        assert row["rank_most"] - row["rank"] <= 0.001 * 150


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same documents as one file, and as a folder of many; and a public vocabulary."""
    folder = tmp_path_factory.mktemp("documents")
    words = [f"word{number}" for number in range(400)]
    generator = np.random.default_rng(5)
    texts = [" ".join(generator.choice(words, 20).tolist()) for _ in range(2400)]
    table = pa.table({"text": texts})
    pq.write_table(table, folder / "whole.parquet")
    (folder / "many").mkdir()
    for number in range(12):
        pq.write_table(
            table[number * 200 : number * 200 + 200], folder / "many" / f"{number:02}.parquet"
        )
    (folder / "words.txt").write_text(Vocabulary.public(words).as_text())
    return folder


def promised(documents: Path) -> list[object]:
    guarantee = ["--epsilon", "1", "-N", 2, "--vocabulary", documents / "words.txt"]
    return [*guarantee, "--compress", "random", "--columns", 100, "--maps", 3]


def release_command(documents: Path, cluster: Cluster, ledger: Path, out: Path) -> list[object]:
    command = ["release", documents / "many", *promised(documents), "--ledger", ledger]
    engine = ["--engine", "spark", "--master", cluster.url, *cluster.options]
    return [*command, "--out", out, *engine]


def drawn_parts(out: Path) -> list[Path]:
    return list(out.glob("counts-*/**/*.parquet"))


@pytest.mark.long
def test_a_release_with_a_dying_worker_is_one_spend_and_one_noise(
    cluster: Cluster, documents: Path, tmp_path: Path
) -> None:
    ledger = tmp_path / "a.ledger"
    running = start_command(*release_command(documents, cluster, ledger, tmp_path / "spark"))
    wait_for(running, lambda: drawn_parts(tmp_path / "spark"))
    cluster.kill_worker("two")
    finish(running)
    cluster.add_worker("two")
    embedded = ["release", documents / "whole.parquet", *promised(documents)]
    # The same request: one machine answers it from the ledger, by the same bytes.
    finish(start_command(*embedded, "--ledger", ledger, "--out", tmp_path / "again"))
    for file in (tmp_path / "again").rglob("*.*"):
        own = tmp_path / "spark" / file.relative_to(tmp_path / "again")
        assert file.is_dir() or file.read_bytes() == own.read_bytes()
    # And a ledger of its own gets the same promise, card and spend.
    finish(start_command(*embedded, "--ledger", tmp_path / "b.ledger", "--out", tmp_path / "own"))
    cards = [replace(verified_card(tmp_path / name), files={}) for name in ("spark", "own")]
    assert cards[0] == cards[1]
    spends = [spends_of(tmp_path / name) for name in ("a.ledger", "b.ledger")]
    assert spends[0] == spends[1]
    assert len(spends[0]) == 1
    assert [path.suffix for path in (tmp_path / "a.ledger.outputs").iterdir()] == [".bin"]
    assert load_release(tmp_path / "spark").counts.shape == (2400, 100)
    assert b"word17" not in cluster.logs()
    finish(start_command("audit", "--release", tmp_path / "spark"))


@pytest.mark.long
def test_a_driver_that_dies_after_the_spend_published_nothing_and_is_made_up_for(
    cluster: Cluster, documents: Path, tmp_path: Path
) -> None:
    ledger, out = tmp_path / "a.ledger", tmp_path / "out"
    command = release_command(documents, cluster, ledger, out)
    killed = start_command(*command)
    wait_for(killed, lambda: drawn_parts(out))
    killed.kill()
    killed.communicate()
    with pytest.raises(InputError, match="not finished"):
        load_release(out)
    before = spends_of(ledger)
    finish(start_command(*command))
    assert spends_of(ledger) == before
    assert len(before) == 1
    assert verified_card(out).documents == 2400
    assert [path.suffix for path in (tmp_path / "a.ledger.outputs").iterdir()] == [".bin"]


@pytest.mark.long
def test_spark_submit_runs_the_command_line(
    java: None, turn: None, community: Path, expected: pa.Table, tmp_path: Path
) -> None:
    import pyspark  # noqa: PLC0415 - an extra

    out = tmp_path / "ranks.parquet"
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    settings = ["--driver-memory", "512m", "--conf", "spark.driver.bindAddress=127.0.0.1"]
    models = ["--model", community / "lda", "--model", community / "w2v"]
    command = [
        *(submit, "--master", "local[2]", *settings, SOURCES / "sottovoce/cli/submit.py"),
        *("assess", community / "posts", *models, "--topics", community / "topics.toml"),
        *("--engine", "spark", "--out", out),
    ]
    done = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, "PYTHONPATH": str(SOURCES), "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "150 users, 6,000 posts" in done.stdout
    assert differences(out, expected) == {}


def spends_of(path: Path) -> list[tuple[object, ...]]:
    ledger = Ledger(path)
    (account,) = ledger.accounts()
    found = [(spend.id, spend.request.guarantee) for spend in ledger.spends(account.corpus)]
    ledger.close()
    # Names are under a key of the ledger's own.
    return [(*pair, account.budget, account.spent, account.documents) for pair in found]
