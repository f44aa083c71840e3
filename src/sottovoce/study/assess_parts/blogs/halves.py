"""Users split once and for all into those a measure is developed on and those it is tested on."""

import hashlib
from typing import Literal, get_args

from sottovoce.errors import ParameterError

Half = Literal["development", "test", "all"]
HALVES: tuple[Half, ...] = get_args(Half)
SALT = "sottovoce assess-blogs 1:"


def half_of(user: str) -> Half:
    """By the parity of the last byte of SHA-256 over the salt and the user's id."""
    even = hashlib.sha256((SALT + user).encode()).digest()[-1] % 2 == 0
    return "development" if even else "test"


def checked_half(name: str) -> Half:
    """The half called ``name``."""
    for half in HALVES:
        if half == name:
            return half
    raise ParameterError(f"half must be one of {', '.join(HALVES)}, got {name!r}.")
