"""Who told whom how much, as a drawing: parties are boxes, what goes between them arrows.

The bytes are out of the transcripts of a federation that runs.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from sottovoce.federation.party.control import PartyProcesses
from sottovoce.report.figures import COLOURS, INK, new_figure
from sottovoce.report.page import Plot

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
    means: str
    messages: int
    bytes: int


def flows(parties: PartyProcesses) -> list[Flow]:
    """Everything that the parties of a federation have sent so far, as they tell it."""
    found: dict[tuple[str, str, str, str], tuple[int, int]] = {}
    for name in parties.processes:
        own = name.replace("key-holder", "key holder")
        for line in parties.ask(name, do="transcript"):
            if line["sender"] == own:
                key = (line["sender"], line["receiver"], line["kind"], line["means"])
                messages, size = found.get(key, (0, 0))
                found[key] = messages + 1, size + line["bytes"]
    return [Flow(*key, *counts) for key, counts in found.items()]


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
