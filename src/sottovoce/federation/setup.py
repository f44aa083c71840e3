"""The folder of a party, as `learn init` writes all of them, and `learn new` the coordinator's.

Each has a certificate, keys and a ``party.toml`` with a comment where somebody must decide.
"""

import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from sottovoce.errors import InputError, ParameterError
from sottovoce.federation._keys import new_secrets, read_passphrase, save_key
from sottovoce.federation.certificates import DAYS, Authority, check_name, fingerprint
from sottovoce.federation.config import (
    AUTHORITY_KEY_FILE,
    CHANGES_FILE,
    CONFIG_FILE,
    HELD_OUT,
    NEW_BUDGET,
    NONE,
    ROSTER_FILE,
    ROWS_FILE,
    TEXTS_FILE,
    Accepts,
    CountWith,
    FeatureSettings,
    Role,
    TlsFiles,
    TrainingSettings,
    absolute_source,
    check_address,
    host_of,
)
from sottovoce.federation.roster import Member, Roster, RosterHistory, member, save_roster
from sottovoce.files import output_folder, whole_file
from sottovoce.parsing import Plain, toml_lines

AUTHORITY_FOLDER = "authority"
COORDINATOR_NAME = "coordinator"
# As the protocols call it, but for a space that no certificate may have.
KEY_HOLDER_FOLDER = "key-holder"
README_FILE = "README.txt"
LOOPBACK = "127.0.0.1"
TLS_FILES = TlsFiles()
_LAST_PORT = 65535
_FEWEST_PEERS = 2
_MOST_PEERS = 200
_HEAD = "# One party of a training together. Paths are relative to this file's folder."
_TEXTS = (
    "# Your documents, which never leave this machine: a CSV, TSV, JSONL or Parquet file, and the",
    "# names of its columns. Where rows are sentences, document names the column with the id of a",
    "# sentence's document; where documents are counted together, user and id name their columns.",
)
_ROWS = "# Your rows of numbers, which never leave this machine: a CSV file with a header."
_ACCEPTS = (
    "# What you agree to take part in; a proposal beyond it is refused here. Of sums that hold\n"
    "# more than most_opened_share of the documents, fewer words are opened."
)
_COUNT_WITH = (
    "# Whose noise you count on when documents are counted together: name only peers whom you know",
    "# yourself. Of them so many may drop out, and so many may work against you. A whole document",
    "# spends at most budget of epsilon in all, for ever, and most_epsilon in one count; a count",
    "# beyond any limit is refused here. Name all labels of your documents if words may be counted",
    '# by label: labels = ["ham", "spam"]. In a training, too, only these peers\' documents',
    "# hide yours, without those of the collude largest.",
)
_FEATURES = "# How texts become numbers, at every peer alike."
_TRAINING = "# What is proposed to the peers; every one of them must accept it."
_JOIN = "# Where parties ask to join; open only while somebody is invited."


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
        listed: list[tuple[str, Role]] = [(COORDINATOR_NAME, "coordinator")]
        if self.training.needs_key_holder:
            listed.append((KEY_HOLDER_FOLDER, "keyholder"))
        if self.training.intermediary:
            listed.append(("intermediary", "intermediary"))
        return [*listed, *((name, "peer") for name in self.peers)]


@dataclass(frozen=True)
class FoundingPlan:
    """What `new` was asked for.

    Attributes:
        address: where the coordinator listens.
        join: where it takes requests to join; None: the port after that.
        training: how the classifier is to be trained.
        features: how texts become numbers.
        passphrase: where that of its keys comes from.
        days: how long certificates hold.
    """

    address: str
    join: str | None = None
    training: TrainingSettings = field(default_factory=lambda: TrainingSettings(held_out=HELD_OUT))
    features: FeatureSettings = field(default_factory=FeatureSettings)
    passphrase: str = NONE
    days: int = DAYS

    @property
    def join_address(self) -> str:
        """Where requests to join are taken."""
        if self.join is not None:
            return check_address(self.join)
        host, _, port = check_address(self.address).rpartition(":")
        return check_address(f"{host}:{int(port) + 1}")


@dataclass(frozen=True)
class WrittenParty:
    """Whose configuration is written.

    Attributes:
        name: of the party.
        role: what it does.
        address: where it listens.
        training: what is proposed to it, or what it proposes.
        features: how texts become numbers.
        passphrase: where that of its keys comes from.
        count_with: what a peer says of counts otherwise than a new one does.
        signed: whether its roster has signed changes.
        join: where a coordinator takes requests to join.
    """

    name: str
    role: Role
    address: str
    training: TrainingSettings
    features: FeatureSettings
    passphrase: str = NONE
    count_with: Mapping[str, Any] = field(default_factory=dict)
    signed: bool = False
    join: str | None = None

    @property
    def toml(self) -> str:
        """Its configuration."""
        parts: list[tuple[Sequence[str], str, Mapping[str, Plain | None]]] = [
            ((), "[secrets]", {"passphrase": self.passphrase})
        ]
        if self.join is not None:
            parts.append(((), "[tls]", {"authority_key": AUTHORITY_KEY_FILE}))
            parts.append(((_JOIN,), "[join]", {"listen": self.join}))
        if self.role == "peer" and self.features.columns:
            parts.append(((_ROWS,), "[rows]", {"file": ROWS_FILE, "label": "label"}))
        elif self.role == "peer":
            texts = {"file": TEXTS_FILE, "text": "text", "label": "label"}
            parts.append((_TEXTS, "[texts]", texts))
        if self.role != "coordinator":
            parts.append(((_ACCEPTS,), "[accepts]", self._accepts))
        if self.role == "peer":
            count_with = {"peers": [], "budget": NEW_BUDGET, **self.count_with}
            named = msgspec.to_builtins(msgspec.convert(count_with, CountWith))
            parts.append((_COUNT_WITH, "[count_with]", named))
        if self.role == "coordinator":
            training = {"mode": self.training.mode} | msgspec.to_builtins(self.training)
            features = msgspec.to_builtins(self.features)
            if not self.features.columns:
                shown = ("dictionary", "width")
                features = {name: getattr(self.features, name) for name in shown} | features
            parts += [
                ((_TRAINING,), "[training]", training),
                ((_FEATURES,), "[features]", features),
            ]
        head = {"name": self.name, "role": self.role, "listen": self.address}
        lines = [_HEAD, *toml_lines(head | {"changes": CHANGES_FILE if self.signed else None})]
        for comment, table, values in parts:
            lines += ["", *comment, table, *toml_lines(values)]
        return "\n".join(lines) + "\n"

    @property
    def _accepts(self) -> dict[str, Plain | None]:
        training = self.training
        accepts = Accepts(
            modes=[training.mode],
            fewest_documents=training.fewest_documents,
            fewest_peers=training.fewest_peers,
            two_peers=training.allow_two is not None,
            without_lost=training.without_lost,
        )
        written: dict[str, Plain | None] = msgspec.to_builtins(accepts)
        return written


def set_up(folder: Path, plan: SetupPlan) -> Roster:
    """Write everything into ``folder``, which must be new or empty."""
    check_empty(folder)
    passphrase = read_passphrase(plan.passphrase, Path.cwd())
    addresses = _choose_addresses(plan)
    output_folder(folder)
    own = new_private_folder(folder / AUTHORITY_FOLDER)
    authority = _new_authority(own, passphrase)
    source = absolute_source(plan.passphrase)
    count_with = {"peers": [*plan.peers], **plan.count_with}
    key_bits = plan.training.key_bits if plan.training.needs_key_holder else None
    entries = []
    for name, role in plan.parties:
        who = WrittenParty(
            name, role, addresses[name], plan.training, plan.features, source, count_with
        )
        entries.append(
            _new_party(folder / name, who, authority, passphrase, key_bits=key_bits, days=plan.days)
        )
    roster = Roster(tuple(entries))
    for name in (AUTHORITY_FOLDER, *addresses):
        save_roster(roster, folder / name / ROSTER_FILE)
    write_whole(folder / README_FILE, _readme(plan).encode())
    return roster


def new_federation(folder: Path, plan: FoundingPlan) -> RosterHistory:
    """Write the coordinator's folder: its own keys, the authority, and a roster of itself."""
    check_empty(folder)
    passphrase = read_passphrase(plan.passphrase, Path.cwd())
    who = WrittenParty(
        COORDINATOR_NAME,
        "coordinator",
        plan.address,
        plan.training,
        plan.features,
        absolute_source(plan.passphrase),
        signed=True,
        join=plan.join_address,
    )
    authority = _new_authority(new_private_folder(folder), passphrase)
    # Paillier keys are made run by run.
    own = _new_party(folder, who, authority, passphrase, key_bits=None, days=plan.days)
    history = RosterHistory(authority.certificate).sign_change("founded", own, authority)
    history.save(folder / CHANGES_FILE, folder / ROSTER_FILE)
    return history


def _new_authority(folder: Path, passphrase: str | None) -> Authority:
    authority, kept = Authority.new("sottovoce authority")
    write_whole(folder / TLS_FILES.authority, kept.certificate)
    save_key(kept.key, folder / AUTHORITY_KEY_FILE, passphrase=passphrase)
    return authority


def _new_party(
    folder: Path,
    who: WrittenParty,
    authority: Authority,
    passphrase: str | None,
    *,
    key_bits: int | None,
    days: int,
) -> Member:
    new_private_folder(folder)
    issued = authority.issue(who.name, [host_of(who.address)], days=days)
    write_whole(folder / TLS_FILES.certificate, issued.certificate)
    write_whole(folder / TLS_FILES.authority, authority.certificate)
    save_key(issued.key, folder / TLS_FILES.key, passphrase=passphrase)
    identity = new_secrets(folder, who.role, key_bits, passphrase)
    write_whole(folder / CONFIG_FILE, who.toml.encode())
    public = "" if identity is None else identity.public.hex()
    return member(who.name, who.role, who.address, fingerprint(issued.certificate), public)


def peer_names(count: int | None, names: Sequence[str]) -> tuple[str, ...]:
    """The peers' names, made up where only their number is known."""
    if names and count is not None and count != len(names):
        raise ParameterError(f"--peers says {count}, but --names has {len(names)} names.")
    if names:
        return tuple(names)
    if count is None:
        raise ParameterError("give --peers or --names: how many peers, or their names.")
    width = len(str(count))
    return tuple(f"peer-{number:0{width}}" for number in range(1, count + 1))


def _choose_addresses(plan: SetupPlan) -> dict[str, str]:
    names = [name for name, _ in plan.parties]
    hosts = plan.hosts or (LOOPBACK,) * len(names)
    if plan.base_port is None:
        ports = _find_free_ports(len(names))
    else:
        ports = list(range(plan.base_port, plan.base_port + len(names)))
        if plan.base_port < 1 or ports[-1] > _LAST_PORT:
            raise ParameterError(
                f"ports must lie between 1 and {_LAST_PORT}, got {plan.base_port} to {ports[-1]}."
            )
    bracketed = (f"[{host}]" if ":" in host else host for host in hosts)
    listed = zip(names, bracketed, ports, strict=True)
    return {name: f"{host}:{port}" for name, host, port in listed}


def _find_free_ports(count: int) -> list[int]:
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((LOOPBACK, 0))
        return [int(each.getsockname()[1]) for each in sockets]


def check_empty(folder: Path) -> None:
    """Refuse a folder in which something would be written over."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} must be a new or empty folder: keys are never written over.")


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
