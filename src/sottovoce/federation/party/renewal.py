"""A joined party's new certificate or keys: asked of the coordinator by those that it has.

The party does not run meanwhile, the coordinator does; a coordinator signs for itself, and tells
the others when it starts. A new key is kept only once its certificate has come.
"""

from dataclasses import replace
from typing import NamedTuple

import msgspec

from sottovoce.errors import InputError, ParameterError
from sottovoce.federation._files import read_passphrase, save_secret
from sottovoce.federation._secrets import IDENTITY, load_identity
from sottovoce.federation.certificates import (
    DAYS,
    Authority,
    certificate_request,
    check_certificate,
    fingerprint,
    load_key,
    new_key,
    save_key,
)
from sottovoce.federation.config import PartyConfig
from sottovoce.federation.join.changes import RosterHistory, What, read_changes
from sottovoce.federation.join.folders import check_own_key, save_changes
from sottovoce.federation.join.request import JoinRequest
from sottovoce.federation.party._membership import CERTIFY, wish
from sottovoce.federation.party.party import ConfiguredParty
from sottovoce.federation.setup import host_of, write_whole
from sottovoce.federation.transport.client import MessageClient
from sottovoce.federation.transport.frames import Settings, to_logger
from sottovoce.learn.sums.keys import Identity

_CALL_S = 30.0


class _Given(msgspec.Struct, frozen=True):
    certificate: bytes
    changes: bytes


class _Own(NamedTuple):
    """The keys that a party wants to be known by."""

    tls_key: bytes
    identity: Identity | None


def renew_joined(config: PartyConfig, *, days: int = DAYS) -> bytes:
    """A certificate with a new end, for the same keys."""
    return _certify(ConfiguredParty(config, strict=False), "renewed", _present(config), days)


def rotate_joined(config: PartyConfig, what: str, *, days: int = DAYS) -> bytes:
    """A certificate for a new TLS key (``tls``), or with a new identity beside it."""
    present, passphrase = _present(config), _passphrase(config)
    if what == "identity" and present.identity is None:
        raise ParameterError(f"only a peer has an identity; {config.party.name} is none.")
    wanted = (
        present._replace(tls_key=new_key())
        if what == "tls"
        else present._replace(identity=Identity())
    )
    certificate = _certify(ConfiguredParty(config, strict=False), "rotated", wanted, days)
    files = config.party
    if what == "tls":
        save_key(wanted.tls_key, config.path(files.tls.key), passphrase=passphrase)
    elif wanted.identity is not None:
        path = config.path(files.secrets.identity)
        save_secret(path, wanted.identity.secret, kind=IDENTITY, passphrase=passphrase)
    return certificate


def _certify(party: ConfiguredParty, what: What, wanted: _Own, days: int) -> bytes:
    config = party.config
    name, address = config.party.name, party.entry.address
    asked = certificate_request(wanted.tls_key, name)
    request = JoinRequest.make(name, address, asked, wanted.identity)
    if config.party.role == "coordinator":
        certificate, history = _by_itself(party, what, asked, days)
    else:
        certificate, history = _by_coordinator(party, what, request, days)
    check_certificate(certificate, party.authority, name=name)
    check_own_key(certificate, wanted.tls_key)
    save_changes(history, config)
    write_whole(config.path(config.party.tls.certificate), certificate)
    return certificate


def _by_itself(
    party: ConfiguredParty, what: What, asked: bytes, days: int
) -> tuple[bytes, RosterHistory]:
    config = party.config
    key_file = config.party.tls.authority_key
    if key_file is None or party.history is None:
        raise InputError("set authority_key in [tls]: the coordinator's certificate needs it.")
    key = load_key(config.path(key_file), passphrase=_passphrase(config))
    authority = Authority(party.authority, key)
    own = party.entry
    certificate = authority.grant(asked, config.party.name, [host_of(own.address)], days=days)
    changed = replace(own, fingerprint=fingerprint(certificate))
    return certificate, party.history.sign_change(what, changed, authority)


def _by_coordinator(
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
    client = MessageClient(coordinator, party.credentials, Settings(), to_logger)
    try:
        answer = client.call(CERTIFY, wish(what, request, days), _CALL_S)
        given = msgspec.msgpack.decode(answer, type=_Given)
    except msgspec.DecodeError:
        raise InputError("the coordinator must answer with a certificate.") from None
    finally:
        client.close()
    known = party.history.number
    changes = read_changes(given.changes)
    history = RosterHistory(party.authority).extend(changes)
    if history.changes[:known] != party.history.changes:
        raise InputError("the coordinator's roster has another past than the one known here.")
    return given.certificate, history


def _present(config: PartyConfig) -> _Own:
    passphrase = _passphrase(config)
    key = load_key(config.path(config.party.tls.key), passphrase=passphrase)
    if config.party.role != "peer":
        return _Own(key, None)
    return _Own(key, load_identity(config.path(config.party.secrets.identity), passphrase))


def _passphrase(config: PartyConfig) -> str | None:
    return read_passphrase(config.party.secrets.passphrase, config.folder)
