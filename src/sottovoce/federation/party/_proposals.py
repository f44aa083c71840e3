"""What a coordinator proposes beside its owner's runs.

It proposes runs that peers ask for (`PeerRequests`), and may begin a training again without peers
that were lost on the way (`RetryWithoutLost`). What a broken-off attempt had opened stays known,
and its difference to the sums of those who are left is the lost peers' own part. So nothing begins
again unless somebody has asked for it. Its owner may also invite, admit and remove members.
"""

import threading
from collections.abc import Callable, Mapping
from typing import Any

from sottovoce.errors import ParameterError
from sottovoce.federation.certificates import fingerprint
from sottovoce.federation.config import TrainingSettings
from sottovoce.federation.join.invitations import Federation, Invitations, JoinServer
from sottovoce.federation.join.request import joiner_role
from sottovoce.federation.party._membership import CERTIFY, MISSED, NEWS, Membership, read_authority
from sottovoce.federation.party.party import ConfiguredParty, PartyNode, RunRequest
from sottovoce.federation.party.terms import terms_without
from sottovoce.federation.roster import Member
from sottovoce.federation.transport.frames import Log
from sottovoce.learn.run.terms import RunTerms


class PeerRequests:
    """Decides on the runs that peers ask the coordinator for, one at a time."""

    def __init__(self, node: PartyNode, *, peers_may_start: bool) -> None:
        self._node = node
        self._peers_may_start = peers_may_start
        self._lock = threading.Lock()

    def propose(self, caller: Member, request: RunRequest) -> bytes:
        """Propose what a peer asks for, if it may: the run's name."""
        terms = RunTerms.from_bytes(request.terms)
        with self._lock:
            if terms.kind == "classify":
                self._check_query(caller, terms)
            elif caller.role != "peer" or not self._peers_may_start:
                raise ParameterError(
                    "peers may not start runs here; set peers_may_start = true in [training] of "
                    "the coordinator's party.toml, or start it there."
                )
            return propose_run(self._node, terms)

    def _check_query(self, caller: Member, terms: RunTerms) -> None:
        history = self._node.history()
        training = next((run for run in history if run.terms.session == terms.training), None)
        if training is None or training.status != "finished":
            raise ParameterError("the coordinator knows no finished training of that name.")
        if caller.role != "peer" or terms.asker != caller.name:
            raise ParameterError("a peer asks in its own name only.")
        # Two at a time would count on the same budget.
        if any(run.status == "running" and run.terms.training == terms.training for run in history):
            raise ParameterError("another query is running; ask again when it has ended.")


def propose_run(node: PartyNode, terms: RunTerms) -> bytes:
    """Propose a run to its parties: its name."""
    return node.propose(terms.to_bytes(), terms.parties)


class RetryWithoutLost:
    """Which trainings may begin again; a `TermsWithout` of a node's aborts.

    Until somebody has given something of their data, even under masks, nothing can have been
    opened: then a training goes on among those who are left, without being asked. Afterwards it
    ends by name. The sum of a step could be taken again among the others, but what was opened with
    the lost one before stands beside it: the counts of documents that decided on the features, less
    what the others' sums say of the same words, are the lost peer's own. So it begins again only
    where somebody has asked for it, and every peer agrees (`without_lost`).

    Args:
        always: whether the configuration says so for every training.
        nothing_given: whether nobody has given anything in the run of these terms.
    """

    def __init__(
        self, *, always: bool, nothing_given: Callable[[RunTerms], bool] = lambda _: False
    ) -> None:
        self._always, self._nothing_given = always, nothing_given
        self._allowed: set[bytes] = set()

    def allow(self, terms: RunTerms) -> None:
        """Let this training begin again; a restarted coordinator has forgotten it."""
        self._allowed.add(terms.session)

    def __call__(self, terms: bytes, lost: frozenset[str]) -> bytes | None:
        """The terms of the next attempt, or None: then the run ends by name."""
        broken_off = RunTerms.from_bytes(terms)
        asked = self._always or broken_off.session in self._allowed
        if not asked and not self._nothing_given(broken_off):
            return None
        following = terms_without(broken_off, lost)
        if following is None:
            return None
        if asked:
            self.allow(following)
        return following.to_bytes()


_ONLY_FOUNDED = (
    "only the coordinator of a federation that learn new has founded invites, admits and removes; "
    "parties of learn init are fixed."
)


def membership_of(party: ConfiguredParty, log: Log) -> Membership | None:
    """A party's signed roster, if it has one; the coordinator's with the key that signs."""
    if party.history is None:
        return None
    return Membership(party.config, party.history, read_authority(party), log)


def offer_membership(node: PartyNode, membership: Membership, *, coordinates: bool) -> None:
    """Let other parties tell of changes and ask for them, and the coordinator's certify."""
    membership.node = node
    node.offer_to_any(NEWS, membership.take_news)
    node.offer(MISSED, membership.list_missed)
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

    def invite(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """A token for one party."""
        if self._door is None:
            raise ParameterError("set listen in [join] of party.toml: where parties ask to join.")
        name, role = str(request["name"]), str(request.get("role", "peer"))
        self._check_new(name)
        self._server.open()
        address = self._door.address or self._door.listen
        minutes = float(request.get("minutes", 30))
        token = self._invitations.invite(name, joiner_role(role), address, minutes)
        return {"token": token.text, "party": name, "minutes": minutes}

    def admit(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Who waits, or that the person here has compared the string."""
        name = str(request.get("name", ""))
        if not name:
            return {"waiting": self._invitations.waiting()}
        joined = self._invitations.admit(name, str(request.get("string", "")))
        return {"party": name, "joined": joined}

    def remove(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Take a party off the roster, at once."""
        name = str(request["name"])
        self._membership.remove(name)
        return {"removed": name, "number": self._membership.history.number}

    def _check_new(self, name: str) -> None:
        if any(each.certificate_name == name for each in self._membership.history.roster):
            raise ParameterError(
                f"there is a party {name} already; remove it before it is invited."
            )


def refuse_members(_request: Mapping[str, Any]) -> dict[str, Any]:
    """What every other party answers."""
    raise ParameterError(_ONLY_FOUNDED)
