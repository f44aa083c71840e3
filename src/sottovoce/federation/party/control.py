"""How to run parties on this machine, and to speak to them by a socket that only its owner opens.

One request a connection, as a line of JSON; the answers are lines of JSON, the last of which has
`"last": true`. The socket lies in the party's store, a folder of mode 0700, and whoever connects
must be the same user (or root): the operating system says who it is. `Connected` is a running
federation as a notebook sees it, from the machine of one of its peers. `PartyProcesses` are all
parties of a folder: for demos, studies, benches and tests.
"""

import csv
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from sottovoce.errors import InputError, NotRunningError, SottovoceError
from sottovoce.federation.config import (
    CONFIG_FILE,
    ROSTER_FILE,
    ROWS_FILE,
    TEXTS_FILE,
    PartyConfig,
    load_config,
)
from sottovoce.federation.party.history import record_of
from sottovoce.federation.roster import load_roster, protocol_name
from sottovoce.federation.setup import AUTHORITY_FOLDER, SetupPlan, set_up
from sottovoce.files import whole_file
from sottovoce.learn.documents import Documents, Examples
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.wire.codec import Value
from sottovoce.parsing import parse_json
from sottovoce.privacy.ledger.elsewhere import LEDGER_VARIABLE

SOCKET_FILE = "control.sock"
_LARGEST_REQUEST = 1 << 28
_CREDENTIALS = "3i"  # process, user and group

Answers: TypeAlias = Iterator[Mapping[str, Any]]
Handler: TypeAlias = Callable[[Mapping[str, Any]], Answers]


class ControlServer:
    """Answers requests, each connection in a thread of its own."""

    def __init__(self, store: Path, handler: Handler) -> None:
        self._handler = handler
        self._path = store / SOCKET_FILE
        self._path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX)
        with _short_path(store) as short:
            self._socket.bind(f"{short}/{SOCKET_FILE}")
        self._path.chmod(0o600)
        self._socket.listen()
        self._thread = threading.Thread(target=self._serve, name="control", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def close(self) -> None:
        """Answer nobody more."""
        self._socket.close()
        self._path.unlink(missing_ok=True)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._answer, args=(connection,), daemon=True)
            thread.start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rwb") as stream:
            try:
                for answer in self._answers(connection, stream.readline(_LARGEST_REQUEST)):
                    stream.write(json.dumps(answer).encode() + b"\n")
                    stream.flush()
            except OSError:
                return  # whoever asked has gone

    def _answers(self, connection: socket.socket, line: bytes) -> Answers:
        if _user(connection) not in (os.geteuid(), 0):
            yield _failure(InputError("this party belongs to another user of this machine."))
            return
        try:
            request = parse_json(line)
            yield from self._handler(request)
        except json.JSONDecodeError:
            yield _failure(InputError("a request must be a line of JSON."))
        except SottovoceError as error:
            yield _failure(error)
        except Exception as error:  # noqa: BLE001 - a defect here must not end the party
            yield _failure(SottovoceError(f"a defect: {type(error).__name__}."))


def ask(store: Path, request: Mapping[str, Any], *, timeout_s: float | None = None) -> Answers:
    """Send a request to the party that runs in ``store``; its answers, until the last."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout_s)
        try:
            with _short_path(store) as short:
                connection.connect(f"{short}/{SOCKET_FILE}")
        except OSError:
            raise NotRunningError(
                f"no party runs in {store}; start it first: sottovoce learn ROLE --config "
                "party.toml."
            ) from None
        with connection.makefile("rwb") as stream:
            stream.write(json.dumps(dict(request)).encode() + b"\n")
            stream.flush()
            for line in stream:
                answer = parse_json(line)
                if "error" in answer:
                    raise received_error(answer)
                yield answer
                if answer.get("last"):
                    return
    raise InputError("the party stopped before it had answered.")


def ask_once(store: Path, request: Mapping[str, Any], *, timeout_s: float | None = 30) -> Any:  # noqa: ANN401 - JSON
    """The one answer to a request."""
    return [*ask(store, request, timeout_s=timeout_s)][-1]["value"]


def received_error(answer: Mapping[str, Any]) -> SottovoceError:
    """An error of another process, with its exit code."""
    error = SottovoceError(str(answer["error"]))
    error.exit_code = int(answer.get("exit_code", 2))  # type: ignore[misc] # of this error alone
    return error


def _failure(error: SottovoceError) -> Mapping[str, Any]:
    return {"error": str(error), "exit_code": error.exit_code, "last": True}


def _user(connection: socket.socket) -> int:
    size = struct.calcsize(_CREDENTIALS)
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    return int(struct.unpack(_CREDENTIALS, found)[1])


@contextmanager
def _short_path(folder: Path) -> Iterator[str]:
    """A short name for a folder: a socket's path may have about 100 bytes only."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)


class Connected:
    """A `learn.runs.Connection` to the party that runs with this ``party.toml``.

        classifier = learn.FederatedTextClassifier().fit(Connected("together/ada/party.toml"))

    The coordinator's configuration must say ``peers_may_start = true``; every peer still looks
    whether it accepts what is proposed, and brings its own texts.
    """

    def __init__(self, config: str | Path) -> None:
        self._config = load_config(Path(config))
        self._roster = load_roster(self._config.path(self._config.party.roster))
        self.last: Mapping[str, Any] = {}
        """The latest run's summary: time, bytes, rounds and leakage."""

    @property
    def identities(self) -> Mapping[str, bytes]:
        """Every peer's name with its public identity."""
        return self._roster.identities

    @property
    def here(self) -> str:
        """The party of this machine."""
        return protocol_name(self._config.party.name, self._config.party.role)

    def run(
        self, terms: RunTerms, examples: Mapping[str, Examples]
    ) -> Mapping[str, Mapping[str, Value]]:
        """Have a run done, and wait for it; what the party of this machine keeps."""
        request: dict[str, Any] = {"do": "run", "terms": terms.to_bytes().hex()}
        given = examples.get(self.here)
        if isinstance(given, Documents):
            request["texts"] = list(given.texts)
        elif examples:
            raise InputError(f"only {self.here}'s own texts can be brought from this machine.")
        *_, last = ask(self._config.path(self._config.party.store), request)
        self.last = {k: v for k, v in last["value"].items() if k != "record"}
        return {self.here: record_of(bytes.fromhex(last["value"]["record"]))}


LOG_FILE = "log.jsonl"
STATE_FOLDER = "state"
_ERRORS_FILE = "stderr.txt"
_START_S = 120.0
_STOP_S = 30.0
_LOOK_S = 0.05


@dataclass
class PartyProcesses:
    """The processes of parties, by name; ``within`` puts words before a party's command.

    That is for putting a party into a container, a network namespace or under a debugger.
    """

    folder: Path
    processes: dict[str, "subprocess.Popen[bytes]"]
    within: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def config(self, name: str) -> PartyConfig:
        """A party's configuration."""
        return load_config(self.folder / name / CONFIG_FILE)

    def store(self, name: str) -> Path:
        """Where a party keeps its journal."""
        config = self.config(name)
        return config.path(config.party.store)

    def ask(self, name: str, **request: Any) -> Any:  # noqa: ANN401 - JSON
        """What a party answers in the end."""
        *_, last = ask(self.store(name), request)
        return last["value"]

    def start(self, name: str) -> None:
        """Start a party, or start it again."""
        self.processes[name] = _start_party(self.folder / name, self.within.get(name, ()))

    def wait(self, names: Sequence[str]) -> None:
        """Until all of these answer."""
        end = time.monotonic() + _START_S
        for name in names:
            self._wait_for(name, end)

    def settle(self) -> None:
        """Until no party has a run under way: some end a moment after the coordinator."""
        end = time.monotonic() + _START_S
        for name in self.processes:
            while any(run["status"] == "running" for run in self.ask(name, do="status")["runs"]):
                if time.monotonic() > end:
                    raise InputError(f"{name} has not ended its run within {_START_S:g} s.")
                time.sleep(_LOOK_S)

    def stop(self, names: Sequence[str] | None = None) -> None:
        """Ask parties to stop, and see that they do."""
        chosen = [self.processes[name] for name in names or self.processes]
        for process in chosen:
            process.terminate()
        for process in chosen:
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _wait_for(self, name: str, end: float) -> None:
        process = self.processes[name]
        while time.monotonic() < end:
            if process.poll() is not None:
                said = (self.folder / name / _ERRORS_FILE).read_text(encoding="utf-8")
                raise SottovoceError(f"{name} did not start: {said.strip()[-400:]}")
            try:
                ask_once(self.store(name), {"do": "status"})
            except NotRunningError:
                time.sleep(_LOOK_S)
            else:
                return
        raise InputError(f"{name} did not start within {_START_S:g} s.")


def prepare(folder: Path, peers: Mapping[str, Examples], plan: SetupPlan) -> None:
    """What `learn init` writes, with each peer's examples in its own folder."""
    set_up(folder, plan)
    for name, examples in peers.items():
        if isinstance(examples, Documents):
            _write_rows(folder / name / TEXTS_FILE, ["text"], examples, examples.texts)
        else:
            columns = list(examples.columns) or plan.features.columns
            cells = (list(map(repr, row)) for row in examples.rows.tolist())
            _write_rows(folder / name / ROWS_FILE, columns, examples, cells)


def _write_rows(
    path: Path, columns: list[str], examples: Examples, rows: Iterable[str | list[str]]
) -> None:
    labels = examples.labels or [""] * len(examples)
    with (
        whole_file(path, private=True) as part,
        part.open("w", encoding="utf-8", newline="") as out,
    ):
        writer = csv.writer(out)
        writer.writerow(["label", *columns])
        for label, row in zip(labels, rows, strict=True):
            writer.writerow([label, *([row] if isinstance(row, str) else row)])


@contextmanager
def running_parties(
    folder: Path,
    names: Sequence[str] | None = None,
    within: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[PartyProcesses]:
    """Run the parties that `learn init` wrote into ``folder``, all or some, for a while."""
    if names is None:
        roster = load_roster(folder / AUTHORITY_FOLDER / ROSTER_FILE)
        names = [member.certificate_name for member in roster]
    parties = PartyProcesses(folder, {}, within or {})
    try:
        for name in names:
            parties.start(name)
        parties.wait(names)
        yield parties
    finally:
        parties.stop()


def _start_party(folder: Path, within: Sequence[str]) -> "subprocess.Popen[bytes]":
    role = load_config(folder / CONFIG_FILE).party.role
    command = [sys.executable, "-m", "sottovoce.cli", "learn", role]
    options = ["--config", str(folder / CONFIG_FILE), "--log", str(folder / LOG_FILE)]
    with (folder / _ERRORS_FILE).open("ab") as errors:
        return subprocess.Popen(  # noqa: S603 - our own command
            [*within, *command, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=_environment(folder),
        )


def _environment(folder: Path) -> dict[str, str]:
    """As this process's, with our package where this process found it.

    What parties keep outside their folders goes beside these, as if each had a machine of its own:
    nothing is left behind elsewhere, and none pays from another's ledger.
    """
    here = str(Path(__file__).parents[3])
    paths = [here, *filter(None, [os.environ.get("PYTHONPATH")])]
    beside = {"XDG_STATE_HOME": str(folder.parent / STATE_FOLDER / folder.name)}
    own = {name: value for name, value in os.environ.items() if name != LEDGER_VARIABLE}
    return {**own, **beside, "PYTHONPATH": os.pathsep.join(paths)}
