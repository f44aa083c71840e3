"""What two checkouts put out is compared line by line, whatever the format."""

import sqlite3
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.tools import loaded_tool

predictable_bytes = loaded_tool("golden_child").predictable_bytes
for name in ("walks", "golden_steps"):
    loaded_tool(name)
golden = loaded_tool("golden_outputs")


def two_folders(tmp_path: Path, before: dict[str, str], after: dict[str, str]) -> list[Path]:
    for place, texts in (("before", before), ("after", after)):
        (tmp_path / place).mkdir()
        for name, text in texts.items():
            (tmp_path / place / name).write_text(text, encoding="utf-8")
    return [tmp_path / "before", tmp_path / "after"]


def test_equal_outputs_do_not_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert golden.compare(*two_folders(tmp_path, {"a": "same\n"}, {"a": "same\n"})) == 0
    assert capsys.readouterr().out == "1 outputs are equal, 0 differ.\n"


def test_first_differing_lines_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = two_folders(tmp_path, {"a": "x\ny\n", "gone": "z"}, {"a": "x\nw\n", "new": "z"})
    assert golden.compare(*folders) == 3
    said = capsys.readouterr().out.splitlines()
    assert said[:4] == ["== a", "@@ -2 +2 @@", "-y", "+w"]
    assert said[4:8] == ["== gone", "missing after", "== new", "missing before"]


def test_a_changed_value_is_seen_in_every_format(tmp_path: Path) -> None:
    texts = []
    for value in (1, 2):
        folder = tmp_path / str(value)
        folder.mkdir()
        np.savez(folder / "a.npz", counts=np.full(3, value))
        pq.write_table(pa.table({"score": [value]}), folder / "b.parquet")
        store = sqlite3.connect(folder / "c.ledger")
        store.execute("CREATE TABLE spent (epsilon)")
        store.execute("INSERT INTO spent VALUES (?)", (value,))
        store.commit()
        store.close()
        (folder / "d.bin").write_bytes(bytes([255, value]))
        texts.append([golden.as_text(path) for path in sorted(folder.iterdir())])
    assert all(before != after for before, after in zip(*texts, strict=True))


def test_the_same_seed_gives_the_same_bytes() -> None:
    one, same, other = (predictable_bytes(seed) for seed in "aab")
    assert one(8) == same(8) != other(8)
    assert one(8) != predictable_bytes("a")(8)
