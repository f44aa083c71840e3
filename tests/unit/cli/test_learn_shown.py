"""What people see of parties and runs in a terminal."""

import os
import pty
import sys

import pytest

from sottovoce.cli._output import show_facts, show_rows
from sottovoce.cli.learn._output import ending, standing

# A party whose run ends after the first look, and which stops after the fourth.
PARTY = """
import threading, types
from sottovoce.cli.learn import _output
from sottovoce.cli.learn._output import party_progress
_output._EVERY_S = 0.1
ended = {"by": "bob", "sentence": "cannot read bob/texts.csv."}
run = {"session": "a", "status": "aborted", "ended": ended}
looks, enough = [], threading.Event()
def status():
    looks.append(1)
    if len(looks) == 4:
        enough.set()
    return {"runs": [] if len(looks) == 1 else [run]}
node = types.SimpleNamespace(status=status)
party = types.SimpleNamespace(config=types.SimpleNamespace(party=types.SimpleNamespace(name="bob")))
with party_progress(types.SimpleNamespace(node=node, party=party)):
    enough.wait(0 if BEHIND else 60)
"""
# As a shell does it: the terminal belongs to another group of processes.
BEHIND = "import os; os.setpgid(0, 0)\n"


def on_a_terminal(code: str) -> str:
    """What a program that a shell has started writes to its terminal."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv("/bin/sh", ["sh", "-c", '"$0" -c "$1"; true', sys.executable, code])  # noqa: S606 - our own code
    written = b""
    try:
        while read := os.read(terminal, 1 << 16):
            written += read
    except OSError:
        pass  # how a terminal says that nobody writes to it any more
    os.waitpid(child, 0)
    os.close(terminal)
    return written.decode()


@pytest.mark.parametrize("behind", [False, True])
def test_a_party_says_why_a_run_ended_unless_the_terminal_is_not_its_own(behind: bool) -> None:
    shown = on_a_terminal(f"BEHIND = {behind}\n" + BEHIND * behind + PARTY)
    assert ("a run was ended by bob: cannot read bob/texts.csv." in shown) != behind
    assert ("waiting to be asked" in shown) != behind
    assert (shown == "") == behind


def test_how_a_run_stands_is_said_in_a_line() -> None:
    run = {"status": "running", "stage": "sums", "waiting_for": ["bob"], "bytes_sent": 12}
    assert standing(run) == "sums, waiting for bob; 12 B"
    assert standing({"status": "idle"}) == "idle"
    assert ending({"status": "finished", "ended": {}}) == "a run has finished."


def test_a_title_is_not_broken_where_its_table_is_narrow(
    capsys: pytest.CaptureFixture[str],
) -> None:
    title = "documents by label (down) and what they were called (across)"
    show_rows(title, [{"a": 1}])
    show_facts(title, {"a": 1})
    assert capsys.readouterr().out.count(f"{title}\n") == 2
