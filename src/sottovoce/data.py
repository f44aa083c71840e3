"""Where the data sets for studies and benches lie; they are no part of the package."""

import os
from pathlib import Path

VARIABLE = "SOTTOVOCE_DATA"
# Beside a checkout, when no variable says otherwise.
_DEFAULT = Path("..", "shared", "data")


def data_file(name: str) -> Path | None:
    """The data set called ``name``, or None when it is absent."""
    path = Path(os.environ.get(VARIABLE, _DEFAULT), name)
    return path if path.is_file() else None
