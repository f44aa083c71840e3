"""Where a party's events go: names and fields, never content."""

import logging
from typing import Protocol

LOGGER = logging.getLogger("sottovoce.federation")


class Log(Protocol):
    """Where events go: a name and fields, never content."""

    def __call__(self, event: str, /, **fields: object) -> None:
        """Note one event."""


def to_logger(event: str, /, **fields: object) -> None:
    """An event as a record of the logger ``sottovoce.federation``; its fields are in ``fields``."""
    details = " ".join(f"{name}={value}" for name, value in fields.items())
    LOGGER.info("%s %s", event, details, extra={"event": event, "fields": fields})
