"""Parties that share nothing but a wire: each in a network namespace of its own."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from support.federated_folders import NAMES, kept, prepare_rows, split

from sottovoce import learn
from sottovoce.federation.config import TrainingSettings
from sottovoce.federation.party.control import running_parties

PARTIES = ("coordinator", *NAMES)
SHORT = f"sv{os.getpid() % 100_000}"
SUBNET = f"10.213.{os.getpid() % 250}"


def ip(*words: str) -> None:
    command = [str(shutil.which("ip")), *words]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def namespaces() -> Iterator[dict[str, str]]:
    """A namespace and an address for each party, all on one bridge."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and the command ip")
    with ExitStack() as undo:
        try:
            yield _wired(undo)
        except subprocess.CalledProcessError as error:
            reason = error.stderr.decode(errors="replace").strip()
            pytest.skip(f"this machine allows no network namespaces: {reason}")


def _wired(undo: ExitStack) -> dict[str, str]:
    bridge = f"{SHORT}b"
    ip("link", "add", bridge, "type", "bridge")
    undo.callback(ip, "link", "del", bridge)
    ip("link", "set", bridge, "up")
    addresses = {}
    for at, name in enumerate(PARTIES):
        space, outer, inner = f"{SHORT}-{at}", f"{SHORT}o{at}", f"{SHORT}i{at}"
        ip("netns", "add", space)
        undo.callback(ip, "netns", "del", space)
        ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", space)
        ip("link", "set", outer, "master", bridge, "up")
        addresses[name] = f"{SUBNET}.{at + 1}"
        ip("-n", space, "addr", "add", f"{addresses[name]}/24", "dev", inner)
        ip("-n", space, "link", "set", inner, "up")
        ip("-n", space, "link", "set", "lo", "up")
    return addresses


def test_parties_in_namespaces_of_their_own_train_to_the_last_bit(
    tmp_path: Path, namespaces: dict[str, str]
) -> None:
    folder = tmp_path / "all"
    chance = np.random.default_rng(3)
    rows = chance.poisson(0.7, (120, 6)).astype(float)
    given = split(rows, np.where(rows[:, 0] > rows[:, 1], "more", "less"))
    hosts = tuple(namespaces[name] for name in PARTIES)
    prepare_rows(folder, given, TrainingSettings(penalty=0.1), hosts=hosts, base_port=7443)
    within = {name: ("ip", "netns", "exec", f"{SHORT}-{at}") for at, name in enumerate(PARTIES)}
    with running_parties(folder, within=within) as parties:
        done = parties.ask("coordinator", do="train")
        parties.settle()
    assert done["status"] == "finished"
    trained = learn.train(given, penalty=0.1)
    for name in NAMES:
        found = kept(folder, name)["classifiers"][0]["coefficients"]
        assert found.tobytes() == trained.coef_[0].tobytes()
