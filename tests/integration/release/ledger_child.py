"""A process that uses a ledger until it is killed; run by test_ledger_crashes.

It publishes what the ledger returned, and asks again for the last requests, whose bytes must then
be the published ones.
"""

import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path

from sottovoce.errors import BudgetError, SottovoceError
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.accounts import SpendRequest
from sottovoce.privacy.ledger.documents import DocumentSet
from sottovoce.privacy.ledger.ledger import Ledger

CORPUS = "corpus"
TEXTS = tuple(f"note {i}" for i in range(20))
DOCUMENTS = DocumentSet.of_texts(TEXTS)
PIECES = 4


def request(name: str, epsilon: str) -> SpendRequest:
    return SpendRequest(name, CORPUS, LimitedPrecision(1, epsilon), documents=DOCUMENTS)


def draw(path: Path) -> None:
    with path.open("wb") as file:
        for _ in range(PIECES):
            file.write(os.urandom(8192))
            file.flush()


def publish(folder: Path, name: str, released: bytes) -> None:
    target = folder / name
    if target.exists() and target.read_bytes() != released:
        sys.exit("published bytes would change")
    unfinished = folder / f".{name}"
    unfinished.write_bytes(released)
    unfinished.replace(target)


def release_until(last: int, path: Path, folder: Path) -> None:
    ledger = Ledger(path)
    print("ready", flush=True)  # noqa: T201 - the parent waits for it
    first = max(0, len(list(folder.glob("r*"))) - 2)
    for i in range(first, last):
        output = ledger.release(request(f"r{i}", "1/1000"), draw).output
        assert output is not None
        publish(folder, f"r{i}", output.path.read_bytes())


def race(path: Path, name: str) -> None:
    ledger = Ledger(path, create=True)
    ledger.set_budget(CORPUS, LimitedPrecision(1, 5), DOCUMENTS)
    with suppress(BudgetError):
        for i in range(10):
            ledger.release(request(f"{name}-{i}", "1/10"), draw)


def overlap(path: Path, name: str) -> None:
    """Release the same documents and one more, which makes them another corpus."""
    ledger = Ledger(path, create=True)
    own = DocumentSet.of_texts([*TEXTS, name])
    ledger.set_budget(name, LimitedPrecision(1, 2), own)
    with suppress(BudgetError):
        for i in range(10):
            asked = LimitedPrecision(1, "1/10")
            ledger.release(SpendRequest(f"{name}-{i}", name, asked, documents=own), draw)


def on_a_full_disk(path: Path, limit: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    ledger = Ledger(path) if limit > 1 << 16 else None
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        (ledger or Ledger(path)).release(request("full", "1/10"), _draw_much)
    except SottovoceError as error:
        sys.exit(f"refused: {error}")


def _draw_much(path: Path) -> None:
    print("drawing", flush=True)  # noqa: T201 - the parent looks for it
    path.write_bytes(bytes(1 << 22))


if __name__ == "__main__":
    what, ledger_path, argument, *rest = sys.argv[1:]
    if what == "release":
        release_until(int(argument), Path(ledger_path), Path(rest[0]))
    elif what in {"race", "overlap"}:
        (race if what == "race" else overlap)(Path(ledger_path), argument)
    else:
        on_a_full_disk(Path(ledger_path), int(argument))
