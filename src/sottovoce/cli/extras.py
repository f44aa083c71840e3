"""Optional dependencies, as a command meets them."""

from collections.abc import Iterator
from contextlib import contextmanager

from sottovoce.errors import MissingExtraError


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Turn a failed import of somebody else's module into what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError.of_import(error, extra) from None
