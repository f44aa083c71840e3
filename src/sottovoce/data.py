"""Where studies and benches find their data sets, which are no part of the package.

In `$SOTTOVOCE_DATA`, or in `shared/data` beside the checkout.
"""

import os
from pathlib import Path

from sottovoce.errors import InputError

VARIABLE = "SOTTOVOCE_DATA"


class DataAbsentError(InputError):
    """A data file is not on this machine."""


def data_folder() -> Path:
    """The folder of data files, whether or not it exists."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else Path(__file__).parents[3] / "shared" / "data"


def data_file(name: str) -> Path:
    """The data file ``name``, or an error that says where it was looked for."""
    path = data_folder() / name
    if not path.is_file():
        raise DataAbsentError(
            f"{name} is not in {path.parent}. Set {VARIABLE} to the folder that has it."
        )
    return path
