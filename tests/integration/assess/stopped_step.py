"""Run a command and send this process a signal at its n-th step; run as a script.

A step of an assessment is a batch that is folded in, or a file that is opened, renamed or removed
in the working folder once the first batch came. A step of an update is a file of the state that is
opened, linked, renamed or removed, or some users that are written to one, from the moment that the
state is being written; its parts may be tiny. Without a step to stop at, the steps are printed.
"""

import os
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sottovoce.assess.state import parts
from sottovoce.assess.state.state import State
from sottovoce.cli import main
from sottovoce.corpus.read import _parquet, corpus

EVENTS = {"open", "os.link", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "batch", "write"}


def is_step_of_assess(event: str, path: str, *, begun: bool) -> bool:
    return event == "batch" or (begun and not Path(path).is_absolute())


def is_step_of_update(_event: str, path: str, *, begun: bool) -> bool:
    """Only what is about the state: a run under coverage opens files of its own."""
    writing = path == "." or path.startswith(("s.earlier", ".s."))
    return writing or (begun and path.partition(".")[0] == "s")


def prepare_assess() -> None:
    # Small batches are not joined, so that few posts make several.
    corpus.ENOUGH_ROWS = 1
    _parquet._ROWS = 100
    fold = State.rows

    def counted(state: State, names: pa.Array) -> object:
        sys.audit("batch", ".")
        return fold(state, names)

    State.rows = counted  # type: ignore[method-assign,assignment] # to be told of each batch


def prepare_update() -> None:
    parts.LEAST = 0
    write = pq.ParquetWriter.write_table

    def written(*arguments: object) -> None:
        sys.audit("write", ".")
        write(*arguments)
        sys.audit("write", ".")

    pq.ParquetWriter.write_table = written


def note_steps(stop_at: int, number: int, kind: str) -> list[str]:
    """Note steps from the first on, and stop at one."""
    steps = list[str]()
    is_step = is_step_of_update if kind == "update" else is_step_of_assess

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        # Other events may have no arguments, and an error here would end their thread in silence.
        if event in EVENTS and is_step(event, str(arguments[0]), begun=bool(steps)):
            steps.append(event)
            if len(steps) == stop_at:
                os.kill(os.getpid(), number)

    (prepare_update if kind == "update" else prepare_assess)()
    sys.addaudithook(hook)
    return steps


if __name__ == "__main__":
    kind_of_step, stop, signal_number, *arguments = sys.argv[1:]
    noted = note_steps(int(stop), int(signal_number), kind_of_step)
    sys.argv = ["sottovoce", *arguments]
    try:
        main()
    except SystemExit as end:
        if not end.code:
            print("steps:", *noted, file=sys.stderr)  # noqa: T201 - what the test reads
        raise
