"""The parties of `learn` as processes that carry bytes.

A run is one `learn.party.Party` at each participant; a `Node` carries its messages over mutual TLS
1.3, journals every step and goes on after a crash:

    machines = Machines(make=make_party, result_of=result_of, policy=why_not)
    node = Node(name, roster, credentials, journal=path, journal_key=key, machines=machines)
    with node:
        session = node.propose(terms)    # the coordinator; a peer: node.wait_for_run()
        result = node.wait(session)      # bytes, or RunAbortedError(by, error, missing)

`Roster` holds a `Member(name, role, address, fingerprint)` for each party, `Credentials` PEM.
`node.status()` says how runs stand, `node.transcript(session)` what was sent and received without
values, `Settings` how patient a node is. Events go to the logger ``sottovoce.federation``.

Names here are loaded when they are first used, so that nobody needs gRPC who does not.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sottovoce.federation.certificates.credentials import Credentials as Credentials
    from sottovoce.federation.engine.desk import Machines as Machines
    from sottovoce.federation.engine.node import Node as Node
    from sottovoce.federation.transport.refusals import RunAbortedError as RunAbortedError
    from sottovoce.federation.transport.roster import Member as Member
    from sottovoce.federation.transport.roster import Roster as Roster
    from sottovoce.federation.transport.settings import Settings as Settings

_WHERE = {
    "Credentials": "certificates.credentials",
    "Machines": "engine.desk",
    "Member": "transport.roster",
    "Node": "engine.node",
    "Roster": "transport.roster",
    "RunAbortedError": "transport.refusals",
    "Settings": "transport.settings",
}
__all__ = [
    "Credentials",
    "Machines",
    "Member",
    "Node",
    "Roster",
    "RunAbortedError",
    "Settings",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever stands there
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
