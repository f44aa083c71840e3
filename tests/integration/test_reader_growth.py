"""No reader takes more than five times the ordinary cost for a crafted file, or it refuses it.

Run as a script it prints what every reader takes for its dearest crafted file.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from support.crafted_files import CRAFTED, ORDINARY, Maker
from support.warm_python import run_warm

SCRIPT = Path(__file__).with_name("reader_costs.py")
TIMES = 5
# What any file may take besides: what a reader sets up, and looks at before it refuses.
START_S, START_MIB = 1.0, 150
WORST = [
    ("posts.csv", "empty values"),
    ("posts.csv", "short rows"),
    ("posts.jsonl", "bad lines"),
    ("posts.jsonl", "blank lines"),
    ("posts.parquet", "tiny pages"),
    ("posts.parquet", "tiny row groups"),
    ("posts.parquet", "dictionary bomb"),
    ("posts.parquet", "delta bomb"),
    ("posts.parquet", "rows of nothing"),
    ("catalogue.toml", "dotted key"),
    ("catalogue.toml", "quoted dotted key"),
    ("roster.toml", "nested arrays"),
    ("roster.toml", "long number"),
    ("counts.npz", "claims"),
    ("counts.npz", "claimed shape"),
    ("votes.csv", "many columns"),
]


class Cost(NamedTuple):
    """What became of a file, processor seconds, and MiB that it took."""

    outcome: str
    seconds: float
    mib: int


def cost_of(folder: Path, name: str, make: Maker, size: int) -> Cost:
    """Read a file in a process of its own; one that dies has no outcome."""
    path = folder / name
    path.write_bytes(make(size))
    words = run_warm([sys.executable, str(SCRIPT), str(path)]).stdout.split()
    outcome, seconds, mib = words or ("died", "inf", "0")
    return Cost(outcome, float(seconds), int(mib))


@pytest.mark.parametrize("size", [200_000, pytest.param(2_000_000, marks=pytest.mark.long)])
@pytest.mark.parametrize(("name", "shape"), WORST)
def test_a_crafted_file_costs_little_more_than_an_ordinary_one(
    tmp_path: Path, name: str, shape: str, size: int
) -> None:
    ordinary = cost_of(tmp_path, name, ORDINARY[name], size)
    crafted = cost_of(tmp_path, name, CRAFTED[name][shape], size)
    assert crafted.outcome in {"read", "refused"}
    assert crafted.seconds < START_S + TIMES * ordinary.seconds
    assert crafted.mib < START_MIB + TIMES * ordinary.mib


def rows_of_costs(folder: Path, size: int) -> Iterator[str]:
    """For every reader its dearest crafted file, per MB of the file, beside an ordinary one."""
    for name, shapes in CRAFTED.items():
        usual = cost_of(folder, name, ORDINARY[name], size)
        per = size / 1e6
        costs = {
            shape: (cost_of(folder, name, make, size), (folder / name).stat().st_size / 1e6)
            for shape, make in shapes.items()
        }
        worst = max(costs, key=lambda shape: costs[shape][0].seconds / costs[shape][1])
        cost, crafted = costs[worst]
        times = (cost.seconds / crafted) / max(usual.seconds / per, 1e-9)
        yield (
            f"| {name} | {usual.seconds / per:.2f}, {usual.mib / per:.0f} | {worst} | "
            f"{crafted:.2f} | {cost.seconds / crafted:.2f}, {cost.mib / crafted:.0f} | "
            f"{times:.1f} | {cost.outcome} |"
        )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        for row in rows_of_costs(Path(made), 2_000_000):
            print(row, flush=True)  # noqa: T201 - a table for the page on performance
