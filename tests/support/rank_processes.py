"""Rank servers, and pages that ask them, as processes of their own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import httpx

from support.warm_python import WarmPopen

COMMAND = (sys.executable, "-m", "sottovoce.cli")
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
    """A rank server in a process of its own, its output in a file; it is stopped at the end."""

    def __init__(self, folder: Path, *options: object) -> None:
        self.output = folder / f"output {len(list(folder.glob('output *')))}"
        (folder / "topics.toml").write_text(TOPICS)
        words = ["--topics", "topics.toml", "--measure", "lda", "--port", 0, "--json", *options]
        command = [*COMMAND, "rank-server", *map(str, words)]
        with self.output.open("w") as errors:
            self.process = WarmPopen(
                command, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        assert self.process.stdout is not None
        self.announced: dict[str, Any] = json.loads(self.process.stdout.readline())
        self.url = str(self.announced["url"])
        self.printed = ""

    def stop(self) -> str:
        """Everything it printed."""
        self.process.terminate()
        rest, _ = self.process.communicate(timeout=30)
        self.printed = f"{json.dumps(self.announced)}{rest}{self.output.read_text()}"
        return self.printed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def new_key(path: Path, digits: str = "") -> Path:
    """A key of 32 bytes, for its owner only."""
    path.write_text(digits or os.urandom(32).hex())
    path.chmod(0o600)
    return path


@contextmanager
def announced(*arguments: object) -> Iterator[dict[str, str]]:
    """A command in a process of its own, and the first line of JSON that it prints."""
    command = [*COMMAND, *map(str, arguments), "--json"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with WarmPopen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)


@contextmanager
def browsing(address: str) -> Iterator[httpx.Client]:
    """A browser that came in by the address that a page printed."""
    home = address.partition("/enter")[0]
    ours = {"origin": home}
    with httpx.Client(base_url=home, trust_env=False, timeout=60, headers=ours) as browser:
        assert browser.get(address).status_code == 200
        yield browser
