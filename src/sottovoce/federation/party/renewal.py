"""A party's new certificate or keys; the party does not run meanwhile.

One that has joined asks the coordinator, which runs, by those that it has; a coordinator signs for
itself, and tells the others when it starts. A new key is kept only once its certificate has come.
In a trial of `learn init` the authority signs, and everybody needs the new roster.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

import msgspec

from sottovoce.errors import InputError, ParameterError
from sottovoce.federation._keys import (
    IDENTITY,
    load_identity,
    load_key,
    new_paillier_key,
    new_secret,
    party_passphrase,
    read_passphrase,
    save_key,
    save_secret,
)
from sottovoce.federation.certificates import (
    DAYS,
    Authority,
    certificate_request,
    check_certificate,
    check_own_key,
    fingerprint,
    load_certificate,
    named_party,
    new_key,
)
from sottovoce.federation.config import AUTHORITY_KEY_FILE, PartyConfig, host_of
from sottovoce.federation.join.request import JoinRequest
from sottovoce.federation.party._membership import (
    CERTIFY,
    CertificateWish,
    read_authority,
    save_changes,
)
from sottovoce.federation.party.party import ConfiguredParty
from sottovoce.federation.roster import (
    Roster,
    RosterHistory,
    What,
    load_roster,
    read_changes,
    save_roster,
)
from sottovoce.federation.setup import TLS_FILES, write_whole
from sottovoce.federation.transport.calls import MessageClient
from sottovoce.federation.transport.frames import Settings, to_logger
from sottovoce.learn.sums.keys import Identity

Rotated: TypeAlias = Literal["identity", "paillier", "journal", "tls"]
ROTATED: tuple[Rotated, ...] = get_args(Rotated)
_CALL_S = 30.0


class _Given(msgspec.Struct, frozen=True):
    certificate: bytes
    changes: bytes


class _Own(NamedTuple):
    """The keys that a party wants to be known by."""

    tls_key: bytes
    identity: Identity | None


def load_authority(folder: Path, *, passphrase: str) -> Authority:
    """The authority that `learn init` left in ``folder``; ``passphrase`` says where its is."""
    key = load_key(folder / AUTHORITY_KEY_FILE, passphrase=read_passphrase(passphrase, Path.cwd()))
    return Authority(load_certificate(folder / TLS_FILES.authority), key)


def renew(
    certificate: Path, authority: Authority, rosters: Sequence[Path], *, days: int = DAYS
) -> bytes:
    """Write the same certificate with a new end, and tell the rosters that are there.

    Its key and names stay; its fingerprint, by which parties know it, does not.
    """
    renewed = authority.renew(load_certificate(certificate), days=days)
    for path in filter(Path.exists, rosters):
        _change_roster(path, named_party(renewed), fingerprint=fingerprint(renewed))
    write_whole(certificate, renewed)
    return renewed


def rotate_tls(config: PartyConfig, authority: Authority, *, days: int = DAYS) -> Roster:
    """A new key and certificate, and the roster that everybody needs from now on."""
    party, roster = config.party, config.path(config.party.roster)
    host = host_of(load_roster(roster).find_party(party.name).address)
    issued = authority.issue(party.name, [host], days=days)
    save_key(issued.key, config.path(party.tls.key), passphrase=party_passphrase(config))
    write_whole(config.path(party.tls.certificate), issued.certificate)
    return _change_roster(roster, party.name, fingerprint=fingerprint(issued.certificate))


def rotate_identity(config: PartyConfig) -> Roster:
    """A new signing key, and the roster that everybody needs from now on."""
    party = config.party
    if party.role != "peer":
        raise ParameterError(f"only a peer has an identity; {party.name} is a {party.role}.")
    path = config.path(party.secrets.identity)
    public = Identity(new_secret(path, IDENTITY, party_passphrase(config))).public
    return _change_roster(config.path(party.roster), party.name, identity=public.hex())


def rotate_paillier(config: PartyConfig, bits: int) -> None:
    """A new Paillier key; classifiers hidden under the old one can be asked no more."""
    party = config.party
    if party.role not in ("coordinator", "keyholder"):
        raise ParameterError(
            f"only a coordinator or key holder has a Paillier key; {party.name} is a {party.role}."
        )
    new_paillier_key(config.path(party.secrets.paillier), bits, party_passphrase(config))


def _change_roster(path: Path, name: str, **changes: str) -> Roster:
    roster = load_roster(path)
    found = roster.find_party(name)
    changed = (replace(each, **changes) if each is found else each for each in roster)
    save_roster(made := Roster(tuple(changed)), path)
    return made


def renew_joined(config: PartyConfig, *, days: int = DAYS) -> bytes:
    """A certificate with a new end, for the same keys."""
    present = _load_present(config, party_passphrase(config))
    return _certify(ConfiguredParty(config, strict=False), "renewed", present, days)


def rotate_joined(config: PartyConfig, *, tls: bool, days: int = DAYS) -> bytes:
    """A certificate for a new TLS key, or else with a new identity beside it."""
    passphrase = party_passphrase(config)
    present = _load_present(config, passphrase)
    if not tls and present.identity is None:
        raise ParameterError(f"only a peer has an identity; {config.party.name} is none.")
    wanted = _Own(new_key(), present.identity) if tls else _Own(present.tls_key, Identity())
    certificate = _certify(ConfiguredParty(config, strict=False), "rotated", wanted, days)
    if tls:
        save_key(wanted.tls_key, config.path(config.party.tls.key), passphrase=passphrase)
    elif wanted.identity is not None:
        path = config.path(config.party.secrets.identity)
        save_secret(path, wanted.identity.secret, kind=IDENTITY, passphrase=passphrase)
    return certificate


def _certify(party: ConfiguredParty, what: What, wanted: _Own, days: int) -> bytes:
    config = party.config
    name, address = config.party.name, party.entry.address
    asked = certificate_request(wanted.tls_key, name)
    if config.party.role == "coordinator":
        certificate, history = _sign_own(party, what, asked, days)
    else:
        request = JoinRequest.make(name, address, asked, wanted.identity)
        certificate, history = _ask_coordinator(party, what, request, days)
    check_certificate(certificate, party.authority, name=name)
    check_own_key(certificate, wanted.tls_key)
    save_changes(history, config)
    write_whole(config.path(config.party.tls.certificate), certificate)
    return certificate


def _sign_own(
    party: ConfiguredParty, what: What, asked: bytes, days: int
) -> tuple[bytes, RosterHistory]:
    authority, own = read_authority(party), party.entry
    if authority is None or party.history is None:
        raise InputError("set authority_key in [tls]: the coordinator's certificate needs it.")
    hosts = [host_of(own.address)]
    certificate = authority.grant(asked, party.config.party.name, hosts, days=days)
    changed = replace(own, fingerprint=fingerprint(certificate))
    return certificate, party.history.sign_change(what, changed, authority)


def _ask_coordinator(
    party: ConfiguredParty, what: What, request: JoinRequest, days: int
) -> tuple[bytes, RosterHistory]:
    if party.history is None:
        raise InputError("only a party that has joined asks its coordinator for a certificate.")
    if party.certificate_days <= 0:
        raise InputError(
            f"the certificate of {party.config.party.name} has ended, and proves nothing to the "
            "coordinator any more: have its person remove this party and invite it again."
        )
    coordinator = party.roster.of_role("coordinator")[0]
    wish = CertificateWish(what, msgspec.msgpack.encode(request), days)
    client = MessageClient(coordinator, party.credentials, Settings(), to_logger)
    try:
        answer = client.call(CERTIFY, msgspec.msgpack.encode(wish), _CALL_S)
        given = msgspec.msgpack.decode(answer, type=_Given)
    except msgspec.DecodeError:
        raise InputError("the coordinator must answer with a certificate.") from None
    finally:
        client.close()
    known = party.history.number
    history = RosterHistory(party.authority).extend(read_changes(given.changes))
    if history.changes[:known] != party.history.changes:
        raise InputError("the coordinator's roster has another past than the one known here.")
    return given.certificate, history


def _load_present(config: PartyConfig, passphrase: str | None) -> _Own:
    key = load_key(config.path(config.party.tls.key), passphrase=passphrase)
    return _Own(key, load_identity(config, passphrase))
