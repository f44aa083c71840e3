"""The parties of `learn` as processes that carry bytes.

A run is one state machine of `learn` at each participant; a `Node` carries its messages over mutual
TLS 1.3, journals every step and goes on after a crash:

    machines = Machines(make=make_party, result_of=result_of, policy=why_not)
    node = Node(name, roster, credentials, journal=path, journal_key=key, machines=machines)
    with node:
        session = node.propose(terms)    # the coordinator; a peer: node.wait_for_run()
        result = node.wait(session)      # bytes, or AbortedError(by, error, missing)

`Roster` holds a `Member(name, role, address, fingerprint)` for each party, `Credentials` PEM.
`node.status()` says how runs stand, `node.transcript(session)` what was sent and received without
values, `Settings` how patient a node is. Events go to the logger ``sottovoce.federation``.
`Connected` is for notebooks: a federation that runs already, seen from one of its peers.

Begin reading at `_node.dispatcher`, which decides everything that a node does; `_transport` has
the frames and gRPC, `_journal` what survives a crash, and `party` what the commands of `learn` run
from a ``party.toml``. Names here are loaded when they are first used, so that nobody needs gRPC who
does not.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "AbortedError",
    "Connected",
    "Credentials",
    "Machines",
    "Member",
    "Node",
    "Roster",
    "Settings",
]

if TYPE_CHECKING:
    from sottovoce.errors import AbortedError
    from sottovoce.federation._node.dispatcher import Machines
    from sottovoce.federation._node.node import Node
    from sottovoce.federation.certificates import Credentials
    from sottovoce.federation.party.connection import Connected
    from sottovoce.federation.roster import Member, Roster
    from sottovoce.federation.transport.frames import Settings
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Connected": "sottovoce.federation.party.connection",
            "Credentials": "sottovoce.federation.certificates",
            "Machines": "sottovoce.federation._node.dispatcher",
            "Member": "sottovoce.federation.roster",
            "Node": "sottovoce.federation._node.node",
            "Roster": "sottovoce.federation.roster",
            "AbortedError": "sottovoce.errors",
            "Settings": "sottovoce.federation.transport.frames",
        },
        extra="federation",
    )
