"""``sottovoce learn approve``: a person decides on what a peer would not do by itself."""

from typing import Annotated

import typer

from sottovoce.cli._options import needs_extra
from sottovoce.cli._output import AsJson, show_json, show_rows
from sottovoce.cli.learn._output import ConfigOption, loaded


def approve(
    config: ConfigOption,
    proposal: Annotated[
        str, typer.Argument(help="The proposal, by the beginning of its name; none: list them.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List proposals that a peer has refused as too close to an earlier run, or approve one.

    Two trainings that differ by a peer, a few documents or a few words open two sums, and the
    difference of the sums is what only one of them has. Approve one only if everybody whose
    documents that may be knows of it. The coordinator must then propose it again.

    Example: sottovoce learn approve 3f2a9c --config together/ada/party.toml
    """
    with needs_extra("federation"):
        from sottovoce.federation.party import _approvals  # noqa: PLC0415 - fast --help

    found = loaded(config)
    store = found.path(found.party.store)
    if proposal:
        name = _approvals.approve(store, proposal)
        if as_json:
            show_json({"approved": name, "party": found.party.name})
        else:
            typer.echo(f"{found.party.name} takes part in {name} when it is proposed again.")
        return
    waits = _approvals.waiting(store)
    if as_json:
        show_json({"waiting": waits, "party": found.party.name})
    elif not waits:
        typer.echo("Nothing waits for approval.")
    else:
        rows = [{"proposal": name, "differs in": "; ".join(each)} for name, each in waits.items()]
        show_rows("refused, since an earlier run was nearly the same", rows)
