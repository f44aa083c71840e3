"""Who may join: by one token, once, in time, and after two people have compared a string."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from sottovoce.errors import ConfigError, InputError, ParameterError
from sottovoce.federation.certificates import Authority, certificate_request, fingerprint, new_key
from sottovoce.federation.config import Role, check_address
from sottovoce.federation.join import request as joining
from sottovoce.federation.join.invitations import Federation, Invitations, Joined
from sottovoce.federation.join.request import (
    Ask,
    Collect,
    JoinReply,
    JoinRequest,
    JoinToken,
    Reveal,
    comparison_string,
)
from sottovoce.learn.sums.keys import Identity

MINUTES = 30.0
AUTHORITY = Authority.new("authority")[0]
OWN = AUTHORITY.issue("coordinator", ["127.0.0.1"])
KEY = new_key()


@dataclass
class Coordinator:
    """Invitations with a clock that a test moves, and a note of all that happened."""

    now: float = 0.0
    events: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    members: list[JoinRequest] = field(default_factory=list)

    def __post_init__(self) -> None:
        known = Federation(
            fingerprint(OWN.certificate), AUTHORITY.certificate, fingerprint(AUTHORITY.certificate)
        )
        self.invitations = Invitations(known, self.join, self.log, lambda: self.now)

    def log(self, event: str, /, **fields: object) -> None:
        self.events.append((event, fields))

    def join(self, request: JoinRequest, _role: Role) -> Joined:
        self.members.append(request)
        return Joined(b"certificate", b"changes")

    def token(self, name: str = "ada") -> JoinToken:
        made = self.invitations.invite(name, "peer", "127.0.0.1:1", MINUTES)
        return JoinToken.read(made.text)

    def asked(self, method: str, message: Any) -> JoinReply:  # noqa: ANN401 - one of three
        answer = self.invitations.answer(method, joining.pack_message(message))
        return joining.unpack_message(answer, JoinReply)

    @property
    def refused(self) -> list[str]:
        return [str(f["sentence"]) for event, f in self.events if event == "join refused"]


@dataclass
class Joiner:
    """Somebody with a token and keys of their own."""

    token: JoinToken
    name: str = "ada"
    nonce: bytes = field(default_factory=joining.new_nonce)

    def __post_init__(self) -> None:
        made = JoinRequest.make(
            self.name, "127.0.0.1:2", certificate_request(KEY, self.name), Identity(b"i" * 32)
        )
        self.request = joining.pack_message(made)

    @property
    def ask(self) -> Ask:
        bound = joining.commitment(self.request, self.nonce)
        return Ask(joining.VERSION, self.token.number, bound, self.token.proof("ask", bound))

    @property
    def reveal(self) -> Reveal:
        return Reveal(joining.VERSION, self.token.number, self.request, self.nonce)

    @property
    def collect(self) -> Collect:
        return Collect(joining.VERSION, self.token.number, self.token.proof("collect", b""))

    def string(self, coordinator: Coordinator) -> str:
        """After asking: what the joiner shows."""
        theirs = coordinator.asked("Ask", self.ask)
        coordinator.asked("Reveal", self.reveal)
        known = fingerprint(theirs.authority)
        nonces = (self.nonce, theirs.nonce)
        return comparison_string(self.token.fingerprint, known, self.request, nonces)


@pytest.fixture
def coordinator() -> Coordinator:
    return Coordinator()


@pytest.fixture
def joiner(coordinator: Coordinator) -> Joiner:
    return Joiner(coordinator.token())


def test_both_sides_show_one_string_and_both_must_confirm_it(
    coordinator: Coordinator, joiner: Joiner
) -> None:
    string = joiner.string(coordinator)
    (waits,) = coordinator.invitations.waiting()
    assert waits["string"] == string
    assert coordinator.asked("Collect", joiner.collect).certificate == b""
    assert coordinator.members == [], "nobody has confirmed at the coordinator"
    assert coordinator.invitations.admit("ada", string.upper().replace("-", " "))
    assert coordinator.asked("Collect", joiner.collect).certificate == b"certificate"
    assert [each.name for each in coordinator.members] == ["ada"]
    assert coordinator.refused == []


def test_the_coordinator_alone_makes_nobody_a_member(
    coordinator: Coordinator, joiner: Joiner
) -> None:
    assert not coordinator.invitations.admit("ada", joiner.string(coordinator))
    assert coordinator.members == []


def test_another_string_admits_nobody(coordinator: Coordinator, joiner: Joiner) -> None:
    joiner.string(coordinator)
    with pytest.raises(InputError, match="somebody stands between you"):
        coordinator.invitations.admit("ada", "0000-0000")
    coordinator.asked("Collect", joiner.collect)
    assert coordinator.members == []
    assert ("join refused", {"name": "ada", "error": "OtherStringError"}) in coordinator.events


def test_a_wrong_token_is_refused_and_logged() -> None:
    coordinator = Coordinator()
    token = coordinator.token()
    guessed = replace(token, secret=bytes(joining.SECRET_BYTES))
    assert "does not know this token" in coordinator.asked("Ask", Joiner(guessed).ask).why_not
    unknown = replace(token, number=bytes(joining.ID_BYTES))
    assert "does not know this token" in coordinator.asked("Ask", Joiner(unknown).ask).why_not
    assert len(coordinator.refused) == 2
    assert coordinator.invitations.waiting() == []


def test_a_token_that_has_ended_is_refused_and_logged_also_to_who_has_asked_in_time(
    coordinator: Coordinator, joiner: Joiner
) -> None:
    string = joiner.string(coordinator)
    coordinator.now = 60 * MINUTES
    with pytest.raises(InputError, match="does not ask to join"):
        coordinator.invitations.admit("ada", string)
    for method, message in (("Collect", joiner.collect), ("Ask", joiner.ask)):
        assert "has expired" in coordinator.asked(method, message).why_not
    assert "has expired" in coordinator.refused[0]
    assert not coordinator.invitations.any_open


def test_a_token_that_was_used_is_refused_to_the_next_and_logged() -> None:
    coordinator = Coordinator()
    token = coordinator.token()
    first = Joiner(token)
    string = first.string(coordinator)
    assert "used before" in coordinator.asked("Ask", Joiner(token).ask).why_not
    assert "used before" in coordinator.refused[0]
    assert first.string(coordinator) == string, "whoever was first may repeat what got lost"


def test_a_token_of_before_the_coordinator_started_again_is_refused() -> None:
    token = Coordinator().token()
    again = Coordinator()
    assert "restarted" in again.asked("Ask", Joiner(token).ask).why_not


def test_a_request_that_was_not_committed_to_is_refused(
    coordinator: Coordinator, joiner: Joiner
) -> None:
    """Without this somebody in between could try requests until two strings are the same."""
    coordinator.asked("Ask", joiner.ask)
    joiner.nonce = joining.new_nonce()
    assert "committed to" in coordinator.asked("Reveal", joiner.reveal).why_not


def test_a_token_is_for_the_party_that_it_names() -> None:
    coordinator = Coordinator()
    joiner = Joiner(coordinator.token(), name="ben")
    coordinator.asked("Ask", joiner.ask)
    assert "must be that of ada" in coordinator.asked("Reveal", joiner.reveal).why_not


def test_who_stands_between_cannot_show_both_sides_one_string() -> None:
    """With a token of their own to the joiner, and the true one to the coordinator."""
    coordinator, between = Coordinator(), Coordinator()
    true = coordinator.token()
    false = replace(between.token(), fingerprint="ab" * 32)
    assert Joiner(false).string(between) != Joiner(true).string(coordinator)


def test_a_token_says_what_it_must_and_nothing_else_is_one() -> None:
    token = Coordinator().token()
    assert JoinToken.read(f"  {token.text[:40]}\n{token.text[40:]} ") == token
    assert "secret" not in repr(token)
    for wrong in ("", "svjoin1-", token.text[:-4], "nonsense", token.text + "AAAA"):
        with pytest.raises(InputError, match="what learn invite printed"):
            JoinToken.read(wrong)


@pytest.mark.parametrize(
    ("name", "role", "minutes"), [("ada", "coordinator", 5), ("ada", "peer", 0), ("Ada", "peer", 5)]
)
def test_what_cannot_be_invited(name: str, role: Role, minutes: float) -> None:
    with pytest.raises(ParameterError):
        Coordinator().invitations.invite(name, role, "127.0.0.1:1", minutes)


def test_a_certificate_is_granted_to_who_has_the_key_alone() -> None:
    asked = certificate_request(KEY, "ada")
    assert AUTHORITY.grant(asked, "ada", ["127.0.0.1"])
    damaged = asked[:200] + bytes([asked[200] ^ 1]) + asked[201:]
    for request, name in ((asked, "ben"), (damaged, "ada"), (b"none", "ada")):
        with pytest.raises(ConfigError):
            AUTHORITY.grant(request, name)


def test_letters_that_look_like_digits_are_read_as_these() -> None:
    assert joining.as_compared("O1Ll IiO0") == "0111-1100"


@pytest.mark.parametrize("address", ["", "host", "host:0", "host:99999", "a b:1", ":1"])
def test_an_address_that_nobody_can_reach_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="HOST:PORT"):
        check_address(address)
