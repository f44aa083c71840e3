"""On a Spark of this machine: one machine's results, and one sentence for what cannot be."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sottovoce_spark import sharded_job
from sottovoce_spark._read import added_up
from sottovoce_spark._store import SparkStore
from sottovoce_spark.analyse import release_on_spark
from sottovoce_spark.assess import SparkAssessPlan as AssessPlan
from sottovoce_spark.assess import assess_files, score_on_spark
from sottovoce_spark.release import SparkWriters, counted_documents
from sottovoce_spark.session import open_session
from sottovoce_spark.sharded_job import Drawing, ShardWriters
from support.communities import CATALOGUE, WORDS, random_posts, two_spaces
from support.spark_cluster import SHORT_LIVED

from sottovoce.assess.assess import score
from sottovoce.assess.measures.catalogue import PAPER_METHODS
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import CorpusError, InputError, ParameterError
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.ledger import Ledger
from sottovoce.release.audit import audit_release
from sottovoce.release.inputs import ReleaseInputs
from sottovoce.release.job import Job
from sottovoce.release.plan import ReleasePlan, ReleaseSettings
from sottovoce.release.quote import open_account
from sottovoce.release.release import load_release

pytestmark = [
    # Spark leaves its sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
Spark: TypeAlias = Any
POSTS = random_posts(3, users=12, posts=120)
PLAN = AssessPlan(CATALOGUE, measures=("bow", "ent"), partitions=2)


@pytest.fixture(scope="module")
def mounted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `viewfs://test/mounted` is, a file system of Hadoop's that is not a machine's own."""
    return tmp_path_factory.mktemp("mounted")


@pytest.fixture(scope="module")
def spark(turn: None, mounted: Path) -> Iterator[Any]:
    settings = {
        "spark.hadoop.fs.viewfs.mounttable.test.link./mounted": mounted.as_uri(),
        "spark.driver.memory": "512m",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": SHORT_LIVED,
        "spark.ui.enabled": "false",
    }
    with open_session("local[1]", settings=settings) as session:
        yield session


def refused(spark: Spark, posts: Path, out: Path, *, options: ReadOptions = ReadOptions()) -> str:  # noqa: B008 - frozen
    before = sorted(out.parent.iterdir()) if out.parent.is_dir() else []
    with pytest.raises(InputError) as raised:
        assess_files(spark, str(posts), str(out), PLAN, options)
    assert (sorted(out.parent.iterdir()) if out.parent.is_dir() else []) == before
    assert "\n" not in str(raised.value)
    return str(raised.value)


def written(folder: Path, *tables: pa.Table) -> Path:
    folder.mkdir()
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"{number}.parquet")
    return folder


def test_what_cannot_be_read_is_refused_and_leaves_nothing(spark: Spark, tmp_path: Path) -> None:
    out = tmp_path / "out" / "ranks.parquet"
    out.parent.mkdir()
    without = POSTS.drop_columns(["text"])
    lacking = refused(spark, written(tmp_path / "lacking", POSTS, without), out)
    assert "differ in the column 'text'" in lacking
    numbers = POSTS.set_column(0, "user", pa.array(range(len(POSTS))))
    assert "differ in the column 'user'" in refused(
        spark, written(tmp_path / "a", POSTS, numbers), out
    )
    assert "no column 'text'" in refused(spark, written(tmp_path / "b", without), out)
    assert "there is no such path" in refused(spark, tmp_path / "nowhere", out)
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "0.parquet").write_bytes(b"PAR1 my secret PAR1")
    assert "secret" not in refused(spark, tmp_path / "damaged", out)
    twice = POSTS.append_column("text", POSTS["text"])
    assert "two columns of one name" in refused(spark, written(tmp_path / "e", twice), out)
    nobody = POSTS.set_column(0, "user", pa.array(["only"] * len(POSTS)))
    assert "at least 2 users" in refused(spark, written(tmp_path / "c", nobody), out)
    assert "no usable row" in refused(spark, written(tmp_path / "d", POSTS[:0]), out)


def test_what_cannot_be_written_is_refused_before_any_work(spark: Spark, tmp_path: Path) -> None:
    posts = written(tmp_path / "posts", POSTS)
    assert "does not exist" in refused(spark, posts, tmp_path / "missing" / "ranks.parquet")
    (tmp_path / "file").touch()
    assert "cannot write" in refused(spark, posts, tmp_path / "file" / "ranks.parquet")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "letter").write_text("dear")
    assert "Spark did not write" in refused(spark, posts, mine)
    assert (mine / "letter").read_text() == "dear"


def test_text_formats_and_a_frame_give_the_ranks_of_one_machine(
    spark: Spark, tmp_path: Path
) -> None:
    expected = score(POSTS, (), CATALOGUE, measures=("bow", "ent")).table
    users = expected["user"].to_pylist()
    out = tmp_path / "ranks.parquet"
    pyarrow.csv.write_csv(POSTS, tmp_path / "posts.csv")
    for _ in range(2):
        # The second time what is there is replaced.
        done = assess_files(spark, str(tmp_path / "posts.csv"), str(out), PLAN, ReadOptions())
        assert pq.read_table(out)["user"].to_pylist() == users
    assert (done.users, done.posts) == (12, 120)
    frame = spark.read.parquet(str(written(tmp_path / "posts", POSTS)))
    before = spark.conf.get("spark.sql.shuffle.partitions")
    found = score_on_spark(frame, (), CATALOGUE, measures=("bow", "ent"), partitions=3).toArrow()
    assert found["user"].to_pylist() == users
    assert found["score"].equals(expected["score"])
    assert spark.conf.get("spark.sql.shuffle.partitions") == before


def test_every_measure_ranks_bit_for_bit_as_without_spark(spark: Spark, tmp_path: Path) -> None:
    """Workers are processes of their own; those of a real cluster are for the long run."""
    lda, vectors, catalogue = two_spaces()
    posts = random_posts(11, users=40, posts=800)
    expected = score(posts, (lda, vectors), catalogue).table
    frame = spark.read.parquet(str(written(tmp_path / "posts", posts[:300], posts[300:])))
    found = score_on_spark(frame, (lda, vectors), catalogue, partitions=3).toArrow()
    assert set(found["measure"].to_pylist()) == set(PAPER_METHODS)
    for name in ("measure", "user", "topic", "score", "rank", "band"):
        # No score is NaN, and == would take -0.0 for 0.0: texts of numbers tell every bit.
        values = [list(map(repr, table[name].to_pylist())) for table in (found, expected)]
        assert values[0] == values[1], name


def test_files_are_found_whatever_they_are_called(spark: Spark, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text(Vocabulary.public(WORDS).as_text())
    plain = pa.table({"text": POSTS["text"]})
    corpora = set()
    for name in ("plain", "100% #1 b%20c*?"):
        folder = tmp_path / f"{name}.csv"
        folder.mkdir()
        # A part need not be called what the folder is.
        pyarrow.csv.write_csv(plain, folder / name)
        inputs = ReleaseInputs(folder, ReadOptions(), vocabulary=Vocabulary.load(words))
        with counted_documents(spark, inputs, str(folder), "out") as counted:
            assert counted.documents.counts.shape[0] == 120
            corpora.add(counted.documents.corpus)
    assert len(corpora) == 1


def check_sums(spark: Spark, out: Path, address: str) -> None:
    """Those of a release on Spark are one machine's; and of other shards there are none."""
    one_machine, many = load_release(out), release_on_spark(spark, address)
    # Every bit, since sums of whole numbers do not round.
    for name in ("totals", "squares", "pairs"):
        sums = [getattr(each.moments, name).tobytes() for each in (one_machine, many)]
        assert sums[0] == sums[1]
    assert many.words().table.equals(one_machine.words().table)
    with pytest.raises(ParameterError, match="not offered on Spark"):
        _ = many.counts
    left = sorted(out.glob("counts-*/*.parquet"))
    sound = left[0].read_bytes()
    left[0].write_bytes(left[1].read_bytes())
    # Hadoop's own sums are for accidents: whoever changes a file can leave them out.
    left[0].with_name(f".{left[0].name}.crc").unlink()
    with pytest.raises(InputError, match="missing or not what"):
        release_on_spark(spark, str(out))
    left[0].write_bytes(sound)


@pytest.mark.usefixtures("small_audits")
def test_a_release_whose_driver_died_is_made_up_for_at_an_address_and_nothing_is_left_of_the_first(
    spark: Spark, mounted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, corpus, dead = tmp_path / "words.txt", tmp_path / "texts", tmp_path / "dead"
    # A name that is written otherwise in a URI.
    out, address = mounted / "100% #1 out", "viewfs://test/mounted/100% #1 out"
    words.write_text(Vocabulary.public(WORDS).as_text())
    # The second file is larger, and comes second all the same.
    written(corpus, POSTS.select(["text"])[:20], POSTS.select(["text"])[20:])
    ledger = Ledger(tmp_path / "ledger", create=True)
    inputs = ReleaseInputs(corpus, ReadOptions(), vocabulary=Vocabulary.load(words))
    drawings: list[Drawing] = []
    monkeypatch.setattr(sharded_job, "new_drawing", _noting(drawings))
    with counted_documents(spark, inputs, str(corpus), address, block_rows=30) as remote:
        settings = ReleaseSettings(guarantee=LimitedPrecision(2, "1"))
        documents = remote.documents
        job = Job(documents, ReleasePlan(settings, documents.vocabulary.terms), remote.declarations)
        open_account(ledger, job, None)
        with pytest.MonkeyPatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(sharded_job, "list_shards", _die)
            replace(remote, out=str(dead)).release(job, ledger)
        with pytest.raises(InputError, match="not finished"):
            load_release(dead)
        assert len(list(dead.glob("counts-*/*.parquet"))) == 2
        card = remote.release(job, ledger)
        assert remote.release(job, ledger) == card
        writers = SparkWriters(remote, SparkStore(spark, address))
        keys, blocks = writers.work(drawings[-1], job.plan), list(remote.blocks.values())
        bought_from = writers.frequencies_from("central").toarray()
    assert not list(dead.iterdir())
    first, second = drawings
    assert first.secret != second.secret
    assert len(ledger.spends(ledger.key_names(job.request).corpus)) == 1
    assert not list(tmp_path.glob("ledger.outputs/*.drawing"))
    assert not [path for path in out.iterdir() if path.name.endswith(".part")]
    assert audit_release(out).holds
    ledger.close()
    check_sums(spark, out, address)
    inputs = replace(inputs, corpus=POSTS.select(["text"]))
    embedded, declared = inputs.load(inputs.open())
    assert Job(embedded, job.plan, declared).request.id == job.request.id
    assert isinstance(embedded.counts, sparse.csr_array)
    assert bought_from.tolist() == [embedded.counts.sum(axis=0).tolist()]
    expected = [
        keys.add_noise(block, embedded.counts[block.first_document : end])
        for block, end in zip(blocks, [b.first_document for b in blocks[1:]] + [120], strict=True)
    ]
    assert not (load_release(out).counts - sparse.vstack(expected)).nnz


def test_sums_of_a_single_row_are_their_caller_s_to_change(spark: Spark) -> None:
    packed = np.array([0.0, 1.0]).tobytes().hex()
    for rows in (1, 2):
        (sums,) = added_up(spark.range(rows).selectExpr(f"unhex('{packed}') AS sums"), sums="<f8")
        sums += 1
        assert sums.tolist() == [1, 1 + rows]


def test_what_cannot_be_removed_is_told(
    spark: Spark, mounted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SparkStore(spark, "viewfs://test/mounted/kept")
    store.write("shard", b"noise")

    class Refusing:
        def __getattr__(self, name: str) -> object:
            return getattr(sound, name)

        def delete(self, *_: object) -> bool:
            return False

    sound = store._system
    with monkeypatch.context() as patched, pytest.raises(InputError, match="cannot remove shard"):
        patched.setattr(store, "_system", Refusing())
        store.remove("shard")
    assert (mounted / "kept" / "shard").exists()
    store.remove("shard")
    # What is not there need not be removed.
    store.remove("shard")
    assert store.names() == []


def _noting(drawings: list[Drawing]) -> Callable[..., Drawing]:
    sound = sharded_job.new_drawing

    def drawn(plan: ReleasePlan, writers: ShardWriters) -> Drawing:
        drawings.append(sound(plan, writers))
        return drawings[-1]

    return drawn


def _die(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_worker_s_sentence_reaches_the_caller(spark: Spark, tmp_path: Path) -> None:
    late = POSTS.set_column(1, "time", pa.array([None] * len(POSTS), POSTS["time"].type))
    with pytest.raises(CorpusError, match="120 rows read, 0 kept"):
        assess_files(
            spark, str(written(tmp_path / "p", late)), str(tmp_path / "r"), PLAN, ReadOptions()
        )
