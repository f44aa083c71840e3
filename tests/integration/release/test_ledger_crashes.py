"""Processes are killed, race each other and run out of disk: the ledger stays true."""

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from support.warm_python import WarmPopen

from sottovoce.errors import InputError
from sottovoce.files import file_digest
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.accounts import SpendRequest
from sottovoce.privacy.ledger.documents import DocumentSet
from sottovoce.privacy.ledger.ledger import Ledger

CHILD = Path(__file__).with_name("ledger_child.py")
CORPUS = "corpus"
DOCUMENTS = DocumentSet.of_texts(f"note {i}" for i in range(20))


def start(*arguments: str) -> subprocess.Popen[str]:
    return WarmPopen(
        [sys.executable, str(CHILD), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(*children: subprocess.Popen[str]) -> None:
    for child in children:
        assert child.communicate()[1] == ""
        assert child.returncode == 0


def new_ledger(path: Path, epsilon: int) -> None:
    ledger = Ledger(path, create=True)
    ledger.set_budget(CORPUS, LimitedPrecision(1, epsilon), DOCUMENTS)
    ledger.close()


def kill_at_random(path: Path, published: Path, chooser: random.Random) -> None:
    child = start("release", str(path), "100000", str(published))
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(chooser.uniform(0, 0.08))
    child.kill()
    _, complaints = child.communicate()
    assert not complaints


def check_truth(path: Path, published: Path) -> None:
    """Nothing lost, nothing spent twice, nothing published without a committed spend."""
    ledger = Ledger(path)
    spends = {spend.request.id: spend for spend in ledger.spends(CORPUS)}
    assert ledger.account(CORPUS).spent == Fraction(len(spends), 1000)
    assert len({spend.id for spend in spends.values()}) == len(spends)
    names = {file.name for file in published.glob("r*")}
    assert names <= set(spends)
    assert len(spends) - len(names) <= 1
    for name in names:
        output = spends[name].output
        assert output is not None
        assert file_digest(output.path) == output.sha256 == file_digest(published / name)


@pytest.mark.parametrize("kills", [20, pytest.param(500, marks=pytest.mark.long)])
def test_kills_lose_nothing_and_spend_nothing_twice(tmp_path: Path, kills: int) -> None:
    path, published = tmp_path / "ledger.sqlite", tmp_path / "published"
    published.mkdir()
    new_ledger(path, 1000)
    chooser = random.Random(kills)
    for _ in range(kills):
        kill_at_random(path, published, chooser)
        check_truth(path, published)
    done = len(list(published.glob("r*")))
    assert done > kills // 4
    finish(start("release", str(path), str(done + 3), str(published)))
    check_truth(path, published)
    assert not list(tmp_path.glob("*.outputs/.*"))


def test_sixteen_racing_processes_spend_the_budget_exactly(tmp_path: Path) -> None:
    """None of them finds the ledger made, and together they want three times its budget."""
    path = tmp_path / "ledger.sqlite"
    finish(*[start("race", str(path), f"p{i}") for i in range(16)])
    ledger = Ledger(path)
    assert ledger.account(CORPUS).rest == 0
    spends = ledger.spends(CORPUS)
    assert len(spends) == 50
    assert all(spend.output is not None for spend in spends)


@pytest.mark.parametrize("processes", [4, pytest.param(16, marks=pytest.mark.long)])
def test_processes_with_overlapping_corpora_spend_a_documents_budget_exactly(
    tmp_path: Path, processes: int
) -> None:
    path = tmp_path / "ledger.sqlite"
    finish(*[start("overlap", str(path), f"p{i}") for i in range(processes)])
    accounts = Ledger(path).accounts()
    spends = [spend for account in accounts for spend in Ledger(path).spends(account.corpus)]
    assert len(spends) == 20
    for account in accounts:
        shared, own = sorted(account.groups, key=lambda group: -group.documents)
        assert (shared.documents, own.documents) == (20, 1)
        assert shared.spent == 2
        assert own.spent == Fraction(sum(s.request.corpus == account.corpus for s in spends), 10)


def test_processes_with_one_request_draw_once(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    finish(*[start("race", str(path), "same") for _ in range(4)])
    ledger = Ledger(path)
    assert len(ledger.spends(CORPUS)) == 10
    assert ledger.account(CORPUS).spent == 1
    for spend in ledger.spends(CORPUS):
        assert spend.output is not None
        assert file_digest(spend.output.path) == spend.output.sha256


def test_a_disk_too_full_for_the_ledger_spends_and_draws_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    new_ledger(path, 5)
    out, complaints = start("full", str(path), "8192").communicate()
    assert "refused: the ledger" in complaints
    assert out == ""
    assert Ledger(path).spends(CORPUS) == []


def test_a_disk_too_full_for_the_output_releases_nothing_and_can_be_retried(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    new_ledger(path, 5)
    out, complaints = start("full", str(path), str(1 << 20)).communicate()
    assert "refused: cannot write" in complaints
    assert out == "drawing\n"
    ledger = Ledger(path)
    (spend,) = ledger.spends(CORPUS)
    assert spend.output is None
    assert not list(tmp_path.glob("*.outputs/*.bin"))
    ledger.release(spend.request, draw)
    assert ledger.account(CORPUS).spent == Fraction(1, 10)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting a small disk needs more rights than this process has")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)  # noqa: S607 - as above


def fill_up(path: Path) -> None:
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(512))


def draw(path: Path) -> None:
    path.write_bytes(b"noise")


def test_a_disk_that_is_really_full_refuses(small_disk: Path) -> None:
    path = small_disk / "ledger.sqlite"
    new_ledger(path, 5)
    ledger = Ledger(path)
    fill_up(small_disk / "filler")
    drawn: list[Path] = []
    with pytest.raises(InputError):
        ledger.release(SpendRequest("x", CORPUS, LimitedPrecision(1, 1)), drawn.append)
    assert not drawn
    (small_disk / "filler").unlink()
    assert ledger.spends(CORPUS) == []
    ledger.release(SpendRequest("x", CORPUS, LimitedPrecision(1, 1)), draw)
    assert ledger.account(CORPUS).spent == 1


@pytest.mark.long
def test_a_hundred_spends_a_second(tmp_path: Path) -> None:
    """As fast as the disk flushes; the best of three, since other work shares it."""
    path = tmp_path / "ledger.sqlite"
    new_ledger(path, 1000)
    ledger = Ledger(path)
    best = 0.0
    for attempt in range(3):
        begin = time.perf_counter()
        for i in range(200):
            ledger.commit(SpendRequest(f"{attempt}-{i}", CORPUS, LimitedPrecision(1, "1/1000")))
        best = max(best, 200 / (time.perf_counter() - begin))
    assert best >= 100
