"""Who takes part in ``sottovoce learn``: new, invite, join, admit, approve, remove, roster.

Each party makes its own keys, on its own machine, and joins by a token and a string that two
people compare.
"""

import sys
from pathlib import Path
from typing import Any

import typer

from sottovoce.cli._options import needs_extra
from sottovoce.cli._output import AsJson, show_facts, show_json, show_rows
from sottovoce.cli.learn._output import ConfigOption, ask_or_read, load_party_config, watch_run
from sottovoce.cli.learn.parties import LogOption, SealOption, new_training
from sottovoce.errors import InputError, ParameterError

_SHORT = 16
_STANDARD_INPUT = "-"


def new(
    folder: Path,
    *,
    listen: str,
    join: str | None = None,
    mode: str = "open",
    passphrase: SealOption = "none",  # noqa: S107 - the name of a source
    days: int = 365,
    as_json: AsJson = False,
) -> None:
    """Start a federation: write the coordinator's folder, with keys that stay in it.

    The other parties then join with their own keys: `learn invite` here, `learn join` there.

    Example: sottovoce learn new coordinator --listen c.example:7443

    Args:
        folder: A new folder for the coordinator.
        listen: HOST:PORT where the other parties reach it.
        join: HOST:PORT for requests to join; default: the next port.
        mode: open: everybody gets the classifier; hidden: nobody does.
        days: How many days certificates are valid.
    """
    with needs_extra("federation"):
        from sottovoce.federation.setup import FoundingPlan, new_federation  # noqa: PLC0415 - fast --help

    training = new_training({"mode": mode})
    plan = FoundingPlan(listen, join, training, passphrase=passphrase, days=days)
    history = new_federation(folder, plan)
    own = history.changes[0]
    if as_json:
        found = {"folder": folder, "fingerprint": own.fingerprint, "join": plan.join_address}
        show_json({**found, "config": folder / "party.toml"})
        return
    typer.echo(f"{folder} is the coordinator's; its keys stay there.")
    typer.echo(f"Certificate: {own.fingerprint}")
    typer.echo(
        f"Start it: sottovoce learn coordinator --config {folder / 'party.toml'}\n"
        f"Then invite: sottovoce learn invite NAME --config {folder / 'party.toml'}"
    )


def invite(
    name: str,
    *,
    config: ConfigOption,
    role: str = "peer",
    minutes: float = 30,
    as_json: AsJson = False,
) -> None:
    """Make a token that lets one party ask the running coordinator, once, to join.

    Example: sottovoce learn invite ada --config coordinator/party.toml

    Args:
        name: The party's name.
        role: peer, keyholder or intermediary.
        minutes: How long the token works.
    """
    request = {"do": "invite", "name": name, "role": role, "minutes": minutes}
    found = watch_run(config, request, "Inviting")
    if as_json:
        show_json(found)
        return
    typer.echo(found["token"])
    typer.echo(
        f"Give this token to {name} alone; it works once, for {minutes:g} minutes. There: "
        f"sottovoce learn join {name} --token TOKEN --listen HOST:PORT",
        err=True,
    )


def join(
    folder: Path,
    *,
    token: str | None = None,
    listen: str | None = None,
    confirm: str | None = None,
    wait: float = 600,
    passphrase: SealOption = "none",  # noqa: S107 - the name of a source
    log: LogOption = None,
    as_json: AsJson = False,
) -> None:
    """Join a federation, with keys made here that never leave this folder.

    With --token this makes the keys, asks the coordinator, and shows a comparison string. Phone the
    coordinator's person and ask them to read theirs. If it is the same, confirm it: here at the
    prompt, or later with --confirm.

    Example: sottovoce learn join ada --token TOKEN --listen a.example:7443

    Args:
        folder: A new folder for this party.
        token: The token from `learn invite`; - reads it from standard input.
        listen: HOST:PORT where the others reach this party.
        confirm: The comparison string, if the coordinator's person reads the same.
        wait: Seconds to wait for the coordinator's person.
    """
    with needs_extra("federation"):
        from sottovoce.federation.join import folders  # noqa: PLC0415 - fast --help
        from sottovoce.federation.join.request import JoinToken  # noqa: PLC0415 - fast --help
        from sottovoce.federation.party.reports import opened_log  # noqa: PLC0415 - fast --help

    with opened_log(log, folder.name) as log_event:
        if token is not None:
            if listen is None:
                raise ParameterError("give --listen: HOST:PORT where the others reach this party.")
            text = sys.stdin.readline() if token == _STANDARD_INPUT else token
            read = JoinToken.read(text)
            pending = folders.begin_join(folder, read, listen, passphrase, log_event)
            confirm = confirm or _ask_to_compare(folder, pending.string, as_json=as_json)
        if confirm is None:
            if token is None:
                raise ParameterError("give --token to begin, or --confirm to continue.")
            return
        history = folders.finish_join(folder, confirm, wait, log_event)
    if history is None:
        raise InputError(
            "the coordinator has not admitted this party yet; repeat the same --confirm later."
        )
    report: dict[str, Any] = {"number": history.number, "digest": history.digest}
    names = [each.certificate_name for each in history.roster]
    if as_json:
        show_json({"folder": folder, "joined": True, "roster": {**report, "parties": names}})
        return
    typer.echo(f"Joined: {', '.join(names)}. Its keys stay in {folder}.")
    config = folder / "party.toml"
    start = f"sottovoce learn {load_party_config(config).party.role} --config {config}"
    typer.echo(f"Check [accepts] in {config}, and [texts] if it is a peer; then start it: {start}")


def _ask_to_compare(folder: Path, string: str, *, as_json: bool) -> str | None:
    """The string, if a person at a terminal says that it is the same; None: later."""
    if as_json:
        show_json({"folder": folder, "joined": False, "string": string})
        return None
    typer.echo(f"Comparison string: {string}")
    if sys.stdin.isatty():
        if not typer.confirm("Does the coordinator's person read you the same string?"):
            raise InputError(
                f"not joined: somebody may stand between you. Remove {folder}, and ask for a token "
                "by another channel."
            )
        typer.echo("Waiting for the coordinator's person to admit this party.", err=True)
        return string
    typer.echo(
        f"If the coordinator's person reads you the same: sottovoce learn join {folder} "
        f"--confirm {string}"
    )
    return None


def admit(
    name: str = "", string: str = "", *, config: ConfigOption, as_json: AsJson = False
) -> None:
    """List who asks to join, or admit a party by the comparison string it read to you.

    Let the other person read the string first, and type what you hear. The coordinator refuses any
    string but its own.

    Example: sottovoce learn admit ada 4k7p-9xqm --config coordinator/party.toml

    Args:
        name: Who may join; leave out to list who asks.
        string: The comparison string that the party's person read to you.
    """
    if name and not string:
        raise ParameterError("give the comparison string, as the other person reads it to you.")
    found = watch_run(config, {"do": "admit", "name": name, "string": string}, "Admitting")
    if as_json:
        show_json(found)
    elif name:
        later = (
            "is" if found["joined"] else "will be, once its person has confirmed the string there,"
        )
        typer.echo(f"{name} {later} on the roster.")
    elif not found["waiting"]:
        typer.echo("Nobody asks to join.")
    else:
        show_rows("who asks to join; compare the strings by telephone", found["waiting"])


def remove(name: str, *, config: ConfigOption, as_json: AsJson = False) -> None:
    """Take a party off the roster, at the running coordinator: it is refused at once.

    All other parties are told. Its running runs end, with a message that names it.

    Example: sottovoce learn remove dee --config coordinator/party.toml

    Args:
        name: The party's name.
    """
    found = watch_run(config, {"do": "remove", "name": name}, "Removing")
    if as_json:
        show_json(found)
        return
    typer.echo(f"From now on, {name} is refused (change {found['number']} of the roster).")


def roster(*, config: ConfigOption, as_json: AsJson = False) -> None:
    """Show who takes part, and every signed change of the roster.

    Compare the digest with the other parties: it stands for all changes.

    Example: sottovoce learn roster --config ada/party.toml
    """
    found = ask_or_read(config, {"do": "status"})["roster"]
    if found is None:
        raise InputError("learn init made this party; its roster has no signed changes.")
    if as_json:
        show_json(found)
        return
    show_facts(
        "roster",
        {
            "parties": ", ".join(found["parties"]),
            "changes": found["number"],
            "digest": found["digest"][:_SHORT],
        },
    )
    rows = [{"time (UTC)": each["time"][:16], "what": each["change"]} for each in found["changes"]]
    show_rows("all changes, oldest first", rows)


def approve(proposal: str = "", *, config: ConfigOption, as_json: AsJson = False) -> None:
    """List proposals that a peer has refused as too close to an earlier run, or approve one.

    If two trainings differ by a peer, a few documents or a few words, the difference of their sums
    shows what only one of them has. Approve a proposal only if everybody whose documents this may
    show knows of it. The coordinator must then propose it again.

    Name a proposal by its whole SHA-256: another one may begin with the same digits. The list shows
    every field that differs from an earlier run, or from the last one.

    Example: sottovoce learn approve --config together/ada/party.toml

    Args:
        proposal: The proposal, by its whole SHA-256; leave out to list all.
    """
    with needs_extra("federation"):
        from sottovoce.federation.party import approvals  # noqa: PLC0415 - fast --help

    found = load_party_config(config)
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
