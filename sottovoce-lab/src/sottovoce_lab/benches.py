"""All benches by name, as `sottovoce bench` runs them."""

import math
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sottovoce.errors import ParameterError
from sottovoce.parsing import check_choice
from sottovoce.report.page import ACCENT, INK, Plot, new_figure
from sottovoce.report.result import StudyResult, write_study
from sottovoce_lab.bench.rows import BenchRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sottovoce.report.result import Row

_NOBODY = "No peer was at hand: there is nothing to compare with."


def bench_result(rows: "Sequence[BenchRow]") -> StudyResult:
    """All rows, and a bar for each that has a ratio."""
    compared = [row for row in rows if row["ratio"] is not None]
    return StudyResult(
        rows=tuple(cast("Row", dict(row)) for row in rows),
        plots=(_ratios(compared),) if compared else (),
        shown=("case", "unit", "ours", "peer", "theirs", "ratio"),
        notes=("A ratio above 1 means that ours is better.",) if compared else (_NOBODY,),
    )


def _ratios(rows: "Sequence[BenchRow]") -> Plot:
    figure, axes = new_figure(height=1.2 + 0.3 * len(rows))
    named = [f"{row['case']}: {row['peer']}" for row in rows]
    ratios = [row["ratio"] or 0.0 for row in rows]
    axes.barh(range(len(rows)), ratios, color=ACCENT)
    axes.set_yticks(range(len(rows)), named)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.axvline(1, color=INK, linewidth=0.8)
    axes.set_xlabel("times better than the peer")
    better = sum(ratio > 1 for ratio in ratios)
    return Plot(
        figure,
        f"Ours is better in {better} of {len(rows)} comparisons.",
        "; ".join(f"{name} {ratio:.3g}" for name, ratio in zip(named, ratios, strict=True)),
    )


@dataclass(frozen=True)
class Bench:
    """A bench: what runs it, what its size means, and the packages that it compares with."""

    name: str
    unit: str
    size: float
    smallest: float
    extra: str = "release"
    peers: tuple[str, ...] = ()
    whole: bool = True

    def run(self, size: float) -> list[BenchRow]:
        """All rows at a size; what it needs is imported now."""
        module = import_module(f"sottovoce_lab.bench.{self.name}")
        measure = getattr(module, f"bench_{self.name}")
        return list(measure(int(size) if self.whole else size))

    def check_size(self, size: float | None) -> float:
        """The size that was asked for, or the usual one."""
        asked = self.size if size is None else size
        if not self.smallest <= asked < math.inf:
            raise ParameterError(
                f"--size must be at least {self.smallest:,g} {self.unit}, got {asked:,g}."
            )
        return asked

    def missing_peers(self) -> list[str]:
        """The packages that are not installed."""
        return [package for package in self.peers if find_spec(package) is None]


BENCHES = {
    each.name: each
    for each in (
        Bench("tokenize", "megabytes of text", 100, 0.01, peers=("sklearn",), whole=False),
        Bench("noise", "samples", 1e8, 1000, peers=("opendp",)),
        Bench("release", "documents", 100_000, 100, peers=("opendp",)),
        Bench("analyse", "documents", 100_000, 200, peers=("tomotopy",)),
        Bench("infer", "posts", 5000, 50, "topics", ("sklearn", "tomotopy", "gensim")),
        Bench("assess", "posts", 1_000_000, 1000, "topics", ("gensim", "pandas")),
        Bench("paillier", "values", 4371, 64, "learn", ("phe", "heu", "tenseal")),
        Bench("learn", "words", 1000, 20, "learn", ("phe",)),
        Bench("federation", "words", 1000, 20, "federation"),
        Bench("advise", "posts", 20_000, 100, "web"),
        Bench("vdaf", "reports", 1000, 20, "learn", ("gmpy2",)),
    )
}


def bench_named(name: str) -> Bench:
    """The bench of that name."""
    check_choice("bench", name, BENCHES)
    return BENCHES[name]


def list_benches() -> list[dict[str, str]]:
    """What each does by default, with which peers, and which of these are missing."""
    return [
        {
            "bench": name,
            "size": f"{each.size:,g} {each.unit}",
            "peers": ", ".join(each.peers) or "none",
            "missing": ", ".join(each.missing_peers()) or "none",
        }
        for name, each in BENCHES.items()
    ]


def draw_bench(name: str, rows: list[BenchRow], out: Path, *, command: str) -> list[Path]:
    """Write the rows, their figure and a page."""
    title = f"Ours and its peers: {BENCHES[name].unit}"
    return write_study(bench_result(rows), out, name=name, title=title, command=command)
