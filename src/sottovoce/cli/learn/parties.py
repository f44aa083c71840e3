"""The parties of ``sottovoce learn``: ``init`` makes them for trials, four commands run them."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli._groups import OptionGroup
from sottovoce.cli._options import needs_extra
from sottovoce.cli._output import AsJson, show_json, show_line, show_rows
from sottovoce.cli.learn._output import ConfigOption, load_party_config, party_progress
from sottovoce.errors import ParameterError, RosterRefusedError, Stopped

if TYPE_CHECKING:
    from sottovoce.federation.config import Role, TrainingSettings
    from sottovoce.federation.roster import Roster


SealOption = Annotated[str, typer.Option(help="Seal all keys: prompt, env:VARIABLE or file:PATH.")]
LogOption = Annotated[
    Path | None,
    typer.Option("--log", help="Append a line of JSON for each event; never private content."),
]


def coordinator(*, config: ConfigOption, log: LogOption = None, as_json: AsJson = False) -> None:
    """Run the coordinator, who adds up what it cannot read, until it is stopped.

    Example: sottovoce learn coordinator --config together/coordinator/party.toml
    """
    _serve("coordinator", config, log, as_json=as_json)


def keyholder(*, config: ConfigOption, log: LogOption = None, as_json: AsJson = False) -> None:
    """Run the key holder, who opens sums and nothing else, until it is stopped.

    Example: sottovoce learn keyholder --config together/key-holder/party.toml
    """
    _serve("keyholder", config, log, as_json=as_json)


def peer(*, config: ConfigOption, log: LogOption = None, as_json: AsJson = False) -> None:
    """Run a peer, who holds texts and shows them to nobody, until it is stopped.

    Example: sottovoce learn peer --config together/ada/party.toml
    """
    _serve("peer", config, log, as_json=as_json)


def intermediary(*, config: ConfigOption, log: LogOption = None, as_json: AsJson = False) -> None:
    """Run the blind intermediary, who mixes what it cannot read, until it is stopped.

    Example: sottovoce learn intermediary --config together/intermediary/party.toml
    """
    _serve("intermediary", config, log, as_json=as_json)


def _serve(role: "Role", config: Path, log: Path | None, *, as_json: bool) -> None:
    # As little as tells of failed handshakes, which the log then has; the rest is dropped.
    os.environ["GRPC_VERBOSITY"] = "INFO"
    found = load_party_config(config)
    with needs_extra("federation"):
        from sottovoce.federation.party.holdings import unreadable_data  # noqa: PLC0415 - fast --help
        from sottovoce.federation.party.party import ConfiguredParty  # noqa: PLC0415 - fast --help
        from sottovoce.federation.party.reports import opened_log  # noqa: PLC0415 - fast --help
        from sottovoce.federation.party.service import Service  # noqa: PLC0415 - fast --help
        from sottovoce.federation.transport.tls import handshakes_logged  # noqa: PLC0415 - fast --help

    with opened_log(log, found.party.name) as log_event, handshakes_logged(log_event):
        try:
            party = ConfiguredParty(found, role)
        except RosterRefusedError as error:
            log_event("roster refused", error=type(error).__name__, sentence=str(error))
            raise
        service = Service(party, log_event)
        # What was missed is told as soon as it begins.
        service.notice = lambda told: typer.echo(f"{found.party.name}: {told}", err=True)
        try:
            # Said before it answers anybody, so that who sees it running finds it in the log.
            if unreadable := unreadable_data(party.config):
                log_event("data unreadable", sentence=unreadable.to_owner)
                typer.echo(f"{party.config.party.name}: {unreadable.to_owner}", err=True)
                typer.echo("Until that is mended it takes part in no training.", err=True)
            with service:
                for warning in party.warnings:
                    typer.echo(f"{party.config.party.name}: {warning}", err=True)
                name, address = party.config.party.name, party.entry.address
                said = f"{name} listens at {address}. Stop it with Ctrl-C or SIGTERM."
                show_line({"party": name, "address": address} if as_json else said)
                with party_progress(service):
                    service.wait()
        except Stopped:
            # A party that was asked to stop has done its duty; its journal has everything.
            typer.echo(f"{party.config.party.name} has stopped.", err=True)


@dataclass(frozen=True)
class MachineOptions(OptionGroup):
    """Where parties listen, and what their keys are.

    Args:
        hosts: Where parties listen, in the order shown; default: here.
        base_port: The first party's port; default: free ones.
        days: How long certificates hold.
        key_bits: Of Paillier keys, where there are any.
    """

    panel = "Keys and machines"

    hosts: str | None = None
    base_port: int | None = None
    passphrase: SealOption = "none"  # noqa: S105 - the name of a source
    days: int = 365
    key_bits: int = 3072


def init(
    folder: Path,
    *,
    peers: int | None = None,
    names: str | None = None,
    mode: str = "open",
    machines: MachineOptions,
    allow_two: str | None = None,
    intermediary: bool = False,
    as_json: AsJson = False,
) -> None:
    """Write a folder for each party: configuration, certificate, keys and the roster.

    For trials: whoever runs this has had everybody's keys. Between people, each makes their own:
    see `learn new` and `learn join`.

    Example: sottovoce learn init together --names ada,ben,cy,dee --mode open

    Args:
        folder: A new folder for all parties' folders.
        peers: How many hold texts.
        names: What they are called: ada,ben,cy.
        mode: open: everybody gets the classifier; hidden: nobody does.
        allow_two: With two peers each learns the other's sums: name that to accept it.
        intermediary: Add a blind intermediary for rados.
    """
    with needs_extra("federation"):
        from sottovoce.federation.setup import SetupPlan, peer_names, set_up  # noqa: PLC0415 - fast --help

    listed = peer_names(peers, _split_names(names))
    plan = SetupPlan(
        listed,
        _training(mode, machines.key_bits, allow_two, len(listed), intermediary=intermediary),
        hosts=tuple(_split_names(machines.hosts)),
        base_port=machines.base_port,
        passphrase=machines.passphrase,
        days=machines.days,
    )
    _show(folder, set_up(folder, plan), machines.passphrase, as_json=as_json)


def _training(
    mode: str, key_bits: int, allow_two: str | None, peers: int, *, intermediary: bool
) -> "TrainingSettings":
    from sottovoce.learn.paillier.keys import check_bits  # noqa: PLC0415 - fast --help
    from sottovoce.learn.sums.fixed import ALLOW_TWO, FEWEST_PARTIES  # noqa: PLC0415 - fast --help

    check_bits(key_bits)
    if peers < FEWEST_PARTIES and allow_two != ALLOW_TWO:
        raise ParameterError(
            f"at least {FEWEST_PARTIES} peers are needed, got {peers}: of two, each learns the "
            f'other\'s sums; accept that with --allow-two "{ALLOW_TWO}".'
        )
    given: dict[str, Any] = {
        "mode": mode,
        "key_bits": key_bits,
        "allow_two": allow_two,
        "intermediary": intermediary,
    }
    return new_training(given)


def new_training(given: dict[str, Any]) -> "TrainingSettings":
    """What a new federation trains unless its coordinator says otherwise; a fifth is held out."""
    from sottovoce.federation.config import HELD_OUT, TrainingSettings, read_table  # noqa: PLC0415 - fast --help

    return read_table({**given, "held_out": HELD_OUT}, TrainingSettings, "the options")


def _split_names(text: str | None) -> list[str]:
    return [] if text is None else [each.strip() for each in text.split(",")]


def _show(folder: Path, roster: "Roster", passphrase: str, *, as_json: bool) -> None:
    from sottovoce.federation.roster import configured_role  # noqa: PLC0415 - fast --help

    rows = [
        {
            "party": each.certificate_name,
            "role": configured_role(each),
            "listens at": each.address,
        }
        for each in roster
    ]
    sealed = passphrase != "none"  # noqa: S105 - the name of a source, no passphrase
    if as_json:
        parties = [
            {
                "name": each.certificate_name,
                "role": configured_role(each),
                "address": each.address,
                "fingerprint": each.fingerprint,
                "config": folder / each.certificate_name / "party.toml",
            }
            for each in roster
        ]
        show_json({"folder": folder, "sealed": sealed, "parties": parties})
        return
    show_rows(f"parties in {folder}", rows)
    kept = "sealed with your passphrase" if sealed else "not sealed: only mode 0600 protects them"
    typer.echo(f"Keys are {kept}. What to copy where is in {folder / 'README.txt'}.")
    typer.echo(
        "This is for trials: whoever ran it has had everybody's private keys. Between people, let "
        "each make their own: sottovoce learn new at the coordinator, sottovoce learn join at the "
        "others."
    )
