"""A rank server in a process of its own, as a bench wants it: no limits and one long period."""

import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np

from sottovoce.advisor.rank.description import Description
from sottovoce.bench.own_command import OwnCommand

_TOPICS = '[[topic]]\nname = "debt"\ndomain = "money"\nwords = ["debt"]\nsensitive = true\n'


class ServerProcess:
    """A rank server in a folder, on a port of its own; it can be killed and started again."""

    def __init__(self, folder: Path, *, core: int | None = None) -> None:
        self.store = folder / "rank.sqlite"
        self._topics = folder / "topics.toml"
        self._topics.write_text(_TOPICS, encoding="utf-8")
        self._core = core
        self.start()

    def start(self) -> None:
        """Start the process and wait until it answers."""
        options = {
            "--topics": self._topics,
            "--measure": "lda",
            "--period": "52w",
            "--store": self.store,
            "--port": 0,
            "--rate": 0,
            "--rate-per-address": 0,
        }
        words = [str(word) for option in options.items() for word in option]
        self._command = OwnCommand("rank-server", *words, folder=self.store.parent)
        if self._core is not None:
            os.sched_setaffinity(self._command.pid, {self._core})
        url = str(self._command.announced()["url"])
        self.port = int(url.rpartition(":")[2])
        with urlopen(f"{url}/description") as answer:  # noqa: S310 - on this machine
            self.described: dict[str, Any] = json.load(answer)

    def kill(self) -> None:
        """End it without a chance to finish anything."""
        self._command.kill()

    def stop(self) -> None:
        """End it in good order."""
        self._command.stop()

    def cpu_s(self) -> float:
        """The processor time that it has used."""
        fields = (
            Path(f"/proc/{self._command.pid}/stat")
            .read_text(encoding="ascii")
            .rpartition(")")[2]
            .split()
        )
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def tokens(self) -> set[str]:
        """The ids of all reports in the store."""
        with closing(sqlite3.connect(self.store)) as connection:
            return {row[0] for row in connection.execute("SELECT token FROM rank_report")}

    def lose(self, tokens: Sequence[str]) -> None:
        """Delete reports from the store of a server that does not run."""
        with closing(sqlite3.connect(self.store)) as connection, connection:
            each = [(token,) for token in tokens]
            connection.executemany("DELETE FROM rank_report WHERE token = ?", each)

    def bodies(self, number: int) -> dict[str, bytes]:
        """``number`` reports as requests, by id."""
        description = Description.from_record(self.described)
        noise = description.noise("debt")
        entries = noise.reports(np.arange(number) % noise.buckets)
        head = {
            "topic": "debt",
            "period": self.described["period"],
            "description": description.version,
        }
        tokens = [os.urandom(16).hex() for _ in range(number)]
        return {
            token: json.dumps(head | {"id": token, "entries": row.tolist()}).encode()
            for token, row in zip(tokens, entries, strict=True)
        }
