"""Other libraries' files that hold pickles, read without giving them the power to run code."""

import io
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import NoReturn

from sottovoce.topics.card import ModelFileError

_ONE_AT_A_TIME = Lock()


class _PlainUnpickler(pickle.Unpickler):
    """Numbers, strings and containers only: naming any class or function is refused."""

    def find_class(self, module_name: str, _global_name: str, /) -> NoReturn:
        raise ModelFileError(
            f"the file's pickle names something of module {module_name!r}, so it could run code; "
            "only plain values are read."
        )


@contextmanager
def only_plain_pickles() -> Iterator[None]:
    """While this lasts, ``pickle.loads`` reads plain values only.

    tomotopy's compiled loader looks that function up when it reads the parameters in its files.
    """
    with _ONE_AT_A_TIME:
        before = pickle.loads
        pickle.loads = lambda data, /, **_options: _PlainUnpickler(io.BytesIO(data)).load()
        try:
            yield
        finally:
            pickle.loads = before
