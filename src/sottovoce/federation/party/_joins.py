"""What a coordinator's owner may ask of it about members: invite, admit, remove."""

from collections.abc import Mapping
from typing import Any

from sottovoce.errors import ParameterError
from sottovoce.federation._events import Log
from sottovoce.federation._files import read_passphrase
from sottovoce.federation.certificates import Authority, fingerprint, load_key
from sottovoce.federation.config import TrainingSettings
from sottovoce.federation.join.endpoint import JoinServer
from sottovoce.federation.join.invitations import Federation, Invitations
from sottovoce.federation.join.request import joiner_role
from sottovoce.federation.party._membership import CERTIFY, MISSED, NEWS, Membership
from sottovoce.federation.party.control import Answers
from sottovoce.federation.party.party import ConfiguredParty, PartyNode

_ONLY_FOUNDED = (
    "only the coordinator of a federation that learn new has founded invites, admits and removes; "
    "parties of learn init are fixed."
)


def membership_of(party: ConfiguredParty, log: Log) -> Membership | None:
    """A party's signed roster, if it has one; the coordinator's with the key that signs."""
    if party.history is None:
        return None
    config = party.config
    authority = None
    if config.party.role == "coordinator" and config.party.tls.authority_key is not None:
        passphrase = read_passphrase(config.party.secrets.passphrase, config.folder)
        key = load_key(config.path(config.party.tls.authority_key), passphrase=passphrase)
        authority = Authority(party.authority, key)
    return Membership(config, party.history, authority, log)


def offer_membership(node: PartyNode, membership: Membership, *, coordinates: bool) -> None:
    """Let other parties tell of changes and ask for them, and the coordinator's certify."""
    membership.node = node
    node.offer_to_any(NEWS, membership.told)
    node.offer(MISSED, membership.missed)
    if coordinates:
        node.offer(CERTIFY, membership.certify)


class Joins:
    """A coordinator's invitations, and the door at which those who were invited ask."""

    def __init__(self, party: ConfiguredParty, membership: Membership, log: Log) -> None:
        config = party.config.party
        self._membership, self._door = membership, config.join
        features = config.features
        told = Federation(
            fingerprint(party.certificate),
            party.authority,
            fingerprint(party.authority),
            (config.training or TrainingSettings()).mode,
            () if features is None else tuple(features.columns),
        )
        self._invitations = Invitations(told, membership.join, log)
        listen = "" if self._door is None else self._door.listen
        self._server = JoinServer(listen, party.credentials, self._invitations, log)

    def close(self) -> None:
        """Invite nobody more."""
        self._server.close()

    def invite(self, request: Mapping[str, Any]) -> Answers:
        """A token for one party."""
        if self._door is None:
            raise ParameterError("set listen in [join] of party.toml: where parties ask to join.")
        name, role = str(request["name"]), str(request.get("role", "peer"))
        self._check_new(name)
        self._server.open()
        address = self._door.address or self._door.listen
        minutes = float(request.get("minutes", 30))
        token = self._invitations.invite(name, joiner_role(role), address, minutes)
        yield {"value": {"token": token.text, "party": name, "minutes": minutes}, "last": True}

    def admit(self, request: Mapping[str, Any]) -> Answers:
        """Who waits, or that the person here has compared the string."""
        name = str(request.get("name", ""))
        if not name:
            yield {"value": {"waiting": self._invitations.waiting()}, "last": True}
            return
        joined = self._invitations.admit(name, str(request.get("string", "")))
        yield {"value": {"party": name, "joined": joined}, "last": True}

    def remove(self, request: Mapping[str, Any]) -> Answers:
        """Take a party off the roster, at once."""
        name = str(request["name"])
        self._membership.remove(name)
        number = self._membership.history.number
        yield {"value": {"removed": name, "number": number}, "last": True}

    def _check_new(self, name: str) -> None:
        if any(each.certificate_name == name for each in self._membership.history.roster):
            raise ParameterError(
                f"there is a party {name} already; remove it before it is invited."
            )


def refuse_members(_request: Mapping[str, Any]) -> Answers:
    """What every other party answers."""
    raise ParameterError(_ONLY_FOUNDED)
