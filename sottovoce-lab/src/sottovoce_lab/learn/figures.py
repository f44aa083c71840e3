"""Figures 1, 2 and 3: the pipeline, the blind intermediary and the peers, drawn from what ran.

Parties run as processes on this machine; every arrow between them stands for messages of their
transcripts, with the bytes that were sent.
"""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from sottovoce.federation.config import FeatureSettings, TrainingSettings
from sottovoce.federation.party.control import PartyProcesses, prepare, running_parties
from sottovoce.federation.setup import SetupPlan
from sottovoce.learn.documents import Documents
from sottovoce.report.page import COLOURS, INK, Plot, new_figure
from sottovoce.report.result import Row, StudyResult
from sottovoce_lab.learn.data import made_up_documents
from sottovoce_lab.options import StudyOptions

_PALE = {COLOURS[0]: "#dcecec", COLOURS[1]: "#fae6d6", COLOURS[2]: "#e2eef8", COLOURS[4]: "#ece4f2"}
PEER, COORDINATOR, KEY_HOLDER, INTERMEDIARY = (COLOURS[at] for at in (0, 2, 1, 4))


class Box(NamedTuple):
    """A party or a step: where its middle is, how large it is, and what it says."""

    x: float
    y: float
    text: str
    colour: str = PEER
    width: float = 1.7
    height: float = 0.8


class Arrow(NamedTuple):
    """From one box to another; dashed if it crosses a network.

    ``place`` says where along the arrow its words stand, ``aside`` how far beside it. ``ends`` are
    places on the lower or upper edges of the two boxes, right of their middles; without them the
    arrow runs between the middles.
    """

    source: str
    target: str
    text: str
    dashed: bool = True
    bend: float = 0.0
    place: float = 0.5
    aside: tuple[float, float] = (0.0, 0.0)
    ends: tuple[float, float] | None = None
    colour: str = INK


class Canvas(NamedTuple):
    """The size of a drawing in inches, and its range of coordinates."""

    width: float
    height: float
    right: float
    top: float


def network_plot(
    canvas: Canvas,
    boxes: Mapping[str, Box],
    arrows: Sequence[Arrow],
    *,
    finding: str,
    description: str,
) -> Plot:
    """A drawing of boxes and arrows."""
    figure, axes = new_figure(canvas.width, canvas.height)
    axes.set(xlim=(0, canvas.right), ylim=(0, canvas.top))
    axes.set_axis_off()
    for arrow in arrows:
        _draw_arrow(axes, boxes, arrow)
    for box in boxes.values():
        _draw_box(axes, box)
    return Plot(figure, finding, description)


def _draw_box(axes: Axes, box: Box) -> None:
    corner = (box.x - box.width / 2, box.y - box.height / 2)
    patch = FancyBboxPatch(
        corner,
        box.width,
        box.height,
        boxstyle="round,pad=0.02,rounding_size=0.08",
        facecolor=_PALE[box.colour],
        edgecolor=box.colour,
        linewidth=1.2,
        zorder=3,
    )
    axes.add_patch(patch)
    axes.text(
        box.x, box.y, box.text, ha="center", va="center", fontsize=9, linespacing=1.35, zorder=4
    )


def _draw_arrow(axes: Axes, boxes: Mapping[str, Box], arrow: Arrow) -> None:
    source, target = boxes[arrow.source], boxes[arrow.target]
    if arrow.ends is None:
        begin, end = _edge(source, target), _edge(target, source)
    else:
        begin = _on_edge(source, target, arrow.ends[0])
        end = _on_edge(target, source, arrow.ends[1])
    patch = FancyArrowPatch(
        begin,
        end,
        arrowstyle="-|>",
        mutation_scale=11,
        connectionstyle=f"arc3,rad={arrow.bend}",
        linestyle=(0, (4, 2.5)) if arrow.dashed else "-",
        color=arrow.colour,
        linewidth=0.9,
        shrinkA=2,
        shrinkB=2,
        zorder=2,
    )
    axes.add_patch(patch)
    if arrow.text:
        _draw_words(axes, begin, end, arrow)


def _draw_words(
    axes: Axes, begin: tuple[float, float], end: tuple[float, float], arrow: Arrow
) -> None:
    # The middle of an arc lies beside its chord by half the bend.
    across = 2 * arrow.bend * arrow.place * (1 - arrow.place)
    run, rise = end[0] - begin[0], end[1] - begin[1]
    x = begin[0] + run * arrow.place + across * rise + arrow.aside[0]
    y = begin[1] + rise * arrow.place - across * run + arrow.aside[1]
    background = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
    axes.text(
        x, y, arrow.text, ha="center", va="center", fontsize=8.5, zorder=5, bbox=background,
        linespacing=1.25,
    )  # fmt: skip


def _on_edge(box: Box, other: Box, right: float) -> tuple[float, float]:
    up = 1 if other.y > box.y else -1
    return box.x + right, box.y + up * (box.height / 2 + 0.03)


def _edge(box: Box, other: Box) -> tuple[float, float]:
    """Where the line between two boxes' middles leaves the first."""
    run, rise = other.x - box.x, other.y - box.y
    half_width, half_height = box.width / 2 + 0.03, box.height / 2 + 0.03
    scale = min(
        half_width / abs(run) if run else float("inf"),
        half_height / abs(rise) if rise else float("inf"),
    )
    return box.x + run * scale, box.y + rise * scale


_UNIT = 1000.0


class Flow(NamedTuple):
    """All messages of one kind from one party to another."""

    sender: str
    receiver: str
    kind: str
    messages: int
    bytes: int
    what: str


def flows(parties: PartyProcesses) -> list[Flow]:
    """Everything that the parties of a federation have sent so far, as they tell it."""
    found: dict[tuple[str, ...], Flow] = {}
    for name in parties.processes:
        own = name.replace("key-holder", "key holder")
        for line in parties.ask(name, do="transcript"):
            key = (line["sender"], line["receiver"], line["kind"])
            if key[0] == own:
                known = found.get((*key, line["means"]), Flow(*key, 0, 0, line["means"]))
                found[*key, line["means"]] = known._replace(
                    messages=known.messages + 1, bytes=known.bytes + line["bytes"]
                )
    return list(found.values())


def total(listed: Iterable[Flow], sender: str | None = None, receiver: str | None = None) -> int:
    """Bytes from one party, to one party, or both."""
    return sum(
        flow.bytes
        for flow in listed
        if sender in (None, flow.sender) and receiver in (None, flow.receiver)
    )


def of_kind(listed: Sequence[Flow], kind: str, **ends: str) -> int:
    """Bytes of one kind between two parties."""
    return total([flow for flow in listed if flow.kind == kind], **ends)


def size_in_words(count: float) -> str:
    """850 B, 12.3 kB, 4.5 MB."""
    if count < _UNIT:
        return f"{count:.0f} B"
    for unit in ("kB", "MB"):
        count /= _UNIT
        if count < _UNIT:
            return f"{count:,.1f} {unit}"
    return f"{count / _UNIT:,.1f} GB"


NAMES = ("ada", "ben", "cy", "dee")
KEY_BITS, FEW = 2048, 30
SHOWN = ("figure", "sender", "receiver", "kind", "messages", "bytes")
HOLDER = "key holder"


def run_learn_figures(options: StudyOptions) -> StudyResult:
    """Figures 1 to 3 drawn from what ran: who sent whom what, in bytes.

    Train twice, and draw what was sent.
    """
    documents, width = (200, 20) if options.quick else (options.documents or 1000, 100)
    peers = {name: made_up_documents(documents, at) for at, name in enumerate(NAMES)}
    trained = _train_flows(peers, TrainingSettings(penalty=0.1), width)
    few = {name: each.part(np.arange(len(each)) < FEW) for name, each in [*peers.items()][:3]}
    mixed = _train_flows(
        few, TrainingSettings(intermediary=True, key_bits=KEY_BITS, penalty=0.1, rados=40), width=10
    )
    plots = (pipeline(trained, documents, width), blind(mixed, few), architecture(trained, peers))
    rows = [*_rows("1 and 3", trained), *_rows("2", mixed)]
    return StudyResult(tuple(rows), plots, SHOWN, _notes(), wide=("what",))


def architecture(sent: Sequence[Flow], peers: Iterable[str]) -> Plot:
    """All parties, and what goes between them.

    Private Text Classification, Figure 3.
    """
    names = list(peers)
    step = 2.35
    middle = step * len(names) / 2
    boxes = {
        "coordinator": Box(middle, 3.9, "coordinator\nadds what it cannot read", COORDINATOR, 3.0)
    }
    arrows = []
    for at, name in enumerate(names):
        text = f"{name}\ntexts → rows → sums,\nmasked"
        boxes[name] = Box(step * (at + 0.5), 0.75, text, PEER, 2.1, 0.95)
        arrows += _of_peer(sent, name, at - (len(names) - 1) / 2)
    gave = sum(of_kind(sent, "masked", sender=name) for name in names)
    finding = (
        f"{len(names)} peers sent the coordinator {size_in_words(gave)} of masked sums, which "
        "it cannot read one by one, and one another nothing."
    )
    canvas = Canvas(9.2, 4.6, step * len(names), 4.6)
    return network_plot(canvas, boxes, arrows, finding=finding, description=_add_source(finding))


def _of_peer(sent: Sequence[Flow], name: str, place: float) -> list[Arrow]:
    """Up and down to the coordinator; words above the peer."""
    up = size_in_words(total(sent, name, "coordinator"))
    down = size_in_words(total(sent, "coordinator", name))
    at = 0.35 * place
    return [
        Arrow(name, "coordinator", f"↑ {up}", place=0.12, ends=(-0.12, at - 0.12)),
        Arrow("coordinator", name, f"↓ {down}", place=0.88, ends=(at + 0.12, 0.12),
              colour=COORDINATOR),
    ]  # fmt: skip


def pipeline(sent: Sequence[Flow], documents: int, width: int) -> Plot:
    """From a peer's texts to what leaves it.

    Private Text Classification, Figure 1.
    """
    name = NAMES[0]
    sums = of_kind(sent, "masked", sender=name)
    rest = total(sent, name) - sums
    boxes = {
        "texts": Box(1.0, 2.0, f"{documents:,} texts\nwith labels"),
        "rows": Box(3.5, 2.0, f"rows of\n{width} numbers"),
        "sums": Box(6.0, 2.0, "supports, and\nsums of x, y, xy, xx'"),
        "hidden": Box(8.5, 2.0, f"masked\n{size_in_words(sums)}"),
        "coordinator": Box(8.5, 0.5, "coordinator", COORDINATOR, height=0.6),
        "model": Box(3.5, 0.5, "classifier\nat the peer", height=0.6),
    }
    told = total(sent, "coordinator", name)
    arrows = [
        Arrow("texts", "rows", "words,\nwhich ones\ncount", aside=(0, 0.55)),
        Arrow("rows", "sums", "add up", dashed=False, aside=(0, 0.25)),
        Arrow("sums", "hidden", "add\nmasks", dashed=False, aside=(0, 0.35)),
        Arrow("hidden", "coordinator", f"{size_in_words(sums)}"),
        Arrow("coordinator", "model", f"dictionary, supports, theta: {size_in_words(told)}"),
    ]
    finding = (
        f"Of {documents:,} texts nothing leaves {name} but {size_in_words(sums)} of masked sums "
        f"and {size_in_words(rest)} by which the peers agree on terms, words, labels and keys."
    )
    canvas = Canvas(9.2, 2.9, 9.5, 3.0)
    return network_plot(canvas, boxes, arrows, finding=finding, description=_add_source(finding))


def blind(sent: Sequence[Flow], peers: Mapping[str, Documents]) -> Plot:
    """The owner encrypts, the intermediary mixes blindly, the key holder opens.

    Private Text Classification, Figure 2.
    """
    owner = next(iter(peers))
    has = f"{owner}\nhas {len(peers[owner])} texts,\nno key"
    boxes = {
        owner: Box(1.3, 2.3, has, PEER, 2.0, 1.0),
        "intermediary": Box(
            4.9, 2.3, "intermediary\nhas signatures,\nno key", INTERMEDIARY, 2.0, 1.0
        ),
        HOLDER: Box(8.5, 2.3, "key holder\nhas the key,\nno signature", KEY_HOLDER, 2.0, 1.0),
    }
    rows = size_in_words(of_kind(sent, "examples", sender=owner))
    rados = size_in_words(of_kind(sent, "rados", sender="intermediary") // len(peers))
    key = size_in_words(of_kind(sent, "key", receiver=owner))
    model = size_in_words(of_kind(sent, "model", receiver=owner))
    arrows = [
        Arrow(owner, "intermediary", f"rows, encrypted\n{rows}", aside=(0, 0.32)),
        Arrow("intermediary", HOLDER, f"rados, encrypted\n{rados}", aside=(0, 0.32)),
        Arrow(HOLDER, owner, f"public key {key}, classifier {model}", bend=-0.28, ends=(0, 0),
              colour=KEY_HOLDER),
    ]  # fmt: skip
    finding = (
        f"The intermediary gets {rows} of {owner}'s rows under a key that it does not have, and "
        f"passes on {rados}: mixtures, whose signatures the key holder never sees."
    )
    canvas = Canvas(9.2, 2.9, 9.8, 3.0)
    return network_plot(canvas, boxes, arrows, finding=finding, description=_add_source(finding))


def _train_flows(peers: dict[str, Documents], training: TrainingSettings, width: int) -> list[Flow]:
    features = FeatureSettings(width=width, buckets=4096, candidates=400)
    with tempfile.TemporaryDirectory(prefix="sottovoce-") as folder:
        root = Path(folder) / "all"
        prepare(root, peers, SetupPlan(tuple(peers), training, features=features))
        with running_parties(root) as parties:
            return _list_flows(parties)


def _list_flows(parties: PartyProcesses) -> list[Flow]:
    parties.ask("coordinator", do="train")
    parties.settle()
    return flows(parties)


def _rows(figure: str, sent: Sequence[Flow]) -> list[Row]:
    return [{"figure": figure, **flow._asdict()} for flow in sent]


def _add_source(finding: str) -> str:
    return f"A drawing of boxes for parties and arrows for what they send. {finding}"


def _notes() -> tuple[str, ...]:
    told = "Every number of bytes is a sum over the parties' own transcripts of a run between "
    key = (
        "The paper's coordinator has the key of the sums; here masks hide them, so that who adds "
        "up reads the total only. The paper's intermediary stands beside each peer; here one "
        "serves all."
    )
    return (
        "Dashed arrows cross a network, solid ones stay at their party, as in the paper.",
        told + "processes on this machine; the texts are made up.",
        key,
    )
