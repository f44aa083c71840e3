"""A release that many write: whole or none, one spend, one noise, whatever dies and when."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sottovoce_spark import sharded_job
from sottovoce_spark._noise import Block, NoiseTask
from sottovoce_spark.sharded_job import Drawing, LocalStore, release_to_shards
from sottovoce_spark.shards import Shard, describe_shard, shard_rows

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import InputError, LedgerError
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.documents import DocumentSet
from sottovoce.privacy.ledger.ledger import Ledger
from sottovoce.release.counts import Counts
from sottovoce.release.folder import CARD_FILE, SHARDS_FILE
from sottovoce.release.inputs import CountedDocuments, CountsElsewhere
from sottovoce.release.job import Job, release_to_folder
from sottovoce.release.plan import ReleasePlan, ReleaseSettings
from sottovoce.release.quote import open_account
from sottovoce.release.release import load_release

WORDS = Vocabulary.public([f"word{number}" for number in range(6)])
TRUE = np.arange(60).reshape(10, 6) % 4
DOCUMENTS = DocumentSet.of_texts(f"text {number}" for number in range(10))


class Killed(BaseException):
    """What `kill -9` is to a test in one process."""


@dataclass
class Writers:
    """Workers that live in this process; they die after so many shards."""

    store: LocalStore
    height: int = 4
    dies_after: int = 99
    drawings: list[Drawing] = field(default_factory=list)

    def store_at(self, address: str) -> LocalStore:
        return LocalStore(Path(address))

    def frequencies_from(self, prior: str) -> Counts:
        assert prior == "public"
        return sparse.csr_array((1, 6), dtype=np.int64)

    def draw(self, drawing: Drawing, plan: ReleasePlan, folder: str) -> Sequence[Shard]:
        self.drawings.append(drawing)
        # Noise that nobody can draw again is gone by the time that other noise is drawn.
        assert not list(self.store.folder.glob("counts-*"))
        (self.store.folder / folder).mkdir(parents=True)
        for place, first in enumerate(range(0, 10, self.height)):
            if place == self.dies_after:
                raise Killed
            counts = sparse.csr_array(TRUE[first : first + self.height])
            noised = work(drawing, plan).add_noise(Block(place, first, "digest"), counts)
            table = pa.Table.from_batches(list(shard_rows(first, noised)))
            pq.write_table(table, self.store.folder / folder / f"part-{place}.parquet")
        return self.find_shards(folder)

    def find_shards(self, folder: str) -> Sequence[Shard]:
        files = sorted((self.store.folder / folder).glob("*.parquet"))
        return [describe_shard(f"{folder}/{file.name}", file.read_bytes()) for file in files]


def work(drawing: Drawing, plan: ReleasePlan) -> NoiseTask:
    return NoiseTask.from_plan(drawing.secret, {}, drawing.maps, plan)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger(tmp_path / "ledger", create=True)
    yield opened
    opened.close()


def job_of(*, elsewhere: bool = True, **more: object) -> Job:
    # Whether they are here or on a cluster, the same counts are the same request.
    here = sparse.csr_array(TRUE.astype(np.int64))
    settings = ReleaseSettings(guarantee=LimitedPrecision(2, "1"), **more)  # type: ignore[arg-type]  # by name
    plan = ReleasePlan(settings, WORDS.terms)
    job = Job(CountedDocuments(here, WORDS, "corpus", documents=DOCUMENTS), plan)
    if not elsewhere:
        return job
    digests = tuple(job._counts())
    counts = CountsElsewhere(here.shape, here.nnz, digests)  # type: ignore[arg-type]  # three
    return Job(CountedDocuments(counts, WORDS, "corpus", documents=DOCUMENTS), plan)


def spends(ledger: Ledger, job: Job) -> int:
    return len(ledger.spends(ledger.key_names(job.request).corpus))


@pytest.fixture
def released(tmp_path: Path, ledger: Ledger) -> Path:
    job, store = job_of(), LocalStore(tmp_path / "out")
    open_account(ledger, job, None)
    release_to_shards(job, ledger, store, Writers(store))
    return store.folder


def test_shards_read_as_one_release(released: Path, tmp_path: Path, ledger: Ledger) -> None:
    found = load_release(released)
    assert found.counts.shape == (10, 6)
    assert (found.counts.toarray() != TRUE).any()
    assert found.card.noise_rate == "1/2"
    assert spends(ledger, job_of()) == 1
    # The secret that the noise follows from is gone.
    assert [path.suffix for path in (tmp_path / "ledger.outputs").iterdir()] == [".bin"]


@pytest.mark.parametrize("shards", [0, 1, 2, 3])
def test_a_driver_that_dies_while_shards_are_written_leaves_none_and_other_noise_replaces_them(
    shards: int, tmp_path: Path, ledger: Ledger
) -> None:
    job, store = job_of(), LocalStore(tmp_path / "out")
    open_account(ledger, job, None)
    dying, next_one = Writers(store, dies_after=shards), Writers(store)
    patched = pytest.MonkeyPatch()
    if shards == 3:
        # All of them are there, and not listed yet.
        patched.setattr(sharded_job, "list_shards", _die)
    with patched.context(), pytest.raises(Killed):
        release_to_shards(job, ledger, store, dying)
    patched.undo()
    left = {path.name: path.read_bytes() for path in store.folder.glob("counts-*/*")}
    assert len(left) == shards
    with pytest.raises(InputError, match="not finished|no readable"):
        load_release(store.folder)
    release_to_shards(job, ledger, store, next_one)
    assert dying.drawings[0].secret != next_one.drawings[0].secret
    now = {path.name: path.read_bytes() for path in store.folder.glob("counts-*/*")}
    assert len(now) == 3
    assert not {*left.values()} & {*now.values()}
    assert spends(ledger, job) == 1


def _die(*_: object) -> None:
    raise Killed


@pytest.mark.parametrize("last", [CARD_FILE, "map.npz", SHARDS_FILE])
def test_a_driver_that_dies_while_it_publishes_is_gone_on_from_without_drawing(
    last: str, tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, store = job_of(), LocalStore(tmp_path / "out")
    open_account(ledger, job, None)
    sound = LocalStore.write

    def write(self: LocalStore, name: str, content: bytes) -> None:
        if name == last:
            raise Killed
        sound(self, name, content)

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(LocalStore, "write", write)
        release_to_shards(job, ledger, store, Writers(store))
    with pytest.raises(InputError, match="not finished"):
        load_release(store.folder)
    again = Writers(store)
    release_to_shards(job, ledger, store, again)
    assert again.drawings == []
    assert load_release(store.folder).card.documents == 10
    assert spends(ledger, job) == 1


def test_the_same_request_is_answered_by_the_same_counts_on_either_engine(
    released: Path, tmp_path: Path, ledger: Ledger
) -> None:
    store = LocalStore(released)
    again = Writers(store)
    release_to_shards(job_of(), ledger, store, again)
    assert again.drawings == []
    release_to_folder(job_of(elsewhere=False), ledger, tmp_path / "copy")
    first, second = load_release(released), load_release(tmp_path / "copy")
    assert not (first.counts - second.counts).nnz
    assert first.card == second.card
    assert spends(ledger, job_of()) == 1


def test_a_request_that_one_machine_answered_is_published_as_it_was(
    tmp_path: Path, ledger: Ledger
) -> None:
    job = job_of(elsewhere=False)
    open_account(ledger, job, None)
    release_to_folder(job, ledger, tmp_path / "one")
    store = LocalStore(tmp_path / "two")
    release_to_shards(job_of(), ledger, store, Writers(store))
    one, two = (load_release(tmp_path / name) for name in ("one", "two"))
    assert not (one.counts - two.counts).nnz


def died(tmp_path: Path, ledger: Ledger, job: Job) -> LocalStore:
    """Where a driver died after it had written one shard."""
    store = LocalStore(tmp_path / "out")
    open_account(ledger, job, LimitedPrecision(2, "2"))
    with pytest.raises(Killed):
        release_to_shards(job, ledger, store, Writers(store, dies_after=1))
    assert len(list(store.folder.glob("counts-*/*"))) == 1
    return store


def test_what_a_dead_run_left_in_another_folder_goes_before_noise_is_drawn(
    tmp_path: Path, ledger: Ledger
) -> None:
    job = job_of()
    first, second = died(tmp_path, ledger, job), LocalStore(tmp_path / "elsewhere")
    release_to_shards(job, ledger, second, Writers(second))
    assert first.names() == []
    assert load_release(second.folder).card.documents == 10
    assert spends(ledger, job) == 1


def test_one_machine_removes_what_a_dead_cluster_left_before_it_draws(
    tmp_path: Path, ledger: Ledger
) -> None:
    store = died(tmp_path, ledger, job_of())
    release_to_folder(job_of(elsewhere=False), ledger, tmp_path / "one")
    assert store.names() == []
    assert not list((tmp_path / "ledger.outputs").glob("*.drawing"))
    assert spends(ledger, job_of()) == 1


@pytest.mark.parametrize(
    ("noted", "told"),
    [
        ('{"where": "s3a://b/out", "folder": "counts-0123456789abcdef"}', "--engine spark"),
        ('{"where": "/tmp", "folder": "../other"}', "cannot be read"),
        ("PK and what an earlier version kept", "cannot be read"),
    ],
)
def test_one_machine_draws_nothing_while_another_noise_may_lie_where_it_cannot_look(
    noted: str, told: str, tmp_path: Path, ledger: Ledger
) -> None:
    job = job_of(elsewhere=False)
    open_account(ledger, job, None)
    note = ledger.drawing_file(ledger.commit(ledger.key_names(job.request)))
    note.parent.mkdir()
    note.write_text(noted)
    with pytest.raises(LedgerError, match=told):
        release_to_folder(job, ledger, tmp_path / "one")
    assert not (tmp_path / "one" / CARD_FILE).exists()
    assert note.exists()


def test_nothing_is_drawn_while_the_disk_of_another_noise_is_not_there(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of()
    first, second = died(tmp_path, ledger, job), LocalStore(tmp_path / "second")
    first.folder.rename(tmp_path / "away")
    with monkeypatch.context() as patched:
        # Where the disk was is a folder of another.
        patched.setattr(sharded_job, "_device", lambda _: -1)
        writers = Writers(second)
        with pytest.raises(LedgerError, match="cannot be reached"):
            release_to_shards(job, ledger, second, writers)
        assert writers.drawings == []
    # It is there, and the folder is not: somebody removed it.
    release_to_shards(job, ledger, second, Writers(second))
    assert load_release(second.folder).card.documents == 10


@pytest.mark.parametrize("paid", [True, False])
def test_a_request_is_not_put_among_the_shards_of_another_nor_charged_for_it(
    tmp_path: Path, ledger: Ledger, paid: bool
) -> None:
    store, other = died(tmp_path, ledger, job_of()), replace(job_of(), label="once more")
    if paid:
        ledger.commit(ledger.key_names(other.request))
    with pytest.raises(InputError, match="not finished"):
        release_to_shards(other, ledger, store, Writers(store))
    assert len(list(store.folder.glob("counts-*/*"))) == 1
    assert spends(ledger, job_of()) == (2 if paid else 1)


def test_another_release_is_not_overwritten(released: Path, ledger: Ledger) -> None:
    with pytest.raises(InputError, match="another release"):
        release_to_shards(
            replace(job_of(), label="b"),
            ledger,
            LocalStore(released),
            Writers(LocalStore(released)),
        )


def test_shards_that_went_missing_after_they_were_kept_are_not_drawn_again(
    released: Path, ledger: Ledger
) -> None:
    next(released.glob("counts-*/*")).unlink()
    writers = Writers(LocalStore(released))
    with pytest.raises(LedgerError, match="missing"):
        release_to_shards(job_of(), ledger, LocalStore(released), writers)
    assert writers.drawings == []


def test_the_secret_is_nowhere_on_disk_and_the_note_of_the_folder_is_private(
    tmp_path: Path, ledger: Ledger
) -> None:
    job, store = job_of(), LocalStore(tmp_path / "out")
    open_account(ledger, job, None)
    writers = Writers(store, dies_after=1)
    with pytest.raises(Killed):
        release_to_shards(job, ledger, store, writers)
    (kept,) = (tmp_path / "ledger.outputs").glob("*.drawing")
    assert kept.stat().st_mode & 0o777 == 0o600
    drawing = writers.drawings[0]
    shown = repr(drawing) + repr(work(drawing, job.plan))
    assert repr(drawing.secret) not in shown
    ledger.close()
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert drawing.secret not in written
    assert drawing.secret.hex().encode() not in written


def _cut_short(folder: Path) -> None:
    path = next(folder.glob("counts-*/part-1*"))
    path.write_bytes(path.read_bytes()[:-9])


def _swap(folder: Path) -> None:
    one, two = sorted(folder.glob("counts-*/*"))[:2]
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


def _one_more(folder: Path) -> None:
    other = folder / f"counts-{'0' * 16}"
    other.mkdir()


def _list_changed(folder: Path) -> None:
    path = folder / SHARDS_FILE
    fields = json.loads(path.read_text())
    fields["shards"].pop()
    path.write_text(json.dumps(fields))


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (_cut_short, "missing or not what shards.json says"),
        (_swap, "missing or not what shards.json says"),
        (_one_more, "another noise of the same documents"),
        (_list_changed, "missing or not what the card says"),
    ],
)
def test_a_folder_that_is_not_what_was_released_is_refused(
    damage: object, told: str, released: Path
) -> None:
    damage(released)  # type: ignore[operator]  # a function of the folder
    with pytest.raises(InputError, match=told):
        load_release(released)


def test_a_folder_without_its_card_is_no_release(released: Path) -> None:
    (released / CARD_FILE).unlink()
    with pytest.raises(InputError, match="not finished"):
        load_release(released)
    assert sharded_job.list_unfinished(LocalStore(released))
