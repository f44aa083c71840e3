"""Ranks that Spark wrote are read like any others."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sottovoce.assess.evaluation.metrics import read_ranks


def test_a_folder_of_ranks_is_read_in_the_order_of_its_parts(tmp_path: Path) -> None:
    for number in (1, 0):
        row = {"measure": ["bow"], "user": [f"u{number}"], "topic": ["t"], "score": [1.0]}
        pq.write_table(pa.table(row), tmp_path / f"part-0000{number}-x.zstd.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "._SUCCESS.crc").write_bytes(b"crc")
    assert read_ranks(tmp_path)["user"].to_pylist() == ["u0", "u1"]
