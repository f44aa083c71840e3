"""Python processes that start at once: forked from one that has imported what they will need.

`WarmPopen` is `subprocess.Popen` for the commands ``[sys.executable, "-m" MODULE | "-c" CODE |
SCRIPT, ...]``. Each is a process of its own, with its own files, signals and end, and a child of
whoever started it; only its imports are those of the process that it was forked from. A test of
imports, or of how the interpreter starts, must use `subprocess` itself. Such a command may stand
behind ``ip netns exec NAME``: the process then enters that network namespace.
"""

import ctypes
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

IMPORTED = (
    "pyarrow.csv",
    "pyarrow.parquet",
    "cryptography.hazmat.backends.openssl.backend",
    "grpc._channel",
    "grpc._server",
    "numba.core.registry",
    "rich.progress",
    "sottovoce.assess.assess",
    "sottovoce.cli._app",
    "sottovoce.federation.setup",
    "sottovoce.federation.party._policy",
    "sottovoce.federation.party.reports",
    "sottovoce.federation.party.party",
    "sottovoce.federation.party.service",
    "sottovoce.learn.paillier.blinding",
    "sottovoce.learn.paillier.keys",
    "sottovoce.release.make",
    "sottovoce.web.rank.service",
    "support.federations",
    "typer._adapters",
)
_SET_CHILD_SUBREAPER = 36
FIRST = "SOTTOVOCE_TESTS_FIRST"
"""In the environment of a process: what it executes before anything else, of a test's."""
_NETWORK_NAMESPACE = 0x40000000
_INTO_NAMESPACE = ("ip", "netns", "exec")
_NAMESPACES = Path("/run/netns")
LONGEST = 1 << 20
_STREAMS = 3
_servers: dict[int, socket.socket] = {}


class WarmPopen(subprocess.Popen[Any]):
    """A Python command as a process that has its imports already."""

    def _execute_child(
        self,
        args: Sequence[str],
        executable: object,
        preexec_fn: object,
        close_fds: object,
        pass_fds: object,
        cwd: object,
        env: dict[str, str] | None,
        startupinfo: object,
        creationflags: object,
        shell: object,
        *ends: int,
    ) -> None:
        namespace, command = _where_and_what(args)
        in_read, in_write, out_read, out_write, err_read, err_write = ends[:6]
        given: dict[str, object] = {
            "arguments": command[1:],
            "namespace": namespace,
            "cwd": str(cwd or Path.cwd()),
            "environment": dict(os.environ if env is None else env),
        }
        theirs = (in_read, out_write, err_write)
        self.pid = forked(given, [own if end == -1 else end for own, end in enumerate(theirs)])
        self._child_created = True
        self._close_pipe_fds(in_read, in_write, out_read, out_write, err_read, err_write)  # type: ignore[attr-defined]  # not in its types


def run_warm(
    command: Sequence[object],
    *,
    check: bool = False,
    **options: Any,  # noqa: ANN401 - of Popen
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` does, with what is printed captured as text."""
    words = [str(word) for word in command]
    captured: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with WarmPopen(words, **captured | options) as process:
        out, err = process.communicate(timeout=600)
    done = subprocess.CompletedProcess(words, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def _where_and_what(args: Sequence[str]) -> tuple[str, list[str]]:
    """The network namespace to enter, if any, and the command of Python's."""
    namespace, command = "", list(args)
    if tuple(command[:3]) == _INTO_NAMESPACE:
        namespace, command = command[3], command[4:]
    if command[0] != sys.executable:
        raise ValueError(command[0])
    return namespace, command


class _Subprocess:
    """Of `subprocess` what starts parties."""

    DEVNULL = subprocess.DEVNULL
    TimeoutExpired = subprocess.TimeoutExpired
    Popen = WarmPopen


@contextmanager
def warm_parties() -> Iterator[None]:
    """Within the block, the processes of parties have their imports already."""
    with patch("sottovoce.federation.party.control.subprocess", _Subprocess):
        yield


def forked(given: dict[str, object], streams: list[int]) -> int:
    """The number of a process that does what is ``given``, with these as its streams."""
    server = _servers.get(os.getpid()) or _started()
    socket.send_fds(server, [json.dumps(given).encode()], streams)
    return int(server.recv(LONGEST))


def _started() -> socket.socket:
    """Start the process to fork from, once for each that asks."""
    # Whoever loses its parent becomes a child of this process, so that it can be waited for.
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in (here, there):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LONGEST)
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    process = subprocess.Popen(
        [sys.executable, __file__, str(there.fileno())],
        pass_fds=[there.fileno()],
        env=os.environ | {"PYTHONPATH": paths},
    )
    there.close()
    # It ends when the last end of its socket does; until then nobody need know it.
    process.returncode = 0
    _servers[os.getpid()] = here
    return here


def _serve(asked: socket.socket) -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    _make_ready_for_kernels()
    _make_ready_for_commands()
    # Whoever collects garbage would look through all of this, and copy its pages.
    gc.collect()
    gc.freeze()
    while True:
        message, streams, _, _ = socket.recv_fds(asked, LONGEST, _STREAMS)
        if not message:
            return
        asked.send(str(_left_to_whoever_asked(message, streams)).encode())
        for stream in streams:
            os.close(stream)


def _make_ready_for_kernels() -> None:
    """What numba imports and sets up before the first kernel that a process calls."""
    target = sys.modules["numba.core.registry"].cpu_target
    target.typing_context.refresh()
    target.target_context.refresh()


def _make_ready_for_commands() -> None:
    """All commands, made from their functions once; and the kernels that split texts, loaded."""
    typer: Any = sys.modules["typer.main"]
    typer.get_command = cache(typer.get_command)
    typer.get_command(sys.modules["sottovoce.cli._app"].app)
    features = sys.modules["sottovoce.learn.features"]
    features.Features(features.TextRecipe(dictionary="hashed", width=2)).rows(["a word"])


def _left_to_whoever_asked(message: bytes, streams: list[int]) -> int:
    """Fork twice: whose parent has ended is a child of the process that reaps orphans."""
    told, tells = os.pipe()
    between = os.fork()
    if not between:
        number = os.fork()
        if not number:
            _become(json.loads(message), streams)
        os.write(tells, str(number).encode())
        os._exit(0)
    # Not before it has ended: until then nobody else can wait for its child.
    os.waitpid(between, 0)
    number = int(os.read(told, 64))
    os.close(told)
    os.close(tells)
    return number


def _become(given: dict[str, Any], streams: list[int]) -> NoReturn:
    for own, stream in enumerate(streams):
        os.dup2(stream, own)
    os.closerange(_STREAMS, max(streams) + 100)
    sys.stdin, sys.stdout, sys.stderr = (
        open(0, closefd=False),  # noqa: SIM115 - for as long as the process lives
        open(1, "w", closefd=False),  # noqa: SIM115 - likewise
        open(2, "w", buffering=1, errors="backslashreplace", closefd=False),  # noqa: SIM115 - likewise
    )
    os.chdir(given["cwd"])
    os.environ.clear()
    os.environ.update(given["environment"])
    code = 1
    try:
        if given["namespace"]:
            _enter(_NAMESPACES / given["namespace"])
        exec(os.environ.get(FIRST, ""))  # noqa: S102 - a test's
        _run(given["arguments"])
        code = 0
    except SystemExit as end:
        code = _code_of(end)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:  # noqa: BLE001 - said as the interpreter would
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _enter(namespace: Path) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    with namespace.open("rb") as file:
        if libc.setns(file.fileno(), _NETWORK_NAMESPACE) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter {namespace.name}")


def _code_of(end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    print(end.code, file=sys.stderr)  # noqa: T201 - as the interpreter would
    return 1


def _run(arguments: list[str]) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    kind, *rest = arguments
    if kind == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102 - a test's
    else:
        sys.argv = arguments
        sys.path.insert(0, str(Path(kind).parent))
        runpy.run_path(kind, run_name="__main__")


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
