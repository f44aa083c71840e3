"""One party of a toy federation as a process of its own, which may end itself at a given point.

Run as a script with the path of a JSON file. Reads orders from its standard input: ``run TERMS``,
``kill POINT TURN``. Writes what each run came to into a file of its own.
"""

import json
import math
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from sottovoce.errors import AbortedError
from sottovoce.federation._node.dispatcher import Machines
from sottovoce.federation._node.node import Node
from sottovoce.federation.certificates import Credentials
from sottovoce.federation.roster import Member, Roster
from sottovoce.federation.transport.frames import Settings
from sottovoce.learn import support
from support.federations import JOURNAL_KEY, ToyDocuments, ToyTraining
from support.hidden_systems import small_keys_allowed


class KillAtPoint:
    """A hook that kills this process at the ``turn``-th time from now that a point is reached."""

    def __init__(self) -> None:
        self._point, self._left = "", 0

    def ordered(self, point: str, turn: int) -> None:
        self._point, self._left = point, turn

    def __call__(self, point: str, /) -> None:
        if point == self._point:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def follow_orders(node: Node, killer: KillAtPoint) -> None:
    for line in sys.stdin:
        order, *rest = line.rstrip("\n").split("|")
        if order == "run":
            node.propose(bytes.fromhex(rest[0]))
        else:
            killer.ordered(rest[0], int(rest[1]))
        print("obeyed", flush=True)  # noqa: T201 - the parent waits for it
    os._exit(0)  # the parent is gone


def outcome(node: Node, session: bytes) -> str:
    try:
        return (node.wait(session, 60) or b"nothing").hex()
    except AbortedError as error:
        return f"{error.error} {error.by}: {error}"


def made(given: dict[str, Any], folder: Path, killer: KillAtPoint) -> Node:
    name, peers = given["name"], tuple(given["peers"])
    training = ToyTraining(peers)
    if given["liar"] is not None:
        training = ToyDocuments(peers, liar=given["liar"])
    files = (folder / given[part] for part in ("certificate", "key", "authority"))
    return Node(
        name,
        Roster(tuple(Member(*member) for member in given["roster"])),
        Credentials(*(file.read_bytes() for file in files)),
        journal=folder / f"{name}.journal",
        journal_key=JOURNAL_KEY,
        machines=Machines(training.made, training.result, terms_without=training.without),
        settings=Settings(**given["settings"]),
        hook=killer,
    )


def main(path: Path) -> None:
    support.MOST_OPENED_SHARE = math.inf  # a toy's few rows hide few columns
    given, killer, known = json.loads(path.read_text()), KillAtPoint(), list[bytes]()
    node = made(given, path.parent, killer)
    with small_keys_allowed(), node:
        threading.Thread(target=follow_orders, args=(node, killer), daemon=True).start()
        while True:
            session = node.wait_for_run(known, 60)
            if session is not None:
                part = path.parent / f"{node.name}.part"
                part.write_text(outcome(node, session))
                part.rename(path.parent / f"{node.name}.{session.hex()}")
                known.append(session)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
