"""What the commands of ``sottovoce learn`` share."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.extras import needs_extra
from sottovoce.errors import InputError

if TYPE_CHECKING:
    from sottovoce.federation.config.party import PartyConfig

WaitOption = Annotated[
    float, typer.Option("--wait", help="Seconds to wait for the party to start, if it must.")
]
ConfigOption = Annotated[Path, typer.Option("--config", help="The party's party.toml.")]

_LOOK_S = 0.1


def loaded(path: Path) -> "PartyConfig":
    """The configuration of a party."""
    with needs_extra("federation"):
        from sottovoce.federation.config.party import load_config  # noqa: PLC0415 - fast --help

    return load_config(path)


def check_asleep(config: "PartyConfig") -> None:
    """Refuse to change the keys of a party that runs with the old ones."""
    from sottovoce.federation.parties.control import (  # noqa: PLC0415 - fast --help
        NotRunningError,
        asked,
    )

    try:
        asked(config.path(config.party.store), {"do": "status"})
    except NotRunningError:
        return
    raise InputError(f"{config.party.name} is running; stop it before its keys are changed.")


def wait_for_start(config: "PartyConfig", seconds: float) -> None:
    """Until the party answers, or the time is over; whoever asks next hears which."""
    from sottovoce.federation.parties.control import (  # noqa: PLC0415 - fast --help
        NotRunningError,
        asked,
    )

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            asked(config.path(config.party.store), {"do": "status"})
        except NotRunningError:
            time.sleep(_LOOK_S)
        else:
            return
