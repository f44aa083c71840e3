"""The command line: it parses, calls and shows."""

import os
import sys
import traceback

from sottovoce.errors import SottovoceError

INTERRUPTED = 130
INTERNAL_ERROR = 70


def main() -> None:
    """Run the command, and turn whatever goes wrong into one sentence and an exit code.

    0: done; 1: a check did not hold; 2: bad usage or input; 70: a defect of ours; 130: Ctrl-C.
    """
    from sottovoce.cli.app import app  # noqa: PLC0415 - Ctrl-C while importing is handled below too

    try:
        app()
    except SottovoceError as error:
        _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        _fail("Interrupted. Nothing was left half-written.", INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output has gone; say nothing more, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if os.environ.get("SOTTOVOCE_DEBUG"):
            raise
        _fail(_defect(error), INTERNAL_ERROR)


def _fail(message: str, code: int) -> None:
    print(message, file=sys.stderr)  # noqa: T201 - plain, so that scripts can read it
    sys.exit(code)


def _defect(error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"A defect in Sottovoce, sorry: {type(error).__name__} at {place.filename}:{place.lineno}. "
        "Set SOTTOVOCE_DEBUG=1 for the traceback; it may hold private text."
    )
