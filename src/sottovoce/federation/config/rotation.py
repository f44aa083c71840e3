"""Renewing certificates and rotating keys, and telling the roster."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from sottovoce.errors import ParameterError
from sottovoce.federation.certificates.authority import DAYS, Authority
from sottovoce.federation.certificates.credentials import fingerprint, named_party
from sottovoce.federation.certificates.files import load_certificate, load_key, save_key
from sottovoce.federation.config.party import PartyConfig
from sottovoce.federation.config.roster import load_roster, save_roster
from sottovoce.federation.config.secrets import new_identity, new_paillier_key
from sottovoce.federation.sealed.passphrase import read_passphrase
from sottovoce.federation.transport.roster import Roster
from sottovoce.files import whole_file

Rotated: TypeAlias = Literal["identity", "paillier", "journal", "tls"]
ROTATED: tuple[Rotated, ...] = get_args(Rotated)


def load_authority(folder: Path, *, passphrase: str) -> Authority:
    """The authority that `learn init` left in ``folder``; ``passphrase`` says where its is."""
    key = load_key(folder / "ca.key", passphrase=read_passphrase(passphrase, Path.cwd()))
    return Authority(load_certificate(folder / "ca.pem"), key)


def renew(
    certificate: Path, authority: Authority, rosters: Sequence[Path], *, days: int = DAYS
) -> bytes:
    """Write the same certificate with a new end, and tell the rosters that are there.

    Its key and names stay; its fingerprint, by which parties know it, does not.
    """
    renewed = authority.renewed(load_certificate(certificate), days=days)
    name = named_party(renewed)
    for path in rosters:
        if path.exists():
            save_roster(_changed(load_roster(path), name, fingerprint=fingerprint(renewed)), path)
    with whole_file(certificate) as part:
        part.write_bytes(renewed)
    return renewed


def rotate_tls(config: PartyConfig, authority: Authority, *, days: int = DAYS) -> Roster:
    """A new key and certificate, and the roster that everybody needs from now on."""
    party = config.party
    roster = load_roster(config.path(party.roster))
    host = roster.named(party.name).address.rpartition(":")[0].strip("[]")
    issued = authority.issued(party.name, [host], days=days)
    save_key(issued.key, config.path(party.tls.key), passphrase=_passphrase(config))
    with whole_file(config.path(party.tls.certificate)) as part:
        part.write_bytes(issued.certificate)
    return _told(config, roster, fingerprint=fingerprint(issued.certificate))


def rotate_identity(config: PartyConfig) -> Roster:
    """A new signing key, and the roster that everybody needs from now on."""
    party = config.party
    if party.role != "peer":
        raise ParameterError(f"only a peer has an identity; {party.name} is a {party.role}.")
    public = new_identity(config.path(party.secrets.identity), _passphrase(config))
    return _told(config, load_roster(config.path(party.roster)), identity=public.hex())


def rotate_paillier(config: PartyConfig, bits: int) -> None:
    """A new Paillier key; classifiers hidden under the old one can be asked no more."""
    party = config.party
    if party.role not in ("coordinator", "keyholder"):
        raise ParameterError(
            f"only a coordinator or key holder has a Paillier key; {party.name} is a {party.role}."
        )
    new_paillier_key(config.path(party.secrets.paillier), bits, _passphrase(config))


def _passphrase(config: PartyConfig) -> str | None:
    return read_passphrase(config.party.secrets.passphrase, config.folder)


def _told(config: PartyConfig, roster: Roster, **changes: str) -> Roster:
    changed = _changed(roster, config.party.name, **changes)
    save_roster(changed, config.path(config.party.roster))
    return changed


def _changed(roster: Roster, name: str, **changes: str) -> Roster:
    told = roster.named(name)
    return Roster(tuple(replace(each, **changes) if each is told else each for each in roster))
