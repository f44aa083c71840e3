"""A configured party: its node with all that it brings, and its journal while it is offline.

Only a coordinator proposes runs. A peer that wants rows classified under the hidden mode sends it a
run request over the same mutual TLS, and the coordinator proposes the query in that peer's name, no
other's.
"""

import hmac
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar, get_args

import msgspec

from sottovoce._notes import LEFT_BEHIND, Move, begins_as_archive, unpack
from sottovoce.errors import (
    BadFrameError,
    ConfigError,
    InputError,
    RosterRefusedError,
    SottovoceError,
)
from sottovoce.federation._journal import Journal
from sottovoce.federation._keys import Secrets, load_secrets, party_passphrase
from sottovoce.federation._node.dispatcher import Machines
from sottovoce.federation._node.exchange import Policy, TermsWithout
from sottovoce.federation._node.node import Node
from sottovoce.federation.certificates import (
    WARNING_DAYS,
    Credentials,
    check_certificate,
    days_left,
    fingerprint,
    load_certificate,
)
from sottovoce.federation.config import CONFIG_FILE, PartyConfig, Role, load_config
from sottovoce.federation.party.history import RunHistory, journal_history, training_record
from sottovoce.federation.party.holdings import MachineMaker, RunKeys
from sottovoce.federation.party.journal_key import (
    Counted,
    OutsideCount,
    following_key,
    note_restored,
    restored_error,
    settle_count,
    settle_key,
    settle_memory,
)
from sottovoce.federation.party.memory import MEMORY_FILE, PartyMemory
from sottovoce.federation.party.terms import check_accepted
from sottovoce.federation.roster import (
    Member,
    RosterHistory,
    configured_role,
    load_history,
    load_roster,
    protocol_name,
    save_roster,
)
from sottovoce.federation.transport.frames import VERSION, Log, Settings
from sottovoce.files import output_folder, whole_file
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.training_terms import COORDINATOR
from sottovoce.learn.wire.codec import Value, encode_value
from sottovoce.learn.wire.message import Party

JOURNAL_FILE = "journal.sqlite"
METHOD = "Ask"
_ASK_S = 30.0
_NOT_CARRIED = ("-wal", "-shm", ".lock", CONFIG_FILE)
_UNNOTED = (
    "how far this party has come cannot be noted outside its store, and a restored copy would go "
    "unnoticed; set XDG_STATE_HOME to a folder where it can write."
)


class RunRequest(msgspec.Struct, frozen=True):
    """A run that a peer asks the coordinator for: its terms, as all parties will see them."""

    version: int
    terms: bytes


class RunResponse(msgspec.Struct, frozen=True):
    """The run that was proposed, or why none was."""

    version: int
    run: bytes = b""
    why_not: str = ""


# From who asks and for what to the session of the run that was proposed.
ProposeRequested = Callable[[Member, RunRequest], bytes]
_Read = TypeVar("_Read", RunRequest, RunResponse)
_NAMES: Mapping[type, str] = {RunRequest: "run request", RunResponse: "run response"}


class PartyNode(Node):
    """A node that asks its coordinator for runs, or, as the coordinator, answers such requests."""

    def answer_run_requests(self, propose: ProposeRequested) -> None:
        """Let peers ask for runs; before `start` only."""

        def answer(caller: Member, data: bytes) -> bytes:
            request = _read(data, RunRequest)
            try:
                response = RunResponse(VERSION, run=propose(caller, request))
            except SottovoceError as error:
                response = RunResponse(VERSION, why_not=str(error))
            return msgspec.msgpack.encode(response)

        self.offer(METHOD, answer)

    def request_run(self, request: RunRequest) -> bytes:
        """Ask the coordinator; the run that it proposes."""
        answer = self.ask(COORDINATOR, METHOD, msgspec.msgpack.encode(request), _ASK_S)
        response = _read(answer, RunResponse)
        if response.why_not:
            raise InputError(response.why_not)
        return response.run

    def history(self) -> list[RunHistory]:
        """All runs so far, with their results."""
        return self.read_journal(journal_history)

    def training_record(self, training: bytes) -> dict[str, Value] | None:
        """What this party kept of a training."""
        found = training_record(self.history(), training)
        return None if found is None else dict(found)


def _read(data: bytes, kind: type[_Read]) -> _Read:
    try:
        found = msgspec.msgpack.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadFrameError(f"a {_NAMES[kind]} must have the fields of its type.") from None
    if found.version != VERSION:
        raise BadFrameError(f"a {_NAMES[kind]} must be of version {VERSION}.")
    return found


def known_changes(config: PartyConfig, authority: bytes) -> RosterHistory | None:
    """The signed changes of a party's roster, if parties join and leave its federation."""
    changes = config.party.changes
    return None if changes is None else load_history(config.path(changes), authority)


class ConfiguredParty:
    """Everything that a configuration names, read and checked; nothing runs yet.

    Without ``strict`` a certificate that others would refuse is taken: enough to read the journal.
    """

    def __init__(
        self, config: PartyConfig, role: Role | None = None, *, strict: bool = True
    ) -> None:
        self.config = config
        self._unnoted = False
        party = config.party
        if role is not None and party.role != role:
            raise ConfigError(
                f"{party.name} is configured as {party.role}: start it with sottovoce learn "
                f"{party.role}."
            )
        self.certificate = load_certificate(config.path(party.tls.certificate))
        self.authority = load_certificate(config.path(party.tls.authority))
        self.history = known_changes(config, self.authority)
        self.roster = load_roster(config.path(party.roster))
        if self.history is not None and self.history.roster != self.roster:
            self._settle_roster(self.history)
        if strict:
            self._check_certificate()
        self.store = private_folder(config.path(party.store))
        self._settle_journal_key()
        self.secrets: Secrets = load_secrets(config)
        if not self.is_removed:
            self._check_identity()

    @property
    def name(self) -> str:
        """As protocols call it."""
        return protocol_name(self.config.party.name, self.config.party.role)

    @property
    def entry(self) -> Member:
        """What the roster says of it."""
        if self.is_removed:
            raise ConfigError(
                f"{self.config.party.name} was removed from the federation; its coordinator may "
                "invite it again."
            )
        return self.roster.find_party(self.config.party.name)

    @property
    def is_removed(self) -> bool:
        """Whether the coordinator has taken it off the roster."""
        return self.history is not None and self.name not in self.roster

    @property
    def moves(self) -> Move:
        """What is noted of its moves, under a name that outlives all keys but its memory's."""
        name = hmac.digest(self.secrets.memory, b"sottovoce move", "sha256").hex()
        return Move("party", name[:32], ConfigError)

    @property
    def credentials(self) -> Credentials:
        """What it proves itself by."""
        return Credentials(self.certificate, self.secrets.tls_key, self.authority)

    @property
    def certificate_days(self) -> float:
        """Until its certificate ends."""
        return days_left(self.certificate)

    @property
    def warnings(self) -> list[str]:
        """What should be done soon."""
        left, found = self.certificate_days, []
        if left < WARNING_DAYS:
            found = [f"the certificate ends in {left:.0f} days; renew it: sottovoce learn renew."]
        return [*found, _UNNOTED] if self._unnoted else found

    def node(
        self, log: Log, policy: Policy, terms_without: TermsWithout | None = None
    ) -> tuple[PartyNode, MachineMaker]:
        """Its node, not yet started, and what makes its state machines."""
        outside = OutsideCount(self.secrets.journal_key)
        beside = OutsideCount(self.secrets.journal_key, "memory")
        maker = MachineMaker(
            self.config,
            self.roster,
            self.secrets,
            lambda session: node.training_record(session),  # noqa: PLW0108 - the node comes below
            PartyMemory(self.store / MEMORY_FILE, self.secrets.memory),
        )
        machines = Machines(maker, result_of, policy, terms_without)
        node = PartyNode(
            self.name,
            self.roster,
            self.credentials,
            journal=self.store / JOURNAL_FILE,
            journal_key=self.secrets.journal_key,
            machines=machines,
            settings=Settings(deadline_s=self.config.party.deadline_s, retry_without_lost=True),
            log=log,
            counted=outside.note,
        )
        # Now that nobody else has the journal open: it is packed by whoever has.
        self.moves.refuse_moved()
        added = node.read_journal(lambda journal: journal.count)
        if added < outside.read_count() or maker.memory.count < beside.read_count():
            log("store restored", party=self.name)
            node.read_journal(note_restored)
            node.abort_all(restored_error(self.name))
        node.read_journal(lambda journal: settle_count(journal, outside))
        settle_memory(maker.memory, beside)
        maker.memory.counted = beside.note
        self._unnoted = not (outside.is_kept and beside.is_kept)
        maker.keys = RunKeys(node, self.secrets.paillier)
        return node, maker

    def find_refusal(self, terms: bytes, _proposer: str) -> str | None:
        """Why this party takes no part in a proposed run, or None."""
        try:
            check_accepted(RunTerms.from_bytes(terms), self.config, self.roster)
        except InputError as error:
            return str(error)
        return None

    @contextmanager
    def journal(self) -> Iterator[Journal]:
        """Its journal, while the party itself is offline."""
        opened = Journal(self.store / JOURNAL_FILE, self.secrets.journal_key)
        try:
            yield opened
        finally:
            opened.close()

    def _settle_roster(self, history: RosterHistory) -> None:
        """The changes are written first: whoever was stopped right then has an older roster."""
        path = self.config.path(self.config.party.roster)
        if not history.has_been(self.roster):
            raise RosterRefusedError(
                f"{path} must be what the signed changes beside it come to, and is not: it was "
                "changed behind this party's back."
            )
        self.roster = history.roster
        save_roster(self.roster, path)

    def _settle_journal_key(self) -> None:
        files = self.config.party.secrets
        path = self.config.path(files.journal)
        if following_key(path).exists():
            settle_key(path, self.store / JOURNAL_FILE, party_passphrase(self.config))

    def _check_certificate(self) -> None:
        party = self.config.party
        check_certificate(self.certificate, self.authority, name=party.name)
        if self.entry.fingerprint != fingerprint(self.certificate):
            raise ConfigError(
                f"the roster knows {party.name} by another certificate; get the new roster.toml."
            )
        role = configured_role(self.entry)
        if role != party.role:
            raise ConfigError(f"the roster says that {party.name} is a {role}.")

    def _check_identity(self) -> None:
        identity = self.secrets.identity
        if identity is not None and identity.public.hex() != self.entry.identity:
            raise ConfigError(
                f"the roster knows {self.config.party.name} by another identity; get the new "
                "roster.toml."
            )


def result_of(party: Party) -> bytes:
    """What to keep of a party that has finished."""
    kept: dict[str, Value] = dict(party.result())  # type: ignore[attr-defined] # a RunParty
    return encode_value(kept)


def private_folder(path: Path) -> Path:
    """A folder that only its owner may enter."""
    output_folder(path).chmod(stat.S_IRWXU)
    return path


def move_party(source: Path, to: Path) -> None:
    """Pack a party's folder into an archive, after which it works nowhere; or unpack one."""
    if begins_as_archive(source):
        unpack(source, "party", lambda name: to / name)
        return
    config = source / CONFIG_FILE
    party = ConfiguredParty(load_config(config), strict=False)
    key, moves = party.secrets.journal_key, party.moves
    # Whoever runs has the journal open, and nobody else can.
    with party.journal():
        day = moves.begin(to)
    counts = [OutsideCount(key, what) for what in get_args(Counted)]
    found = [file for file in sorted(source.rglob("*")) if not file.name.endswith(_NOT_CARRIED)]
    files = [*(file for file in found if file.is_file() and not file.is_symlink()), config]
    named = {str(file.relative_to(source)): file for file in files}
    moves.pack(named, {count.key: count.read_count() for count in counts}, to)
    with whole_file(config) as left:
        left.write_bytes(LEFT_BEHIND + f'{day}"\n'.encode())
