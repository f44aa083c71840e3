"""A Parquet file of which one byte is another is read or refused: the process goes on."""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.warm_python import WarmPopen

from sottovoce.assess import assess_posts
from sottovoce.assess.state.parts import load_state
from sottovoce.corpus.read.corpus import open_posts
from sottovoce.errors import SottovoceError

ROWS = {
    "user": ["ada", "ben", "cy"] * 4,
    "time": [f"2024-03-{day:02}" for day in range(1, 13)],
    "text": [f"my debt number {at}" for at in range(12)],
}


def posts(path: Path) -> None:
    pq.write_table(pa.table(ROWS), path, row_group_size=6)


def state(path: Path) -> None:
    assess_posts(pa.table(ROWS), measures="bow-t", state=path)


def read_posts(path: Path) -> None:
    for _ in open_posts(path):
        pass


KINDS: dict[str, tuple[Callable[[Path], None], Callable[[Path], Any], int]] = {
    "posts": (posts, read_posts, 1),
    "state": (state, load_state, 20),
}
"""How each is written and read, and of how many bytes one is changed."""
_FIRST = 1500  # bytes of a footer: what comes then is one long record


@pytest.mark.parametrize("kind", KINDS)
def test_no_changed_byte_of_a_footer_ends_the_process(tmp_path: Path, kind: str) -> None:
    """Pyarrow ended it at some of them; so a process of its own tries."""
    path = tmp_path / "given.parquet"
    KINDS[kind][0](path)
    child = WarmPopen([sys.executable, __file__, str(path), kind])
    assert child.wait(120) == 0


def changed(whole: bytes, every: int) -> Iterator[bytes]:
    """The file with one byte of its footer 0, 255, or one bit another."""
    footer = int.from_bytes(whole[-8:-4], "little")
    begin = len(whole) - 8 - footer
    for at in range(begin, begin + min(footer, _FIRST), every):
        for other in (0, 255, whole[at] ^ 1, whole[at] ^ 32):
            yield whole[:at] + bytes([other]) + whole[at + 1 :]


if __name__ == "__main__":
    given = Path(sys.argv[1])
    _, read, every = KINDS[sys.argv[2]]
    for damaged in changed(given.read_bytes(), every):
        given.write_bytes(damaged)
        with suppress(SottovoceError):
            read(given)
