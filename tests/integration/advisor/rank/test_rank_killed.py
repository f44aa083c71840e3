"""Two rank servers as processes, either of them killed amid openings again and again."""

import json
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.ports import free_ports
from support.rank_processes import COMMAND, TOPICS, new_key
from support.rank_servers import report_once

from sottovoce.advisor.rank.description import HttpTransport
from sottovoce.errors import InputError, ProtocolError

PERIOD_S = 5
SCORES = [0.1, 0.1, 0.4, 0.9, 0.9, 0.9]


class Process:
    """One of the servers, at a port of its own, started as often as it was killed."""

    def __init__(self, folder: Path, name: str, port: int, *options: object) -> None:
        words = ["--mode", "shares", "--topics", "topics.toml", "--measure", "lda", "--json"]
        given = ["--buckets", 4, "--epsilon", 200, "--minimum", 3, "--period", f"{PERIOD_S}s"]
        mine = ["--peer-key", "peer.key", "--store", f"{name}.sqlite", "--port", port, *options]
        self._command = [*COMMAND, "rank-server", *words]
        self._command += map(str, [*given, *mine])
        self._folder, self.url = folder, f"http://127.0.0.1:{port}"
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command, cwd=self._folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self._process.stdout is not None
        assert json.loads(self._process.stdout.readline())["url"] == self.url

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def two_servers(folder: Path) -> Iterator[tuple[Process, Process]]:
    new_key(folder / "peer.key")
    (folder / "topics.toml").write_text(TOPICS)
    ports = free_ports(2)
    with ExitStack() as stack:
        second = Process(folder, "second", ports[0])
        stack.callback(second.kill)
        first = Process(folder, "first", ports[1], "--peer", second.url)
        stack.callback(first.kill)
        yield first, second


def reported(folder: Path, first: Process, second: Process) -> int:
    """Everybody reports in one period, which is waited for; its number."""
    time.sleep(PERIOD_S - time.time() % PERIOD_S)
    (period,) = {
        report_once(first.url, folder / f"person {person}", score, budget=2000, second=second.url)
        for person, score in enumerate(SCORES)
    }
    return period


def published(first: Process, period: int) -> Any:  # noqa: ANN401 - JSON
    """The histogram of ``period``, asked for until it is there."""
    for _ in range(100):
        try:
            return HttpTransport(first.url).call("GET", f"/histograms/debt/{period}")
        except (ProtocolError, InputError):
            time.sleep(0.1)
    return pytest.fail("no histogram was published")


@pytest.mark.long
def test_killing_either_server_amid_openings_loses_nothing_and_counts_nothing_twice(
    tmp_path: Path,
) -> None:
    chance = random.Random(0)
    with two_servers(tmp_path) as (first, second):
        for round_number in range(4):
            period = reported(tmp_path, first, second)
            time.sleep((period + 1) * PERIOD_S - time.time() + chance.uniform(0, 0.2))
            killed = (first, second)[round_number % 2]
            killed.kill()
            killed.start()
            found = published(first, period)
            assert (found["reports"], found["counts"]) == (6, [2.0, 1.0, 0.0, 3.0])
