"""Toy federations as nodes of this process, over real sockets and TLS."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sottovoce.federation._node.dispatcher import Machines
from sottovoce.federation._node.node import Node
from sottovoce.federation.certificates import Authority
from sottovoce.federation.roster import Roster
from sottovoce.federation.transport.frames import Settings
from support.federations import JOURNAL_KEY, ToySum, ToyTraining, enrol, roster_of
from support.ports import free_ports

Events = list[tuple[str, dict[str, object]]]


Toy = ToyTraining | ToySum


class Enrolled:
    """Certificates and addresses of a training's parties, and a list of all that they log."""

    def __init__(self, training: Toy, folder: Path) -> None:
        self.training, self.folder = training, folder
        self.authority = Authority.new("authority")[0]
        self.held = {name: enrol(name, self.authority) for name in training.names}
        self.ports = dict(zip(training.names, free_ports(len(training.names)), strict=True))
        self.events: Events = []

    @property
    def roster(self) -> Roster:
        """Who takes part."""
        return roster_of(self.held, self.ports)

    def node(self, name: str, *, machines: Machines | None = None, **options: Any) -> Node:  # noqa: ANN401 - of Settings
        """A party that has not started."""
        toy = self.training
        return Node(
            name,
            self.roster,
            self.held[name],
            journal=self.folder / f"{name}.journal",
            journal_key=JOURNAL_KEY,
            machines=machines
            or Machines(toy.made, toy.result, terms_without=getattr(toy, "without", None)),
            settings=Settings(**options),
            log=lambda event, /, **fields: self.events.append((event, fields)),
        )


@contextmanager
def federation(training: Toy, folder: Path, **options: Any) -> Iterator[dict[str, Node]]:  # noqa: ANN401 - of Settings
    """All parties of a training, at work."""
    enrolled = Enrolled(training, folder)
    with ExitStack() as stack:
        yield {name: stack.enter_context(enrolled.node(name, **options)) for name in training.names}
