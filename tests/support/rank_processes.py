"""Rank servers as processes of their own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.warm_python import WarmPopen

TOPICS = """
[[topic]]
name = "debt"
domain = "money"
words = ["debt", "loan"]
sensitive = true

[[topic]]
name = "sport"
domain = "leisure"
words = ["ball"]
"""


class Running:
    """A rank server in a process of its own, its output in a file."""

    def __init__(self, folder: Path, *options: object) -> None:
        self.output = folder / f"output {len(list(folder.glob('output *')))}"
        (folder / "topics.toml").write_text(TOPICS)
        words = ["--topics", "topics.toml", "--measure", "lda", "--port", 0, "--json", *options]
        command = [sys.executable, "-m", "sottovoce.cli", "rank-server", *map(str, words)]
        with self.output.open("w") as errors:
            self.process = WarmPopen(
                command, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        assert self.process.stdout is not None
        self.announced: dict[str, Any] = json.loads(self.process.stdout.readline())
        self.url = str(self.announced["url"])

    def stop(self) -> str:
        """Everything it printed."""
        self.process.terminate()
        rest, _ = self.process.communicate(timeout=30)
        return f"{json.dumps(self.announced)}{rest}{self.output.read_text()}"
