"""A folder for each party with all it needs to run, as `learn init` makes them in one go.

`learn renew` and `learn rotate` later replace its certificate and keys, and change the roster where
parties know each other by them.
"""

import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from sottovoce.errors import InputError, ParameterError
from sottovoce.federation._files import NONE, found_from_anywhere, read_passphrase
from sottovoce.federation._party_toml import WrittenParty, party_toml
from sottovoce.federation._secrets import new_identity, new_paillier_key, new_secrets
from sottovoce.federation.certificates import (
    DAYS,
    Authority,
    check_name,
    fingerprint,
    load_certificate,
    load_key,
    named_party,
    save_key,
)
from sottovoce.federation.config import (
    CONFIG_FILE,
    ROSTER_FILE,
    FeatureSettings,
    PartyConfig,
    Role,
    TrainingSettings,
)
from sottovoce.federation.roster import Member, Roster, load_roster, member, save_roster
from sottovoce.files import output_folder, whole_file

Rotated: TypeAlias = Literal["identity", "paillier", "journal", "tls"]
ROTATED: tuple[Rotated, ...] = get_args(Rotated)
AUTHORITY_FOLDER = "authority"
# As the protocols call it, but for a space that no certificate may have.
KEY_HOLDER_FOLDER = "key-holder"
README_FILE = "README.txt"
LOOPBACK = "127.0.0.1"
_LAST_PORT = 65535
_FEWEST_PEERS = 2
_MOST_PEERS = 200


@dataclass(frozen=True)
class SetupPlan:
    """What `init` was asked for.

    Attributes:
        peers: their names.
        training: how the classifier is to be trained.
        features: how texts become numbers.
        hosts: where parties listen, in the order of `parties`; empty: all on this machine.
        base_port: of the first party, the others follow; None takes free ones.
        passphrase: where the passphrase of all secrets comes from.
        days: how long certificates hold.
        count_with: what peers say of counts otherwise than new ones do: keys of ``CountWith``.
    """

    peers: tuple[str, ...]
    training: TrainingSettings
    features: FeatureSettings = field(default_factory=FeatureSettings)
    hosts: tuple[str, ...] = ()
    base_port: int | None = None
    passphrase: str = NONE
    days: int = DAYS
    count_with: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [name for name, _ in self.parties]
        for name in names:
            check_name(name)
        if len(set(names)) != len(names) or AUTHORITY_FOLDER in names:
            raise ParameterError(
                "every party must have a name of its own, and none may be called coordinator, "
                f"{KEY_HOLDER_FOLDER}, intermediary or {AUTHORITY_FOLDER}."
            )
        if not _FEWEST_PEERS <= len(self.peers) <= _MOST_PEERS:
            raise ParameterError(
                f"there must be {_FEWEST_PEERS} to {_MOST_PEERS} peers, got {len(self.peers)}."
            )
        if self.hosts and len(self.hosts) != len(names):
            raise ParameterError(
                f"there must be a host for each of {', '.join(names)}; got {len(self.hosts)}."
            )

    @property
    def parties(self) -> list[tuple[str, Role]]:
        """All parties with their roles, the coordinator first."""
        listed: list[tuple[str, Role]] = [("coordinator", "coordinator")]
        if self.training.needs_key_holder:
            listed.append((KEY_HOLDER_FOLDER, "keyholder"))
        if self.training.intermediary:
            listed.append(("intermediary", "intermediary"))
        return [*listed, *((name, "peer") for name in self.peers)]


def set_up(folder: Path, plan: SetupPlan) -> Roster:
    """Write everything into ``folder``, which must be new or empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} must be a new or empty folder: keys are never written over.")
    passphrase = read_passphrase(plan.passphrase, Path.cwd())
    addresses = _addresses(plan)
    output_folder(folder)
    authority, kept = Authority.new("sottovoce authority")
    own = new_private_folder(folder / AUTHORITY_FOLDER)
    write_whole(own / "ca.pem", kept.certificate)
    save_key(kept.key, own / "ca.key", passphrase=passphrase)
    entries = [
        _party(folder / name, plan, (name, role), addresses[name], authority, passphrase)
        for name, role in plan.parties
    ]
    roster = Roster(tuple(entries))
    for name in (AUTHORITY_FOLDER, *(name for name, _ in plan.parties)):
        save_roster(roster, folder / name / ROSTER_FILE)
    write_whole(folder / README_FILE, _readme(plan).encode())
    return roster


def peer_names(count: int | None, names: Sequence[str]) -> tuple[str, ...]:
    """The peers' names, made up where only their number is known."""
    if names and count is not None and count != len(names):
        raise ParameterError(f"--peers says {count}, but --names has {len(names)} names.")
    if names:
        return tuple(names)
    if count is None:
        raise ParameterError("give --peers or --names: how many peers, or what they are called.")
    width = len(str(count))
    return tuple(f"peer-{number:0{width}}" for number in range(1, count + 1))


def _party(
    folder: Path,
    plan: SetupPlan,
    who: tuple[str, Role],
    address: str,
    authority: Authority,
    passphrase: str | None,
) -> Member:
    name, role = who
    new_private_folder(folder)
    issued = authority.issue(name, [host_of(address)], days=plan.days)
    write_whole(folder / "certificate.pem", issued.certificate)
    write_whole(folder / "ca.pem", authority.certificate)
    save_key(issued.key, folder / "tls.key", passphrase=passphrase)
    training = plan.training
    key_bits = training.key_bits if training.needs_key_holder else None
    identity = new_secrets(folder, role, key_bits, passphrase)
    source = found_from_anywhere(plan.passphrase)
    count_with = {"peers": [*plan.peers], **plan.count_with}
    written = WrittenParty(name, role, address, source, count_with)
    text = party_toml(written, training, plan.features)
    write_whole(folder / CONFIG_FILE, text.encode())
    return member(name, role, address, fingerprint(issued.certificate), identity.hex())


def _addresses(plan: SetupPlan) -> dict[str, str]:
    names = [name for name, _ in plan.parties]
    hosts = plan.hosts or (LOOPBACK,) * len(names)
    if plan.base_port is None:
        ports = free_ports(len(names))
    else:
        ports = list(range(plan.base_port, plan.base_port + len(names)))
        if plan.base_port < 1 or ports[-1] > _LAST_PORT:
            raise ParameterError(
                f"ports must lie between 1 and {_LAST_PORT}, got {plan.base_port} to {ports[-1]}."
            )
    return {
        name: f"{_bracket_host(host)}:{port}"
        for name, host, port in zip(names, hosts, ports, strict=True)
    }


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on at this moment."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((LOOPBACK, 0))
        return [int(each.getsockname()[1]) for each in sockets]


def host_of(address: str) -> str:
    """The host of host:port."""
    return address.rpartition(":")[0].strip("[]")


def _bracket_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def new_private_folder(folder: Path) -> Path:
    """A folder for its owner only."""
    output_folder(folder).chmod(0o700)
    return folder


def write_whole(path: Path, content: bytes) -> None:
    """A file that is whole or absent."""
    with whole_file(path) as part:
        part.write_bytes(content)


def _readme(plan: SetupPlan) -> str:
    names = ", ".join(name for name, _ in plan.parties)
    sealed = (
        "Keys are readable by their owner only (mode 0600) and not sealed, since no passphrase "
        "was given."
        if plan.passphrase == NONE
        else "All keys are sealed with the passphrase that was given."
    )
    return (
        f"Copy each of the folders {names} to its party's machine, over a channel you trust, and "
        f"delete it here; keep {AUTHORITY_FOLDER} offline, since whoever has its key can make "
        "certificates in anybody's name.\n"
        "At each peer, set [texts] in party.toml to its own file of texts and labels; then start "
        "every party with: sottovoce learn ROLE --config party.toml, and train at the coordinator "
        "with: sottovoce learn train --config party.toml\n"
        f"{sealed}\n"
    )


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
    renewed = authority.renew(load_certificate(certificate), days=days)
    name = named_party(renewed)
    for path in rosters:
        if path.exists():
            save_roster(
                _change_member(load_roster(path), name, fingerprint=fingerprint(renewed)), path
            )
    with whole_file(certificate) as part:
        part.write_bytes(renewed)
    return renewed


def rotate_tls(config: PartyConfig, authority: Authority, *, days: int = DAYS) -> Roster:
    """A new key and certificate, and the roster that everybody needs from now on."""
    party = config.party
    roster = load_roster(config.path(party.roster))
    host = host_of(roster.find_party(party.name).address)
    issued = authority.issue(party.name, [host], days=days)
    save_key(issued.key, config.path(party.tls.key), passphrase=_passphrase(config))
    with whole_file(config.path(party.tls.certificate)) as part:
        part.write_bytes(issued.certificate)
    return _with_changed_roster(config, roster, fingerprint=fingerprint(issued.certificate))


def rotate_identity(config: PartyConfig) -> Roster:
    """A new signing key, and the roster that everybody needs from now on."""
    party = config.party
    if party.role != "peer":
        raise ParameterError(f"only a peer has an identity; {party.name} is a {party.role}.")
    public = new_identity(config.path(party.secrets.identity), _passphrase(config))
    return _with_changed_roster(
        config, load_roster(config.path(party.roster)), identity=public.hex()
    )


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


def _with_changed_roster(config: PartyConfig, roster: Roster, **changes: str) -> Roster:
    changed = _change_member(roster, config.party.name, **changes)
    save_roster(changed, config.path(config.party.roster))
    return changed


def _change_member(roster: Roster, name: str, **changes: str) -> Roster:
    found = roster.find_party(name)
    return Roster(tuple(replace(each, **changes) if each is found else each for each in roster))
