"""One of our own commands as a process that says in a line of JSON where it can be reached."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from sottovoce.errors import CheckFailedError

TIMEOUT_S = 120


class OwnCommand:
    """``sottovoce NAME WORDS --json``, under way.

    What it says on standard error, as that it was stopped, goes to a file in ``folder``: it is no
    word of whoever started it.
    """

    def __init__(self, name: str, *words: str, folder: Path) -> None:
        self._name = name
        self._said = folder / f"{name}.said.txt"
        command = [sys.executable, "-m", "sottovoce", name, *words, "--json"]
        with self._said.open("w", encoding="utf-8") as errors:
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                command, stdout=subprocess.PIPE, stderr=errors, text=True
            )

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def announced(self) -> dict[str, Any]:
        """The line that it prints once it can be reached; waits for it."""
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            said = self._said.read_text(encoding="utf-8").strip()
            raise CheckFailedError(f"sottovoce {self._name} did not start: {said}")
        return dict(json.loads(line))

    def kill(self) -> None:
        """End it without a chance to finish anything."""
        self._process.kill()
        self._ended()

    def stop(self) -> None:
        """End it in good order."""
        self._process.terminate()
        self._ended()

    def _ended(self) -> None:
        self._process.wait(TIMEOUT_S)
        if self._process.stdout:
            self._process.stdout.close()
