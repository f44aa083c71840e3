"""What goes wrong inside Spark, in one sentence that holds nobody's text.

Spark's own messages may quote values, paths and plans, so none is passed on; a sentence of ours,
raised by a worker, is.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from sottovoce import errors
from sottovoce.errors import InputError, SottovoceError

_OURS = re.compile(r"^(?:\S*\.)?sottovoce\.errors\.(\w+): (.+)$", re.MULTILINE)
_KNOWN = {
    "PATH_NOT_FOUND": "there is no such path",
    "COLUMN_ALREADY_EXISTS": "it has two columns of one name",
    "CANNOT_MERGE_SCHEMAS": "its files have different columns",
    "UNABLE_TO_INFER_SCHEMA": "it holds no file with columns",
    "FAILED_READ_FILE": "a file of it cannot be read",
    "Permission denied": "the system denies permission",
    "No space left on device": "a disk is full",
    "OutOfMemoryError": "a worker ran out of memory; give it more, or more --partitions",
    "Job aborted due to stage failure": "a task failed every time it was tried",
}


@contextmanager
def told(doing: str) -> Iterator[None]:
    """Turn whatever Spark raises while ``doing`` something into an error of ours."""
    try:
        yield
    except Exception as error:
        if not is_sparks(error) or os.environ.get("SOTTOVOCE_DEBUG"):
            raise
        raise translated(str(error), doing) from None


def is_sparks(error: Exception) -> bool:
    """By name, so that nothing need be imported where Spark is not installed."""
    return type(error).__module__.partition(".")[0] in {"py4j", "pyspark"}


def translated(message: str, doing: str) -> SottovoceError:
    """The error of ours inside ``message``, or one that says what kind it is."""
    found = _OURS.search(message)
    if found is not None:
        kind = getattr(errors, found[1], InputError)
        if isinstance(kind, type) and issubclass(kind, InputError):
            return kind(found[2])
    reasons = [words for sign, words in _KNOWN.items() if sign in message]
    why = reasons[0] if reasons else "it failed inside Spark; SOTTOVOCE_DEBUG=1 shows its log"
    return InputError(f"Spark could not {doing}: {why}.")
