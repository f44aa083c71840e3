"""Parties as processes of their own, killed and started again."""

from pathlib import Path

from support.federation_processes import processes
from support.federations import ToyTraining, in_process

PEERS = ("ann", "bob", "cy")


def test_three_peers_and_a_coordinator_train_as_processes(tmp_path: Path) -> None:
    training = ToyTraining(PEERS)
    with processes(training, tmp_path) as running:
        for name in training.names:
            running.start(name)
        expected = in_process(training).hex()
        assert running.outcomes(30) == dict.fromkeys(training.names, expected)
