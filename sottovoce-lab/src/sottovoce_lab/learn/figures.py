"""Figures 1, 2 and 3: the pipeline, the blind intermediary and the peers, drawn from what ran.

Parties run as processes on this machine; every arrow between them stands for messages of their
transcripts, with the bytes that were sent.
"""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce.federation.config import FeatureSettings, TrainingSettings
from sottovoce.federation.party.control import PartyProcesses, prepare, running_parties
from sottovoce.federation.setup import SetupPlan
from sottovoce.learn.documents import Documents
from sottovoce.report.page import Plot
from sottovoce.report.result import Row, StudyResult
from sottovoce_lab.learn._data import made_up_documents
from sottovoce_lab.learn.network import (
    COORDINATOR,
    INTERMEDIARY,
    KEY_HOLDER,
    PEER,
    Arrow,
    Box,
    Canvas,
    Flow,
    flows,
    network_plot,
    of_kind,
    size_in_words,
    total,
)
from sottovoce_lab.options import StudyOptions

NAMES = ("ada", "ben", "cy", "dee")
KEY_BITS = 2048
SHOWN = ("figure", "sender", "receiver", "kind", "messages", "bytes")
HOLDER = "key holder"


def run_learn_figures(options: StudyOptions) -> StudyResult:
    """Figures 1 to 3 drawn from what ran: who sent whom what, in bytes.

    Train twice, and draw what was sent.
    """
    documents, width = (200, 20) if options.quick else (options.documents or 1000, 100)
    peers = {name: made_up_documents(documents, at) for at, name in enumerate(NAMES)}
    trained = _train_flows(peers, TrainingSettings(penalty=0.1), width)
    few = {name: each.part(_first(each, 30)) for name, each in [*peers.items()][:3]}
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


def _first(documents: Documents, count: int) -> NDArray[np.bool_]:
    return np.arange(len(documents)) < count


def _rows(figure: str, sent: Sequence[Flow]) -> list[Row]:
    return [
        {
            "figure": figure,
            "sender": flow.sender,
            "receiver": flow.receiver,
            "kind": flow.kind,
            "messages": flow.messages,
            "bytes": flow.bytes,
            "what": flow.means,
        }
        for flow in sent
    ]


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
