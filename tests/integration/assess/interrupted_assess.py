"""Run a command and send this process a signal at its n-th step; run as a script.

A step is a batch that is folded in, or a file that is opened, renamed or removed in the working
folder once the first batch came. Without a step to stop at, the number of steps is printed last.
"""

import os
import sys
from pathlib import Path

import pyarrow as pa

from sottovoce.assess.state.state import State
from sottovoce.cli import main
from sottovoce.corpus.read import _parquet, corpus

EVENTS = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "batch"}


def count_steps(stop_at: int, number: int) -> list[int]:
    """Count steps from the first batch on, and stop at one."""
    steps = [-1]
    fold = State.rows

    def counted(state: State, names: pa.Array) -> object:
        sys.audit("batch", ".")
        return fold(state, names)

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event not in EVENTS or not (event == "batch" or steps[0] >= 0):
            return
        if Path(str(arguments[0])).is_absolute():
            return
        steps[0] += 1
        if steps[0] == stop_at:
            os.kill(os.getpid(), number)

    # Small batches are not joined, so that few posts make several.
    corpus.ENOUGH_ROWS = 1
    _parquet._ROWS = 100
    State.rows = counted  # type: ignore[method-assign,assignment] # to be told of each batch
    sys.addaudithook(hook)
    return steps


if __name__ == "__main__":
    stop, signal_number, *arguments = sys.argv[1:]
    counted_steps = count_steps(int(stop), int(signal_number))
    sys.argv = ["sottovoce", *arguments]
    try:
        main()
    except SystemExit as end:
        if not end.code:
            print("steps:", counted_steps[0], file=sys.stderr)  # noqa: T201 - what the test reads
        raise
