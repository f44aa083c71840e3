"""The folder of a federation's coordinator, alone at first, and that of a party which joins it.

Each is written on its own machine. Keys are made there, and only the public halves are ever sent.
"""

import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from sottovoce.errors import InputError, ProtocolError, RosterRefusedError, SottovoceError
from sottovoce.federation._files import (
    NONE,
    found_from_anywhere,
    private_text,
    read_passphrase,
)
from sottovoce.federation._party_toml import AUTHORITY_KEY_FILE, WrittenParty, party_toml
from sottovoce.federation._secrets import FILES, load_identity, new_secrets
from sottovoce.federation.certificates import (
    DAYS,
    Authority,
    certificate_request,
    check_certificate,
    fingerprint,
    load_key,
    new_key,
    read_certificate,
    read_key,
    save_key,
)
from sottovoce.federation.config import (
    CHANGES_FILE,
    CONFIG_FILE,
    HELD_OUT,
    ROSTER_FILE,
    FeatureSettings,
    PartyConfig,
    TlsFiles,
    TrainingSettings,
)
from sottovoce.federation.join import request as joining
from sottovoce.federation.join.changes import RosterHistory, read_changes
from sottovoce.federation.join.invitations import JoinClient
from sottovoce.federation.join.request import (
    Ask,
    Collect,
    JoinReply,
    JoinRequest,
    JoinToken,
    Reveal,
    as_compared,
    check_address,
    comparison_string,
)
from sottovoce.federation.roster import member, save_roster
from sottovoce.federation.setup import host_of, new_private_folder, write_whole
from sottovoce.federation.transport.frames import Log
from sottovoce.files import whole_file

COORDINATOR_NAME = "coordinator"
PENDING_FILE = "join.json"
_TLS = TlsFiles()
_ASK_AGAIN_S = 1.0


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


def new_federation(folder: Path, plan: FoundingPlan) -> RosterHistory:
    """Write the coordinator's folder: its own keys, the authority, and a roster of itself."""
    check_empty(folder)
    passphrase = read_passphrase(plan.passphrase, Path.cwd())
    join = plan.join_address
    new_private_folder(folder)
    authority, kept = Authority.new("sottovoce authority")
    write_whole(folder / _TLS.authority, kept.certificate)
    save_key(kept.key, folder / AUTHORITY_KEY_FILE, passphrase=passphrase)
    key = new_key()
    save_key(key, folder / _TLS.key, passphrase=passphrase)
    asked = certificate_request(key, COORDINATOR_NAME)
    certificate = authority.grant(asked, COORDINATOR_NAME, [host_of(plan.address)], days=plan.days)
    write_whole(folder / _TLS.certificate, certificate)
    new_secrets(folder, "coordinator", None, passphrase)  # Paillier keys are made run by run
    source = found_from_anywhere(plan.passphrase)
    who = WrittenParty(
        COORDINATOR_NAME, "coordinator", plan.address, source, signed=True, join=join
    )
    write_whole(folder / CONFIG_FILE, party_toml(who, plan.training, plan.features).encode())
    own = member(COORDINATOR_NAME, "coordinator", plan.address, fingerprint(certificate))
    history = RosterHistory(kept.certificate).sign_change("founded", own, authority)
    save_history(history, folder)
    return history


class PendingJoin(msgspec.Struct, frozen=True):
    """A request to join that both sides must still confirm; kept in the joiner's folder."""

    token: str
    request: bytes
    nonces: tuple[bytes, bytes]
    authority: bytes
    mode: str
    columns: list[str]
    passphrase: str

    @property
    def string(self) -> str:
        """What both sides compare."""
        known = JoinToken.read(self.token).fingerprint
        return comparison_string(known, fingerprint(self.authority), self.request, self.nonces)


def begin_join(
    folder: Path, token: JoinToken, address: str, passphrase: str, log: Log
) -> PendingJoin:
    """Make this party's keys in ``folder``, and ask the coordinator of the token to let it join."""
    check_empty(folder)
    check_address(address)
    sealed_by = read_passphrase(passphrase, Path.cwd())
    passphrase = found_from_anywhere(passphrase)
    try:
        with JoinClient(token.address, token.fingerprint) as client:
            pending = _ask_to_join(client, folder, token, address, (passphrase, sealed_by))
    except SottovoceError as error:
        log("join refused", error=type(error).__name__, sentence=str(error))
        shutil.rmtree(folder, ignore_errors=True)
        raise
    with whole_file(folder / PENDING_FILE, private=True) as part:
        part.write_bytes(msgspec.json.encode(pending))
    log("asked to join", name=token.name, string=pending.string)
    return pending


def _ask_to_join(
    client: JoinClient,
    folder: Path,
    token: JoinToken,
    address: str,
    passphrase: tuple[str, str | None],
) -> PendingJoin:
    new_private_folder(folder)
    key = new_key()
    save_key(key, folder / _TLS.key, passphrase=passphrase[1])
    new_secrets(folder, token.role, None, passphrase[1])
    identity = (
        load_identity(folder / FILES.identity, passphrase[1]) if token.role == "peer" else None
    )
    made = JoinRequest.make(token.name, address, certificate_request(key, token.name), identity)
    request, nonce = joining.pack_message(made), joining.new_nonce()
    commitment = joining.commitment(request, nonce)
    proof = token.proof("ask", commitment)
    asked = Ask(joining.VERSION, token.number, commitment, proof)
    theirs = client.call("Ask", joining.pack_message(asked))
    read_certificate(theirs.authority, "the authority's certificate")
    told = Reveal(joining.VERSION, token.number, request, nonce)
    reply = client.call("Reveal", joining.pack_message(told))
    return PendingJoin(
        token.text,
        request,
        (nonce, theirs.nonce),
        theirs.authority,
        "hidden" if reply.mode == "hidden" else "open",
        [str(each) for each in reply.columns],
        passphrase[0],
    )


def load_pending(folder: Path) -> PendingJoin:
    """The request to join that was made in ``folder``."""
    path = folder / PENDING_FILE
    if not path.exists():
        raise InputError(
            f"{folder} has no request to join; begin with learn join {folder} --token TOKEN."
        )
    try:
        return msgspec.json.decode(private_text(path), type=PendingJoin)
    except msgspec.DecodeError:
        raise InputError(
            f"{path} is damaged; remove {folder}, and join with a new token."
        ) from None


def finish_join(folder: Path, string: str, wait_s: float, log: Log) -> RosterHistory | None:
    """Confirm the comparison string, and wait for the certificate; None: not admitted yet."""
    pending = load_pending(folder)
    if as_compared(string) != pending.string:
        log("join refused", error="OtherStringError")
        raise InputError(
            "the comparison string is another one here. If it was not mistyped, somebody stands "
            f"between you and the coordinator: remove {folder}, and ask for a token by another "
            "channel."
        )
    token = JoinToken.read(pending.token)
    reply = _collect_certificate(token, wait_s)
    if not reply.certificate:
        return None
    try:
        return _write_membership(folder, pending, token, reply)
    except ProtocolError as error:
        log("join refused", error=type(error).__name__, sentence=str(error))
        raise


def _collect_certificate(token: JoinToken, wait_s: float) -> JoinReply:
    asked = joining.pack_message(
        Collect(joining.VERSION, token.number, token.proof("collect", b""))
    )
    end = time.monotonic() + wait_s
    with JoinClient(token.address, token.fingerprint) as client:
        while True:
            reply = client.call("Collect", asked)
            if reply.certificate or time.monotonic() >= end:
                return reply
            time.sleep(_ASK_AGAIN_S)


def _write_membership(
    folder: Path, pending: PendingJoin, token: JoinToken, reply: JoinReply
) -> RosterHistory:
    """What is checked is kept: the certificate must be of this party's own key."""
    request = joining.unpack_message(pending.request, JoinRequest)
    check_certificate(reply.certificate, pending.authority, name=token.name)
    passphrase = read_passphrase(pending.passphrase, Path.cwd())
    check_own_key(reply.certificate, load_key(folder / _TLS.key, passphrase=passphrase))
    history = RosterHistory(pending.authority).extend(read_changes(reply.changes))
    own = member(
        token.name,
        token.role,
        request.address,
        fingerprint(reply.certificate),
        request.identity.hex(),
    )
    coordinator = history.roster.find_party(COORDINATOR_NAME)
    if own not in history.roster.members or coordinator.fingerprint != token.fingerprint:
        raise RosterRefusedError(
            "the roster must have this party and the coordinator of the token."
        )
    write_whole(folder / _TLS.certificate, reply.certificate)
    write_whole(folder / _TLS.authority, pending.authority)
    save_history(history, folder)
    training = TrainingSettings(mode="hidden" if pending.mode == "hidden" else "open")
    who = WrittenParty(token.name, token.role, request.address, pending.passphrase, signed=True)
    text = party_toml(who, training, FeatureSettings(columns=pending.columns))
    write_whole(folder / CONFIG_FILE, text.encode())
    (folder / PENDING_FILE).unlink()
    return history


def check_own_key(certificate: bytes, key: bytes) -> None:
    """Refuse a certificate of somebody else's key."""
    if read_certificate(certificate).public_key() != read_key(key).public_key():
        raise RosterRefusedError("the certificate must be for this party's own key; it is not.")


def save_history(
    history: RosterHistory, folder: Path, changes: str = CHANGES_FILE, roster: str = ROSTER_FILE
) -> None:
    """The signed changes, and the roster that they come to."""
    history.save(folder / changes)
    save_roster(history.roster, folder / roster)


def save_changes(history: RosterHistory, config: PartyConfig) -> None:
    """The same, where a party's configuration says."""
    party = config.party
    save_history(history, config.folder, party.changes or CHANGES_FILE, party.roster)


def check_empty(folder: Path) -> None:
    """Refuse a folder in which something would be written over."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} must be a new or empty folder: keys are never written over.")
