"""The parties of `learn` as processes that carry bytes.

A run is one state machine of `learn` at each participant; a `Node` carries its messages over mutual
TLS 1.3, journals every step and goes on after a crash:

    machines = Machines(make=make_party, result_of=result_of, policy=why_not)
    node = Node(name, roster, credentials, journal=path, journal_key=key, machines=machines)
    with node:
        session = node.propose(terms)    # the coordinator; a peer: node.wait_for_run()
        result = node.wait(session)      # bytes, or AbortedError(by, error, missing)

A `Roster` holds a `Member(name, role, address, fingerprint)` for each party, `Credentials` PEM.
`node.status()` says how runs stand, `node.transcript(session)` what was sent and received without
values, `Settings` how patient a node is. Events go to the logger ``sottovoce.federation``.
`Connected` is for notebooks: a federation that runs already, seen from one of its peers.

Begin reading at `_node.dispatcher`, which decides everything that a node does; `transport` has
the frames and gRPC, `_journal` what survives a crash, and `party` what the commands of `learn` run
from a ``party.toml``.
"""

from sottovoce.lazy import TYPE_CHECKING, attach

if TYPE_CHECKING:
    from sottovoce.federation.party.control import Connected as Connected
else:
    __getattr__, __dir__ = attach(__name__, extra="federation")
