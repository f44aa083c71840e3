"""Nodes over real sockets and mutual TLS."""

from pathlib import Path

import pytest
from support.federation_nodes import federation
from support.federations import ToyTraining, in_process
from support.hidden_systems import small_keys_allowed

from sottovoce.learn.protocols.terms import COORDINATOR

PEERS = ("ann", "bob", "cy")


@pytest.mark.parametrize("way", ["masks", "packed"])
def test_a_training_over_tls_is_the_one_in_process_bit_for_bit(way: str, tmp_path: Path) -> None:
    training = ToyTraining(PEERS, way)
    with small_keys_allowed(), federation(training, tmp_path) as nodes:
        session = nodes[COORDINATOR].propose(training.terms())
        expected = in_process(training)
        assert nodes[COORDINATOR].wait(session, 20) == expected
        for peer in PEERS:
            assert nodes[peer].wait(session, 20) == expected
