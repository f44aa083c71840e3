"""Run commands of a checkout, each in a fork, with randomness that the product cannot be given.

Reads one JSON object a line: a command, its folder, environment and the files of its streams.
Answers with the exit code, or with the process id of a command that stays.
"""

import contextlib
import hashlib
import importlib
import itertools
import json
import os
import pkgutil
import random
import runpy
import signal
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

SOURCES = ("sottovoce.privacy.randomness", "sottovoce.privacy._randomness")
_LEFT_OUT = ("__main__", "spark", "spu", "_child", "postgres")
_LONGEST_S = 90


def main() -> None:
    """Import the checkout once, then run what is asked until nothing more is asked."""
    # On one core all threads take turns, so that draws keep their order.
    os.sched_setaffinity(0, {int(sys.argv[1])})
    import_everything()
    print("ready", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        process = os.fork()
        if not process:
            _run(asked)
        if asked["stays"]:
            print(process, flush=True)
        else:
            print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)


def import_everything() -> None:
    """Import every module of the product that can be imported."""
    package = importlib.import_module("sottovoce")
    for found in pkgutil.walk_packages(package.__path__, "sottovoce.", onerror=lambda _name: None):
        if not any(part in found.name for part in _LEFT_OUT):
            with contextlib.suppress(Exception):
                importlib.import_module(found.name)


def _run(asked: dict[str, Any]) -> None:
    """Be the command; this never returns."""
    code = 70
    try:
        for at, path in enumerate((os.devnull, asked["out"], asked["err"])):
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            os.dup2(file, at)
            os.close(file)
        os.chdir(asked["folder"])
        os.environ.update(asked["environment"])
        make_predictable(asked["seed"])
        signal.alarm(0 if asked["stays"] else _LONGEST_S)
        sys.argv = ["sottovoce", *asked["arguments"]]
        runpy.run_module("sottovoce.cli", run_name="__main__", alter_sys=False)
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def make_predictable(seed: str) -> None:
    """Replace the source of privacy's randomness and of the names of files, in this process."""
    for name in SOURCES:
        with contextlib.suppress(ModuleNotFoundError):
            source = importlib.import_module(name)
            source.os = _os_with(predictable_bytes(f"{seed} noise"))  # type: ignore[attr-defined] # a stand-in
    random._urandom = predictable_bytes(f"{seed} names")  # type: ignore[attr-defined]  # noqa: SLF001 - its only source


def _os_with(urandom: Callable[[int], bytes]) -> ModuleType:
    changed = {**vars(os), "urandom": urandom}
    return SimpleNamespace(**changed)  # type: ignore[return-value] # a stand-in


def predictable_bytes(seed: str) -> Callable[[int], bytes]:
    """As `os.urandom`, but of a seed: the same calls give the same bytes."""
    numbers = itertools.count()

    def urandom(count: int) -> bytes:
        return hashlib.shake_256(f"{seed} {next(numbers)}".encode()).digest(count)

    return urandom


if __name__ == "__main__":
    main()
