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

from support.federations import Authority, ToyTraining, roster_of
from support.ports import free_ports

SCRIPT = Path(__file__).parent / "federation_process.py"
SETTINGS = {"deadline_s": 12.0, "beat_s": 0.5}


class Processes:
    """All parties of one training, each a process with files of its own."""

    def __init__(self, training: ToyTraining, folder: Path, **settings: Any) -> None:  # noqa: ANN401 - of Settings
        self.training, self.folder = training, folder
        self._settings = SETTINGS | settings
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._roster = self._enrolled()
        self._terms = training.terms().hex()

    def start(self, name: str, *, point: str | None = None, turn: int = 0) -> None:
        """Start a party, or start it again; it kills itself at the turn-th time of a point."""
        given = {
            "name": name,
            "peers": self.training.peers,
            "way": self.training.way,
            "roster": self._roster,
            "certificate": f"{name}.certificate",
            "key": f"{name}.key",
            "authority": "authority",
            "settings": self._settings,
            "terms": self._terms,
            "limit_s": 40.0,
            "point": point,
            "turn": turn,
        }
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(given))
        log = (self.folder / f"{name}.log").open("ab")
        with log:
            self._running[name] = subprocess.Popen(
                [sys.executable, str(SCRIPT), str(path)],
                stdin=subprocess.PIPE,
                stderr=log,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
            )

    def killed(self, name: str, within_s: float) -> bool:
        """Whether a party's process ends within so long."""
        try:
            self._running[name].wait(within_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def outcomes(self, within_s: float) -> dict[str, str]:
        """What each party came to; parties that came to nothing are absent."""
        until = time.monotonic() + within_s
        while time.monotonic() < until and len(self._found()) < len(self.training.names):
            time.sleep(0.05)
        return self._found()

    def close(self) -> None:
        """End all processes that are left."""
        for process in self._running.values():
            process.kill()
            process.communicate()

    def _found(self) -> dict[str, str]:
        paths = {name: self.folder / f"{name}.outcome" for name in self.training.names}
        return {name: path.read_text() for name, path in paths.items() if path.exists()}

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
        yield running
    finally:
        running.close()
