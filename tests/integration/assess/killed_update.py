"""Run a command on a state whose parts may be tiny, and kill it at its n-th step; run as a script.

A step is a file of the state that is opened, linked, renamed or removed, or some users that are
written to one, from the moment that the state is being written. Without a step to stop at, the
steps are printed.
"""

import os
import signal
import sys

import pyarrow.parquet as pq

from sottovoce.assess.state import parts
from sottovoce.cli import main

EVENTS = {"open", "os.link", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "write"}


def count_steps(stop_at: int) -> list[str]:
    """Note steps from when the state is being written, and die at one."""
    steps = list[str]()
    write = pq.ParquetWriter.write_table

    def written(*arguments: object) -> None:
        sys.audit("write", ".")
        write(*arguments)
        sys.audit("write", ".")

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        # Other events may have no arguments, and an error here would end their thread in silence.
        if event not in EVENTS:
            return
        path = str(arguments[0])
        writing = path == "." or path.startswith(("s.earlier", ".s."))
        # Only what is about the state: a run under coverage opens files of its own.
        if writing or (steps and path.partition(".")[0] == "s"):
            steps.append(event)
            if len(steps) == stop_at:
                os.kill(os.getpid(), signal.SIGKILL)

    parts.LEAST = 0
    pq.ParquetWriter.write_table = written
    sys.addaudithook(hook)
    return steps


if __name__ == "__main__":
    stop, *arguments = sys.argv[1:]
    noted = count_steps(int(stop))
    sys.argv = ["sottovoce", *arguments]
    try:
        main()
    except SystemExit as end:
        if not end.code:
            print("steps:", *noted, file=sys.stderr)  # noqa: T201 - what the test reads
        raise
