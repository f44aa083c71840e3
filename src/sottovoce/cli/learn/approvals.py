"""``sottovoce learn approve``: a person decides on what a peer would not do by itself."""

from typing import Annotated

import typer

from sottovoce.cli._options import needs_extra
from sottovoce.cli._output import AsJson, show_json
from sottovoce.cli.learn._output import ConfigOption, loaded


def approve(
    config: ConfigOption,
    proposal: Annotated[
        str, typer.Argument(help="The proposal, by its whole SHA-256; none: list them.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List proposals that a peer has refused as too close to an earlier run, or approve one.

    Two trainings that differ by a peer, a few documents or a few words open two sums, and the
    difference of the sums is what only one of them has. Approve one only if everybody whose
    documents that may be knows of it. The coordinator must then propose it again.

    A proposal goes by its whole SHA-256: another one may well begin with the same digits. Below it
    stands every field that differs from an earlier run, or from the last one.

    Example: sottovoce learn approve --config together/ada/party.toml
    """
    with needs_extra("federation"):
        from sottovoce.federation.party import approvals  # noqa: PLC0415 - fast --help

    found = loaded(config)
    store = found.path(found.party.store)
    if proposal:
        name = approvals.approve(store, proposal)
        if as_json:
            show_json({"approved": name, "party": found.party.name})
        else:
            typer.echo(f"{found.party.name} takes part in {name} when it is proposed again.")
        return
    waits = approvals.waiting(store)
    if as_json:
        show_json({"waiting": waits, "party": found.party.name})
    elif not waits:
        typer.echo("Nothing waits for approval.")
    else:
        for name, differs in waits.items():
            typer.echo("\n".join([name, *(f"  {each}" for each in differs)]))
        typer.echo(
            "To take part in one: sottovoce learn approve WHOLE_FIRST_LINE --config PARTY.TOML"
        )
