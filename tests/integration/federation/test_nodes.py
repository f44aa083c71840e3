"""Nodes over real sockets and mutual TLS."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.federations import JOURNAL_KEY, Authority, ToyTraining, in_process, roster_of
from support.hidden_systems import small_keys_allowed
from support.ports import free_ports

from sottovoce.federation import Machines, Node, Settings
from sottovoce.learn.protocols.terms import COORDINATOR

PEERS = ("ann", "bob", "cy")


@contextmanager
def federation(training: ToyTraining, folder: Path, **options: Any) -> Iterator[dict[str, Node]]:  # noqa: ANN401 - of Settings
    authority = Authority()
    held = {name: authority.credentials(name) for name in training.names}
    ports = dict(zip(training.names, free_ports(len(training.names)), strict=True))
    roster = roster_of(held, ports)
    machines = Machines(training.made, training.result, terms_without=training.without)
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(
                Node(
                    name,
                    roster,
                    held[name],
                    journal=folder / f"{name}.journal",
                    journal_key=JOURNAL_KEY,
                    machines=machines,
                    settings=Settings(**options),
                )
            )
            for name in training.names
        }


@pytest.mark.parametrize("way", ["masks", "packed"])
def test_a_training_over_tls_is_the_one_in_process_bit_for_bit(way: str, tmp_path: Path) -> None:
    training = ToyTraining(PEERS, way)
    with small_keys_allowed(), federation(training, tmp_path) as nodes:
        session = nodes[COORDINATOR].propose(training.terms())
        expected = in_process(training)
        assert nodes[COORDINATOR].wait(session, 20) == expected
        for peer in PEERS:
            assert nodes[peer].wait(session, 20) == expected
