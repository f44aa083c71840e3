"""Starts, kills and restarts the parties of a toy federation as processes."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sottovoce.federation.transport.frames import Proposal
from sottovoce.learn.training_terms import COORDINATOR
from support.federations import Authority, ToyTraining, roster_of
from support.ports import free_ports
from support.warm_python import WarmPopen

SCRIPT = Path(__file__).parent / "federation_process.py"
SETTINGS = {"deadline_s": 12.0, "beat_s": 0.5}


class Processes:
    """All parties of one training, each a process with files of its own."""

    def __init__(self, training: ToyTraining, folder: Path, **settings: Any) -> None:  # noqa: ANN401 - of Settings
        self.training, self.folder = training, folder
        self._settings = SETTINGS | settings
        self._running: dict[str, subprocess.Popen[str]] = {}
        self._roster = self._enrolled()
        self.restarts = 0

    def start(self, name: str) -> None:
        """Start a party, or start it again."""
        given = {
            "name": name,
            "peers": self.training.peers,
            "liar": getattr(self.training, "liar", None),
            "roster": self._roster,
            "certificate": f"{name}.certificate",
            "key": f"{name}.key",
            "authority": "authority",
            "settings": self._settings,
        }
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(given))
        with (self.folder / f"{name}.log").open("ab") as log:
            self._running[name] = WarmPopen(
                [sys.executable, str(SCRIPT), str(path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
            )

    def order(self, name: str, *words: object) -> None:
        """Tell a party something, and see it obey; it may die of it."""
        while not self._obeyed(self._running[name], "|".join(map(str, words))):
            self._running[name].wait()
            self._restart_ended()

    def _obeyed(self, process: "subprocess.Popen[str]", words: str) -> bool:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(words + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            return False
        # Whoever dies of an order, or has just died, says nothing; an order is given once only.
        return process.stdout.readline() != "" or words.startswith("run")

    def trained(self, within_s: float) -> dict[str, str]:
        """Train once; what each party came to. Whoever dies meanwhile is started again."""
        terms, names = self.training.terms(), self.training.names
        session = Proposal(terms, list(names)).session.hex()
        self.order(COORDINATOR, "run", terms.hex())
        paths = {name: self.folder / f"{name}.{session}" for name in names}
        until = time.monotonic() + within_s
        while time.monotonic() < until and not all(path.exists() for path in paths.values()):
            self._restart_ended()
            time.sleep(0.02)
        return {name: path.read_text() for name, path in paths.items() if path.exists()}

    def _restart_ended(self) -> None:
        for name, process in list(self._running.items()):
            if process.poll() is not None:
                process.communicate()
                self.restarts += 1
                self.start(name)

    def close(self) -> None:
        """End all processes that are left."""
        for process in self._running.values():
            process.kill()
            process.communicate()

    def _enrolled(self) -> list[list[str]]:
        authority = Authority()
        names = self.training.names
        held = {name: authority.credentials(name) for name in names}
        (self.folder / "authority").write_bytes(authority.pem)
        for name, own in held.items():
            (self.folder / f"{name}.certificate").write_bytes(own.certificate)
            (self.folder / f"{name}.key").write_bytes(own.key)
        ports = dict(zip(names, free_ports(len(names)), strict=True))
        return [[m.name, m.role, m.address, m.fingerprint] for m in roster_of(held, ports)]


@contextmanager
def processes(training: ToyTraining, folder: Path, **settings: Any) -> Iterator[Processes]:  # noqa: ANN401 - of Settings
    """Parties as processes, ended with the block."""
    running = Processes(training, folder, **settings)
    try:
        for name in training.names:
            running.start(name)
        yield running
    finally:
        running.close()
