"""The command line: it parses, calls and shows. `_app` has all commands, `main` runs them."""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from sottovoce.errors import SottovoceError, Stopped

BAD_INPUT = 2
INTERNAL_ERROR = 70
_AGAIN_S = 0.01


def main() -> None:
    """Run the command, and turn whatever goes wrong into one sentence and an exit code.

    0: done; 1: a check did not hold; 2: bad usage or input; 70: a defect of ours; 130 and 143:
    stopped by Ctrl-C or SIGTERM; 141: whoever read our output has gone (by SIGPIPE itself).
    """
    try:
        with _stopping_cleanly():
            _run()
    except SottovoceError as error:
        _fail(str(error), error.exit_code)
    except Stopped as stop:
        _fail("Stopped. Nothing was left half-written.", stop.exit_code)
    except OSError as error:
        _drop_output()
        _fail(f"cannot go on: {error.strerror or 'input or output failed'}.", BAD_INPUT)
    except Exception as error:
        if os.environ.get("SOTTOVOCE_DEBUG"):
            raise
        _fail(_defect(error), INTERNAL_ERROR)


def _run() -> None:
    # A terminal that cannot show a character shows its number instead.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", lambda **_options: None)
        reconfigure(errors="backslashreplace")
    from sottovoce.cli._app import app  # noqa: PLC0415 - a stop while importing is handled too

    try:
        app()
    finally:
        sys.stdout.flush()


@contextmanager
def _stopping_cleanly() -> Iterator[None]:
    """Turn signals into an exception that nothing but `main` catches."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise Stopped(number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    # Output comes last, when no file is under way: a reader who has gone may end us at once.
    before[signal.SIGPIPE] = signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        with _stopping_again():
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _stopping_again() -> Iterator[None]:
    """Raise a stop again that fell where no exception can leave: a finaliser, a C callback.

    The interpreter prints such an exception and goes on; so a stop would be lost, with a traceback.
    """
    lost: list[Stopped] = []

    def note(unraisable: "sys.UnraisableHookArgs") -> None:
        if isinstance(unraisable.exc_value, Stopped):
            lost.append(unraisable.exc_value)
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
        else:
            hook(unraisable)

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise lost[-1]

    hook, sys.unraisablehook = sys.unraisablehook, note
    handler = signal.signal(signal.SIGALRM, stop)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        sys.unraisablehook = hook


def _drop_output() -> None:
    """Send what is still buffered nowhere, or the interpreter fails on it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> None:
    print(message, file=sys.stderr)  # noqa: T201 - plain, so that scripts can read it
    sys.exit(code)


def _defect(error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"A defect in Sottovoce, sorry: {type(error).__name__} at {place.filename}:{place.lineno}. "
        "Set SOTTOVOCE_DEBUG=1 for the traceback; it may hold private text."
    )
