"""What a training between processes costs, by the number of peers and of features.

Every point is a federation of its own: processes on this machine, over mutual TLS, each journalling
every step. Texts are made up; times depend on the machine, bytes do not.
"""

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from sottovoce.federation._config import FeatureSettings, TrainingSettings
from sottovoce.federation._setup import SetupPlan
from sottovoce.federation.party._processes import PartyProcesses, prepare, running_parties
from sottovoce.lab._options import StudyOptions
from sottovoce.lab.learn._data import made_up_documents
from sottovoce.lab.learn._network import flows, size_in_words, total
from sottovoce.report._figures import COLOURS, legend_below, new_panels
from sottovoce.report._page import Plot
from sottovoce.report._result import Row, StudyResult

KEY_BITS = 2048
WAYS = {"masks": "pairwise masks", "packed": f"packed Paillier, {KEY_BITS} bits"}
SHOWN = ("way", "peers", "features", "seconds", "megabytes", "megabytes_per_peer", "rounds")
DOCUMENTS = 250


@dataclass(frozen=True)
class Grid:
    """Which federations are tried: peers at one width, and widths with some peers."""

    peers: tuple[int, ...] = (3, 4, 6, 8)
    widths: tuple[int, ...] = (50, 100, 200, 400)
    usual_peers: int = 4
    usual_width: int = 100

    def points(self) -> list[tuple[int, int]]:
        """Peers and features of each federation, each once."""
        by_peers = [(peers, self.usual_width) for peers in self.peers]
        by_width = [(self.usual_peers, width) for width in self.widths]
        return sorted(set(by_peers + by_width))


QUICK = Grid(peers=(3,), widths=(10,), usual_peers=3, usual_width=10)


def run_learn_federation(options: StudyOptions) -> StudyResult:
    """Train at each point of the grid, and note what it took."""
    grid = QUICK if options.quick else Grid()
    documents = options.documents or (60 if options.quick else DOCUMENTS)
    rows = [row for peers, width in grid.points() for row in _trained(peers, width, documents)]
    return StudyResult(
        tuple(rows), (_plot(rows, grid),), SHOWN, _notes(documents), wide=("coordinator_megabytes",)
    )


def _trained(peers: int, width: int, documents: int) -> Iterable[Row]:
    """Both ways, one after the other, in one federation that has a key holder."""
    given = {f"peer-{at}": made_up_documents(documents, at) for at in range(peers)}
    features = FeatureSettings(width=width, buckets=1 << 14, candidates=1000)
    for way in WAYS:
        training = TrainingSettings(way=way, key_bits=KEY_BITS, penalty=0.1)  # type: ignore[arg-type] # one of the ways
        with tempfile.TemporaryDirectory(prefix="sottovoce-") as folder:
            root = Path(folder) / "all"
            prepare(root, given, SetupPlan(tuple(given), training, features=features))
            with running_parties(root) as parties:
                yield _row(parties, way, peers, width)


def _row(parties: PartyProcesses, way: str, peers: int, width: int) -> Row:
    # The first training compiles and warms up; a federation is used more than once.
    parties.asked("coordinator", do="train")
    parties.settle()
    before = flows(parties)
    done = parties.asked("coordinator", do="train")
    parties.settle()
    after = flows(parties)
    sent = total(after) - total(before)
    helpers = sum(
        total(after, name) - total(before, name) for name in ("coordinator", "key holder")
    )
    return {
        "way": WAYS[way],
        "peers": peers,
        "features": width,
        "seconds": float(done["seconds"]),
        "rounds": int(done["rounds"]),
        "megabytes": sent / 1e6,
        "megabytes_per_peer": (sent - helpers) / peers / 1e6,
        "coordinator_megabytes": (done["bytes_sent"] + done["bytes_received"]) / 1e6,
    }


def _plot(rows: Sequence[Row], grid: Grid) -> Plot:
    figure, panels = new_panels(2, 2, width=9.0, height=6.0)
    sides = (("peers", "features", grid.usual_width), ("features", "peers", grid.usual_peers))
    for column, (along, fixed, at) in enumerate(sides):
        for row, what in enumerate(("seconds", "megabytes")):
            axes = panels[2 * row + column]
            shown = [each for each in rows if each[fixed] == at]
            _draw(axes, shown, along, what)
            axes.set_xticks(sorted({_number(each, along) for each in shown}))
            highest = 1.12 * max(_number(each, what) for each in shown)
            axes.set(xlabel=along, ylabel=_axis(what), ylim=(0, highest), title=f"{at} {fixed}")
    legend_below(figure, len(WAYS))
    finding = _finding(rows)
    return Plot(figure, finding, f"Four panels of lines, one line a way of adding up. {finding}")


def _draw(axes: Axes, rows: Sequence[Row], along: str, what: str) -> None:
    for way, colour in zip(WAYS.values(), COLOURS, strict=False):
        points = sorted((_number(r, along), _number(r, what)) for r in rows if r["way"] == way)
        axes.plot(*zip(*points, strict=True), marker="o", color=colour, label=way)


def _axis(what: str) -> str:
    return "seconds" if what == "seconds" else "megabytes sent by all"


def _finding(rows: Sequence[Row]) -> str:
    largest = max(rows, key=lambda row: (_number(row, "features"), _number(row, "peers")))
    point = [r for r in rows if r["peers"] == largest["peers"] and
             r["features"] == largest["features"]]  # fmt: skip
    said = [
        f"{_number(r, 'seconds'):.1f} s and {size_in_words(_number(r, 'megabytes') * 1e6)} with "
        f"{r['way']}"
        for r in point
    ]
    return (
        f"With {largest['peers']} peers and {largest['features']} features a training takes "
        f"{' and '.join(said)}."
    )


def _number(row: Row, name: str) -> float:
    value: Any = row[name]
    return float(value)


def _notes(documents: int) -> tuple[str, ...]:
    shared = "All processes share this machine: on machines of their own peers work side by side, "
    growth = "Megabytes grow with the square of the features, since sums of xx' are added up, and "
    return (
        f"{documents} made-up texts a peer; a penalty of 0.1 agreed on beforehand.",
        "Each federation trains twice; the second training is shown, when everything is loaded.",
        shared + "and the network's delay counts once a round.",
        growth + "with the number of peers.",
    )
