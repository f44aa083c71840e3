"""One party of a toy federation as a process of its own, which may end itself at a given point.

Run as a script with the path of a JSON file; writes the result's bytes, or the error's name, into
the file that it names.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from sottovoce.federation import Credentials, Machines, Member, Node, Roster, Settings
from sottovoce.federation.refusals import RunAbortedError
from support.federations import JOURNAL_KEY, ToyTraining
from support.hidden_systems import small_keys_allowed


def deadly(point: str | None, turn: int) -> Callable[[str], None]:
    """A hook that kills this process at the ``turn``-th time that a point is reached."""
    reached = 0

    def hook(here: str, /) -> None:
        nonlocal reached
        if here == point:
            reached += 1
            if reached == turn:
                os.kill(os.getpid(), signal.SIGKILL)

    return hook


def main(path: Path) -> None:
    given = json.loads(path.read_text())
    name, training = given["name"], ToyTraining(tuple(given["peers"]), given["way"])
    roster = Roster(tuple(Member(*member) for member in given["roster"]))
    folder = path.parent
    credentials = Credentials(
        *((folder / given[part]).read_bytes() for part in ("certificate", "key", "authority"))
    )
    node = Node(
        name,
        roster,
        credentials,
        journal=folder / f"{name}.journal",
        journal_key=JOURNAL_KEY,
        machines=Machines(training.made, training.result, terms_without=training.without),
        settings=Settings(**given["settings"]),
        hook=deadly(given["point"], given["turn"]),
    )
    with small_keys_allowed(), node:
        terms = bytes.fromhex(given["terms"])
        known = [bytes.fromhex(run["session"]) for run in node.status()["runs"]]
        if known:
            session = known[0]
        elif roster[name].role == "coordinator":
            session = node.propose(terms)
        else:
            session = node.wait_for_run(timeout_s=given["limit_s"]) or b""
        try:
            outcome = (node.wait(session, given["limit_s"]) or b"nothing").hex()
        except RunAbortedError as error:
            outcome = f"{error.error} {error.by}"
        (folder / f"{name}.outcome").write_text(outcome)
        # Others may still need its last words after a crash of theirs; its parent ends it.
        sys.stdin.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
