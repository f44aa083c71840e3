"""The folder of a party that joins a federation, written on its own machine.

Keys are made there, and only the public halves are ever sent.
"""

import shutil
import time
from pathlib import Path

import msgspec

from sottovoce.errors import InputError, ProtocolError, RosterRefusedError, SottovoceError
from sottovoce.federation._keys import (
    load_key,
    new_secrets,
    private_text,
    read_passphrase,
    save_key,
)
from sottovoce.federation.certificates import (
    certificate_request,
    check_certificate,
    check_own_key,
    fingerprint,
    new_key,
    read_certificate,
)
from sottovoce.federation.config import (
    CHANGES_FILE,
    CONFIG_FILE,
    ROSTER_FILE,
    FeatureSettings,
    TrainingSettings,
    absolute_source,
    check_address,
)
from sottovoce.federation.join import request as joining
from sottovoce.federation.join.invitations import JoinClient
from sottovoce.federation.join.request import (
    Ask,
    Collect,
    JoinReply,
    JoinRequest,
    JoinToken,
    Reveal,
    as_compared,
    comparison_string,
)
from sottovoce.federation.roster import RosterHistory, member, read_changes
from sottovoce.federation.setup import (
    COORDINATOR_NAME,
    TLS_FILES,
    WrittenParty,
    check_empty,
    new_private_folder,
    write_whole,
)
from sottovoce.federation.transport.frames import Log
from sottovoce.files import whole_file

PENDING_FILE = "join.json"
_ASK_AGAIN_S = 1.0


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
    try:
        with JoinClient(token.address, token.fingerprint) as client:
            request = _make_request(folder, token, address, sealed_by)
            pending = _ask_to_join(client, token, request, absolute_source(passphrase))
    except SottovoceError as error:
        log("join refused", error=type(error).__name__, sentence=str(error))
        shutil.rmtree(folder, ignore_errors=True)
        raise
    with whole_file(folder / PENDING_FILE, private=True) as part:
        part.write_bytes(msgspec.json.encode(pending))
    log("asked to join", name=token.name, string=pending.string)
    return pending


def _make_request(folder: Path, token: JoinToken, address: str, passphrase: str | None) -> bytes:
    new_private_folder(folder)
    key = new_key()
    save_key(key, folder / TLS_FILES.key, passphrase=passphrase)
    identity = new_secrets(folder, token.role, None, passphrase)
    asked = certificate_request(key, token.name)
    return joining.pack_message(JoinRequest.make(token.name, address, asked, identity))


def _ask_to_join(
    client: JoinClient, token: JoinToken, request: bytes, passphrase: str
) -> PendingJoin:
    nonce = joining.new_nonce()
    commitment = joining.commitment(request, nonce)
    proof = token.proof("ask", commitment)
    theirs = client.call("Ask", Ask(joining.VERSION, token.number, commitment, proof))
    read_certificate(theirs.authority, "the authority's certificate")
    reply = client.call("Reveal", Reveal(joining.VERSION, token.number, request, nonce))
    return PendingJoin(
        token.text,
        request,
        (nonce, theirs.nonce),
        theirs.authority,
        "hidden" if reply.mode == "hidden" else "open",
        [str(each) for each in reply.columns],
        passphrase,
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
    asked = Collect(joining.VERSION, token.number, token.proof("collect", b""))
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
    name, role, address = token.name, token.role, request.address
    check_certificate(reply.certificate, pending.authority, name=name)
    passphrase = read_passphrase(pending.passphrase, Path.cwd())
    check_own_key(reply.certificate, load_key(folder / TLS_FILES.key, passphrase=passphrase))
    history = RosterHistory(pending.authority).extend(read_changes(reply.changes))
    own = member(name, role, address, fingerprint(reply.certificate), request.identity.hex())
    coordinator = history.roster.find_party(COORDINATOR_NAME)
    if own not in history.roster.members or coordinator.fingerprint != token.fingerprint:
        raise RosterRefusedError(
            "the roster must have this party and the coordinator of the token."
        )
    write_whole(folder / TLS_FILES.certificate, reply.certificate)
    write_whole(folder / TLS_FILES.authority, pending.authority)
    history.save(folder / CHANGES_FILE, folder / ROSTER_FILE)
    training = TrainingSettings(mode="hidden" if pending.mode == "hidden" else "open")
    features = FeatureSettings(columns=pending.columns)
    who = WrittenParty(name, role, address, training, features, pending.passphrase, signed=True)
    write_whole(folder / CONFIG_FILE, who.toml.encode())
    (folder / PENDING_FILE).unlink()
    return history
