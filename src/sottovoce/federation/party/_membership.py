"""The roster of a running party: changed at the coordinator, taken and shown everywhere else.

The coordinator signs a change, applies it, and tells every other party until it has heard. A party
that was away asks for what it has missed when it starts, and a coordinator whose folder was put
back from a copy hears from the others what it has forgotten. Whoever is told looks at the
signatures and the past of what it is told, not at who says it: a coordinator with a new certificate
is not on the others' roster yet.
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import msgspec

from sottovoce.errors import (
    CallRefusedError,
    InputError,
    ParameterError,
    ProtocolError,
    RosterRefusedError,
    SottovoceError,
)
from sottovoce.federation._keys import load_key, party_passphrase
from sottovoce.federation.certificates import DAYS, Authority, fingerprint
from sottovoce.federation.config import CHANGES_FILE, PartyConfig, Role, host_of
from sottovoce.federation.join.invitations import Joined
from sottovoce.federation.join.request import JoinRequest, joiner_role, unpack_message
from sottovoce.federation.roster import (
    Member,
    Roster,
    RosterChange,
    RosterHistory,
    What,
    configured_role,
    member,
    packed_changes,
    protocol_name,
    read_changes,
)
from sottovoce.federation.transport.frames import Log
from sottovoce.learn.training_terms import COORDINATOR

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sottovoce.federation.party.party import ConfiguredParty

NEWS, MISSED, CERTIFY = "Roster", "RosterSince", "Certify"
_CALL_S = 5.0
_AGAIN_S, _LONGEST_PAUSE_S = 1.0, 16.0
_LOOK_S = 0.05
_MOST_AT_ONCE = 8
# A message holds a thousand of them easily; a party that has missed more is told in turns.
_MOST_CHANGES = 500
_REFUSED_HERE = (
    "the coordinator refuses this party's certificate: it was taken off the roster, or has another "
    "certificate by now. Ask the coordinator's person; they can invite it again."
)


class MemberNode(Protocol):
    """Of a node what changes with the roster."""

    def take_roster(self, roster: Roster) -> None:
        """Know these parties from now on."""

    def ask(self, member: str, method: str, request: bytes, timeout_s: float) -> bytes:
        """What a member answers."""

    def ask_once(self, member: Member, method: str, request: bytes, timeout_s: float) -> bytes:
        """What somebody answers who need not be on the roster."""


class RosterStanding(msgspec.Struct, frozen=True):
    """How far a party's roster has come."""

    number: int
    digest: str


class CertificateWish(msgspec.Struct, frozen=True):
    """A party's wish for a certificate with a new end, or for new keys, by those that it has."""

    what: What
    request: bytes
    days: int = DAYS


class Membership:
    """One party's roster with its signed changes.

    Args:
        config: of the party.
        history: the changes that it has.
        authority: at the coordinator, who signs.
        log: where events go.
    """

    def __init__(
        self, config: PartyConfig, history: RosterHistory, authority: Authority | None, log: Log
    ) -> None:
        self._config, self.history, self._authority, self._log = config, history, authority, log
        self._lock = threading.RLock()
        self._stopping = threading.Event()
        self._telling: threading.Thread | None = None
        self._behind: set[str] = set()
        self._somebody_came = threading.Event()
        self.node: MemberNode | None = None
        self.on_change: Callable[[RosterHistory, Sequence[RosterChange]], None] = lambda *_: None
        """Told all changes and the new ones; a roster without this party means its removal."""
        self.on_refusal: Callable[[str], None] = lambda _: None
        """Told, once, that the coordinator does not know this party by its certificate."""

    def start(self) -> None:
        """Tell the others, or, where this is none to tell them, ask for what was missed."""
        if self._authority is not None:
            self._tell_all()
        else:
            threading.Thread(target=self._ask_for_missed, daemon=True).start()

    def close(self) -> None:
        """Tell nobody more."""
        self._stopping.set()
        self._somebody_came.set()

    def await_heard(self, longest_s: float) -> None:
        """Until every party knows of all changes, or for so long: not all of them may run."""
        end = time.monotonic() + longest_s
        self._somebody_came.set()
        while self._behind and time.monotonic() < end and not self._stopping.is_set():
            time.sleep(_LOOK_S)

    def take_news(self, data: bytes) -> bytes:
        """Take what the coordinator says has changed; how far this party has come."""
        try:
            with self._lock:
                self._take(read_changes(data))
        except RosterRefusedError as error:
            self._log("roster refused", error=type(error).__name__, sentence=str(error))
            raise
        standing = RosterStanding(self.history.number, self.history.digest)
        return msgspec.msgpack.encode(standing)

    def list_missed(self, _caller: Member, data: bytes) -> bytes:
        """The changes after so many, for a party that has fewer."""
        try:
            number = msgspec.msgpack.decode(data, type=int)
        except msgspec.DecodeError:
            raise RosterRefusedError("who asks for changes must say how many it has.") from None
        self._somebody_came.set()
        return packed_changes(self.history.list_after(number)[:_MOST_CHANGES])

    def join(self, request: JoinRequest, role: Role) -> Joined:
        """At the coordinator: make somebody a member, by a certificate for the key of their own."""
        name = request.name
        with self._lock:
            if any(each.certificate_name == name for each in self.history.roster):
                raise RosterRefusedError(f"there is a party {name} already; remove it first.")
            certificate = self._grant_certificate(request, role)
            known = (request.address, fingerprint(certificate), request.identity.hex())
            self._change("joined", member(name, role, *known))
            return Joined(certificate, packed_changes(self.history.changes))

    def remove(self, name: str) -> None:
        """At the coordinator: no certificate of this party's is let in from now on."""
        with self._lock:
            found = self.history.roster.find_party(name)
            if found.role == "coordinator":
                raise ParameterError("the coordinator cannot be removed; found another federation.")
            self._change("removed", found)
        news = packed_changes(self.history.changes[-1:])
        threading.Thread(target=self._farewell, args=(found, news), daemon=True).start()

    def certify(self, caller: Member, data: bytes) -> bytes:
        """At the coordinator: a new end or new keys for a party that proves itself by its old."""
        try:
            wish = unpack_message(data, CertificateWish)
            request = unpack_message(wish.request, JoinRequest)
            role = joiner_role(configured_role(caller))
            if wish.what not in ("renewed", "rotated"):
                raise RosterRefusedError("a certificate can be renewed or its key rotated.")
            request.check(caller.certificate_name, role)
            with self._lock:
                days = max(1, min(wish.days, DAYS))
                certificate = self._grant_certificate(request, role, days)
                found = replace(
                    self.history.roster[caller.name],
                    fingerprint=fingerprint(certificate),
                    identity=request.identity.hex(),
                )
                self._change(wish.what, found)
        except InputError as error:
            raise RosterRefusedError(str(error)) from None
        given = {"certificate": certificate, "changes": packed_changes(self.history.changes)}
        return msgspec.msgpack.encode(given)

    def _grant_certificate(self, request: JoinRequest, role: Role, days: int = DAYS) -> bytes:
        if self._authority is None:
            raise ParameterError("only the coordinator changes the roster.")
        request.check(request.name, role)
        hosts = [host_of(request.address)]
        wanted = request.certificate_request
        return self._authority.grant(wanted, request.name, hosts, days=days)

    def _change(self, what: What, party: Member) -> None:
        if self._authority is None:
            raise ParameterError("only the coordinator changes the roster.")
        self._apply(self.history.sign_change(what, party, self._authority))
        self._tell_all()

    def _take(self, changes: list[RosterChange]) -> None:
        fresh = [each for each in changes if each.number > self.history.number]
        known = [each for each in changes if each.number <= self.history.number]
        for each in known:
            if each != self.history.changes[each.number - 1]:
                raise RosterRefusedError(
                    f"change {each.number} of the roster is another one here than it is told now; "
                    "compare the digests that learn status shows."
                )
        if fresh:
            self._apply(self.history.extend(fresh))

    def _apply(self, history: RosterHistory) -> None:
        fresh = history.list_after(self.history.number)
        save_changes(history, self._config)
        self.history = history
        own = protocol_name(self._config.party.name, self._config.party.role)
        if self.node is not None and own in history.roster:
            self.node.take_roster(history.roster)
        for change in fresh:
            self._log(
                "roster changed",
                number=change.number,
                what=change.what,
                name=change.party,
                fingerprint=change.fingerprint,
                digest=change.digest,
                sentence=change.in_words(),
            )
        self.on_change(history, fresh)

    def _tell_all(self) -> None:
        with self._lock:
            others = {each.name for each in self.history.roster} - {COORDINATOR}
            self._behind |= others
            if self._behind and (self._telling is None or not self._telling.is_alive()):
                self._telling = threading.Thread(target=self._tell_until_heard, daemon=True)
                self._telling.start()

    def _tell_until_heard(self) -> None:
        pause = _AGAIN_S
        with ThreadPoolExecutor(_MOST_AT_ONCE) as several:
            while not self._stopping.is_set():
                self._somebody_came.clear()
                with self._lock:
                    self._behind &= set(self.history.roster.names)
                    if not self._behind:
                        self._telling = None
                        return
                    waiting = sorted(self._behind)
                heard = dict(zip(waiting, several.map(self._tell, waiting), strict=True))
                with self._lock:  # there may be another change since
                    now = self.history.number
                    self._behind -= {name for name, number in heard.items() if number >= now}
                    left = bool(self._behind)
                if left:
                    came = self._somebody_came.wait(pause)
                    pause = _AGAIN_S if came else min(2 * pause, _LONGEST_PAUSE_S)

    def _tell(self, name: str) -> int:
        """How many changes this party has heard of by now; 0: it does not answer."""
        number = self.history.number
        try:
            standing = self._standing(name, packed_changes([]))
            while (known := standing.number) < number:
                news = packed_changes(self.history.list_after(known)[:_MOST_CHANGES])
                standing = self._standing(name, news)
                if standing.number <= known:
                    return 0
        except (SottovoceError, msgspec.DecodeError):
            return 0
        if standing.number > self.history.number:
            self._remember(name)
        elif standing.digest != self.history.digest and self.history.number == standing.number:
            self._log("roster differs", name=name, number=standing.number)
        return standing.number

    def _standing(self, name: str, news: bytes) -> RosterStanding:
        if self.node is None:
            raise InputError("this party has no connection to others yet.")
        answer = self.node.ask(name, NEWS, news, _CALL_S)
        return msgspec.msgpack.decode(answer, type=RosterStanding)

    def _remember(self, name: str) -> None:
        """At a coordinator that was put back from a copy: what it signed since, from who heard."""
        if self.node is None:
            return
        self._log("roster forgotten", name=name, number=self.history.number)
        try:
            wanted = msgspec.msgpack.encode(self.history.number)
            self.take_news(self.node.ask(name, MISSED, wanted, _CALL_S))
        except SottovoceError:
            return  # logged where the changes were refused; the next party may answer
        self._tell_all()

    def _farewell(self, removed: Member, news: bytes) -> None:
        """Let a party know that it was removed; if it does not hear, it is refused all the same."""
        try:
            if self.node is not None:
                self.node.ask_once(removed, NEWS, news, _CALL_S)
        except SottovoceError:
            self._log("farewell not heard", name=removed.certificate_name)

    def _ask_for_missed(self) -> None:
        pause = _AGAIN_S
        while self.node is not None and not self._stopping.is_set():
            try:
                wanted = msgspec.msgpack.encode(self.history.number)
                news = self.node.ask(COORDINATOR, MISSED, wanted, _CALL_S)
                self.take_news(news)
            except RosterRefusedError:
                return  # logged; asking again gives the same
            except CallRefusedError:
                if pause == _AGAIN_S:
                    self._log("refused by the coordinator")
                    self.on_refusal(_REFUSED_HERE)
                pause = min(2 * pause, _LONGEST_PAUSE_S)
                self._stopping.wait(pause)
            except (InputError, ProtocolError):
                self._stopping.wait(_AGAIN_S)
            else:
                return


def save_changes(history: RosterHistory, config: PartyConfig) -> None:
    """Write a party's signed changes and roster where its configuration says."""
    party = config.party
    history.save(config.path(party.changes or CHANGES_FILE), config.path(party.roster))


def read_authority(party: "ConfiguredParty") -> Authority | None:
    """The key that signs the roster's changes, at the coordinator of parties that join."""
    config = party.config
    if config.party.role != "coordinator" or config.party.tls.authority_key is None:
        return None
    path = config.path(config.party.tls.authority_key)
    return Authority(party.authority, load_key(path, passphrase=party_passphrase(config)))
