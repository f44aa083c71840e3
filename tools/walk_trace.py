"""Run a script or module, and write down in which files of the package functions were called.

`python tools/walk_trace.py OUT PACKAGE_FOLDER sottovoce.cli assess posts.csv ...` appends to OUT a
line for each function: its file, its name and when it was first called. What runs while a module
is imported does not count: importing a file is not passing it. SIGUSR1 forgets what was seen so
far, so that a server can be traced for one request. Compiled kernels are seen only with
NUMBA_DISABLE_JIT=1.
"""

import inspect
import runpy
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType


class Trace:
    """The functions of a folder that were called, by file and name, and when each was first."""

    def __init__(self, folder: Path) -> None:
        self.calls: dict[tuple[str, str], int] = {}
        self._folder = f"{folder}/"
        self._importing = threading.local()

    def start(self) -> None:
        """Look at every call from here on, in threads too."""
        threading.setprofile(self._look)
        sys.setprofile(self._look)

    def stop(self) -> None:
        """Look no more."""
        sys.setprofile(None)
        threading.setprofile(None)

    def _look(self, frame: FrameType, event: str, _argument: object) -> None:
        if event not in {"call", "return"}:
            return
        code = frame.f_code
        if not code.co_filename.startswith(self._folder):
            return
        depth = getattr(self._importing, "depth", 0)
        # A module that is run as a program calls what it is for; any other is being imported.
        if code.co_name == "<module>" and not code.co_filename.endswith("__main__.py"):
            self._importing.depth = depth + (1 if event == "call" else -1)
        elif depth == 0 and event == "call" and code.co_flags & inspect.CO_OPTIMIZED:
            name = code.co_filename.removeprefix(self._folder)
            if (name, code.co_qualname) not in self.calls:
                self.calls[name, code.co_qualname] = time.monotonic_ns()


def main() -> None:
    """Run what is asked for, and write the files even if it ends by a signal."""
    out, folder, target, *_ = sys.argv[1:]
    trace = Trace(Path(folder))
    signal.signal(signal.SIGUSR1, lambda *_: trace.calls.clear())
    sys.argv = sys.argv[3:]
    trace.start()
    try:
        if target.endswith(".py"):
            runpy.run_path(target, run_name="__main__")
        else:
            runpy.run_module(target, run_name="__main__", alter_sys=True)
    finally:
        trace.stop()
        with Path(out).open("a", encoding="utf-8") as file:
            file.writelines(
                f"{name}\t{called}\t{at}\n" for (name, called), at in trace.calls.items()
            )


if __name__ == "__main__":
    main()
