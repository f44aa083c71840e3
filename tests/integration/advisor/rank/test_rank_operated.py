"""A rank server as its operator runs it: it stops in good order, and says so."""

import json
import os
from pathlib import Path

from support.rank_processes import Running

from sottovoce.advisor.rank.client import RankClient
from sottovoce.advisor.rank.description import HttpTransport


def test_a_server_that_is_told_to_stop_ends_in_good_order_and_its_events_name_nobody(
    tmp_path: Path,
) -> None:
    key = tmp_path / "metrics.key"
    key.write_text(os.urandom(32).hex())
    key.chmod(0o600)
    options = ("--period", "52w", "--log", "events.jsonl", "--metrics-key", key)
    server = Running(tmp_path, *options)
    client = RankClient(server.url, tmp_path / "she", budget=1)
    client.report("debt", 0.4)
    client.close()
    told = HttpTransport(server.url).exchange(
        "GET", "/metrics", None, {"Authorization": f"Bearer {key.read_text()}"}
    )
    assert b"sottovoce_rank_reports_stored_total 1\n" in told[1]
    printed = server.stop()
    assert server.process.returncode == 0
    written = (tmp_path / "events.jsonl").read_text()
    assert [json.loads(line)["event"] for line in written.splitlines()] == ["started", "stopped"]
    assert "127.0.0.1" not in written
    assert key.read_text() not in written + printed
    again = Running(tmp_path, *options, "--restored")
    again.stop()
    events = [
        json.loads(line)["event"] for line in (tmp_path / "events.jsonl").read_text().splitlines()
    ]
    assert events[2:] == ["store put back", "started", "stopped"]
