"""``sottovoce learn coordinator``, ``keyholder``, ``peer``, ``intermediary``: parties that run."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli import Stopped
from sottovoce.cli.extras import needs_extra
from sottovoce.cli.learn_options import ConfigOption, loaded
from sottovoce.cli.learn_shown import party_progress
from sottovoce.cli.shown import AsJson, show_line

if TYPE_CHECKING:
    from sottovoce.federation.config.party import Role

LogOption = Annotated[
    Path | None,
    typer.Option("--log", help="Append a line of JSON for each event; never private content."),
]


def coordinator(config: ConfigOption, log: LogOption = None, as_json: AsJson = False) -> None:
    """Run the coordinator, who adds up what it cannot read, until it is stopped.

    Example: sottovoce learn coordinator --config together/coordinator/party.toml
    """
    _serve("coordinator", config, log, as_json=as_json)


def keyholder(config: ConfigOption, log: LogOption = None, as_json: AsJson = False) -> None:
    """Run the key holder, who opens sums and nothing else, until it is stopped.

    Example: sottovoce learn keyholder --config together/key-holder/party.toml
    """
    _serve("keyholder", config, log, as_json=as_json)


def peer(config: ConfigOption, log: LogOption = None, as_json: AsJson = False) -> None:
    """Run a peer, who holds texts and shows them to nobody, until it is stopped.

    Example: sottovoce learn peer --config together/ada/party.toml
    """
    _serve("peer", config, log, as_json=as_json)


def intermediary(config: ConfigOption, log: LogOption = None, as_json: AsJson = False) -> None:
    """Run the blind intermediary, who mixes what it cannot read, until it is stopped.

    Example: sottovoce learn intermediary --config together/intermediary/party.toml
    """
    _serve("intermediary", config, log, as_json=as_json)


def _serve(role: "Role", config: Path, log: Path | None, *, as_json: bool) -> None:
    # As little as tells of failed handshakes, which the log then has; the rest is dropped.
    os.environ["GRPC_VERBOSITY"] = "INFO"
    found = loaded(config)
    with needs_extra("federation"):
        from sottovoce.federation.parties.configured import ConfiguredParty  # noqa: PLC0415 - fast --help
        from sottovoce.federation.parties.log import opened_log  # noqa: PLC0415 - fast --help
        from sottovoce.federation.parties.service import Service  # noqa: PLC0415 - fast --help
        from sottovoce.federation.transport.handshakes import (  # noqa: PLC0415 - fast --help
            handshakes_logged,
        )

    party = ConfiguredParty(found, role)
    for warning in party.warnings:
        typer.echo(f"{party.config.party.name}: {warning}", err=True)
    with opened_log(log, party.config.party.name) as noted, handshakes_logged(noted):
        try:
            with Service(party, noted) as service:
                name, address = party.config.party.name, party.entry.address
                said = f"{name} listens at {address}. Stop it with Ctrl-C or SIGTERM."
                show_line({"party": name, "address": address} if as_json else said)
                with party_progress(service):
                    service.wait()
        except Stopped:
            # A party that was asked to stop has done its duty; its journal has everything.
            typer.echo(f"{party.config.party.name} has stopped.", err=True)
