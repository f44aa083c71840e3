"""What the commands of ``sottovoce learn`` share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.extras import needs_extra

if TYPE_CHECKING:
    from sottovoce.federation.config import PartyConfig

ConfigOption = Annotated[Path, typer.Option("--config", help="The party's party.toml.")]


def loaded(path: Path) -> "PartyConfig":
    """The configuration of a party."""
    with needs_extra("federation"):
        from sottovoce.federation.config import load_config  # noqa: PLC0415 - fast --help

    return load_config(path)
