"""How commands of this machine speak to a running party: a Unix socket that only its owner opens.

One request a connection, as a line of JSON; the answers are lines of JSON, the last of which has
`"last": true`. The socket lies in the party's store, a folder of mode 0700, and whoever connects
must be the same user (or root): the operating system says who it is. `Connected` is a running
federation as a notebook sees it, from the machine of one of its peers.
"""

import json
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from sottovoce.errors import InputError, NotRunningError, SottovoceError
from sottovoce.federation.config import load_config
from sottovoce.federation.party.history import record_of
from sottovoce.federation.roster import load_roster, protocol_name
from sottovoce.json import parse_json
from sottovoce.learn.documents import Documents, Examples
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.wire.codec import Value

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
        with _ShortPath(store) as short:
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
            with _ShortPath(store) as short:
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


class _ShortPath:
    """A short name for a folder: a socket's path may have about 100 bytes only."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> str:
        self._descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        return f"/proc/self/fd/{self._descriptor}"

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


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
