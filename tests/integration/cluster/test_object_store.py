"""A release on a cluster into what behaves as an object store: files are copied, not renamed."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.spark_cluster import SHORT_LIVED, Cluster, start_command

from sottovoce.errors import InputError
from sottovoce.privacy.ledger.ledger import Ledger
from sottovoce.release.release import load_release

pytestmark = pytest.mark.long
HERE = Path(__file__).parent
DOCUMENTS, WORDS = 1200, 50


@pytest.fixture(scope="module")
def store(java: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the compiled file system, for Java's class path."""
    import pyspark  # noqa: PLC0415 - an extra

    if shutil.which("javac") is None:
        pytest.skip("javac is absent: a file system for tests cannot be compiled")
    folder = tmp_path_factory.mktemp("store")
    jars = Path(pyspark.__file__).parent / "jars" / "*"
    command = ["javac", "-cp", str(jars), "-d", str(folder), str(HERE / "CopyingStore.java")]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder, generator = tmp_path / "corpus", np.random.default_rng(3)
    folder.mkdir()
    words = np.array([f"word{number}" for number in range(WORDS)])
    for number in range(3):
        texts = [" ".join(row) for row in generator.choice(words, (DOCUMENTS // 3, 9)).tolist()]
        pq.write_table(pa.table({"text": texts}), folder / f"{number}.parquet")
    (tmp_path / "words.txt").write_text("\n".join(words.tolist()) + "\n")
    return folder


def sottovoce(cluster: Cluster, store: Path, *command: object, fatal: str = "") -> tuple[int, str]:
    settings = {
        "spark.hadoop.fs.copying.impl": "CopyingStore",
        "spark.driver.extraClassPath": store,
        "spark.executor.extraClassPath": store,
        "spark.driver.extraJavaOptions": SHORT_LIVED,
        **({"spark.hadoop.copying.fatal": fatal} if fatal else {}),
    }
    options = [
        word for pair in settings.items() for word in ("--spark-conf", "{}={}".format(*pair))
    ]
    engine = ["--engine", "spark", "--master", cluster.url, *cluster.options, *options]
    running = start_command(*command, *engine)
    _, told = running.communicate(timeout=900)
    return running.returncode, told


def test_a_release_into_an_object_store_is_whole_or_none_wherever_its_renaming_ends(
    cluster: Cluster, store: Path, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "bucket" / "released"
    promise = ["--epsilon", 2, "-N", 2, "--vocabulary", tmp_path / "words.txt"]
    where = ["--ledger", tmp_path / "ledger", "--out", f"copying://{out}"]
    command = ["release", f"copying://{corpus}", *promise, *where]
    # While the shards of tasks are put into their place, and while the card is.
    for fatal in ("part-00001", "card.json"):
        status, _ = sottovoce(cluster, store, *command, fatal=fatal)
        assert status != 0
        assert not (out / "card.json").exists()
        with pytest.raises(InputError, match="not finished|no readable"):
            load_release(out)
    left = {path.name for path in out.glob("counts-*")}
    status, told = sottovoce(cluster, store, *command)
    assert status == 0, told
    # The card's was all that was missing: nothing was drawn again.
    assert {path.name for path in out.glob("counts-*")} == left
    assert load_release(out).counts.shape == (DOCUMENTS, WORDS)
    ledger = Ledger(tmp_path / "ledger")
    (account,) = ledger.accounts()
    assert len(ledger.spends(account.corpus)) == 1
    ledger.close()
    status, told = sottovoce(cluster, store, "analyse", f"copying://{out}", "--json")
    assert status == 0, told
