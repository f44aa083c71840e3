"""The parties of ``sottovoce learn``: what makes, runs, renews and moves one."""

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


from sottovoce.cli.learn._output import check_offline

SealOption = Annotated[str, typer.Option(help="Seal all keys: prompt, env:VARIABLE or file:PATH.")]
LogOption = Annotated[
    Path | None,
    typer.Option(
        "--log", help="File to which each event adds a line of JSON, without private content."
    ),
]


def coordinator(*, config: ConfigOption, log: LogOption = None, as_json: AsJson = False) -> None:
    """Run the coordinator, which adds up what it cannot read, until it is stopped.

    Example: sottovoce learn coordinator --config together/coordinator/party.toml
    """
    _serve("coordinator", config, log, as_json=as_json)


def keyholder(*, config: ConfigOption, log: LogOption = None, as_json: AsJson = False) -> None:
    """Run the key holder, which opens sums and nothing else, until it is stopped.

    Example: sottovoce learn keyholder --config together/key-holder/party.toml
    """
    _serve("keyholder", config, log, as_json=as_json)


def peer(*, config: ConfigOption, log: LogOption = None, as_json: AsJson = False) -> None:
    """Run a peer, which holds texts and shows them to nobody, until it is stopped.

    Example: sottovoce learn peer --config together/ada/party.toml
    """
    _serve("peer", config, log, as_json=as_json)


def intermediary(*, config: ConfigOption, log: LogOption = None, as_json: AsJson = False) -> None:
    """Run the blind intermediary, which mixes what it cannot read, until it is stopped.

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
                typer.echo("Until you fix this, it takes part in no training.", err=True)
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
        hosts: Where parties listen, in the order shown; default: this machine.
        base_port: The first party's port; default: free ones.
        days: How many days certificates are valid.
        key_bits: Size of Paillier keys, if there are any.
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

    For trials only: whoever runs this sees everybody's keys. In earnest, all make their own: see
    `learn new` and `learn join`.

    Example: sottovoce learn init together --names ada,ben,cy,dee --mode open

    Args:
        folder: A new folder for all parties' folders.
        peers: How many peers hold texts.
        names: The peers' names: ada,ben,cy.
        mode: open: everybody gets the classifier; hidden: nobody does.
        allow_two: With two peers, each learns the other's sums; repeat the sentence in the error to
            accept that.
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
        {"party": each.certificate_name, "role": configured_role(each), "listens at": each.address}
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
        "This is for trials only: whoever ran it saw everybody's private keys. In earnest, all "
        "make their own: sottovoce learn new at the coordinator, sottovoce learn join at the "
        "others."
    )


AuthorityOption = Annotated[
    Path | None, typer.Option(help="The folder `authority` that `learn init` wrote.")
]
DaysOption = Annotated[int, typer.Option(help="How many days the certificate is valid.")]
PassphraseOption = Annotated[
    str,
    typer.Option(
        help="Passphrase of the authority's key: none, prompt, env:VARIABLE or file:PATH."
    ),
]
_TOLD = "The coordinator tells every other party; start this one again."


def renew(
    certificate: Path | None = None,
    *,
    config: Path | None = None,
    authority: AuthorityOption = None,
    days: DaysOption = 365,
    passphrase: PassphraseOption = "none",  # noqa: S107 - the name of a source
    as_json: AsJson = False,
) -> None:
    """Extend a certificate; its key stays.

    A party that has joined must be stopped; --config asks its running coordinator, which tells all
    others. In a trial the authority signs. Parties know each other by their certificates'
    fingerprints, so both rosters, beside the certificate and the authority's, are rewritten, and
    everybody needs the new one.

    Example: sottovoce learn renew --config ada/party.toml

    Args:
        certificate: For a party of a trial: its certificate.pem.
        config: For a party that has joined: its party.toml.
    """
    if config is not None:
        _renew_joined(config, days, as_json=as_json)
        return
    if certificate is None:
        raise ParameterError(
            "say which certificate: --config party.toml of a party that has joined, or a trial's "
            "certificate and --authority."
        )
    with needs_extra("federation"):
        from sottovoce.federation.certificates import days_left, fingerprint  # noqa: PLC0415 - fast --help
        from sottovoce.federation.config import ROSTER_FILE  # noqa: PLC0415 - fast --help
        from sottovoce.federation.party import renewal  # noqa: PLC0415 - fast --help

    folder = _require_authority(authority)
    signer = renewal.load_authority(folder, passphrase=passphrase)
    rosters = [folder / ROSTER_FILE, certificate.parent / ROSTER_FILE]
    renewed = renewal.renew(certificate, signer, rosters, days=days)
    left = round(days_left(renewed))
    if as_json:
        show_json({"certificate": certificate, "days": left, "fingerprint": fingerprint(renewed)})
        return
    typer.echo(f"{certificate} is valid for {left} days.")
    typer.echo(f"Give {rosters[0]} to every party, and restart them all.")


def _renew_joined(config: Path, days: int, *, as_json: bool) -> None:
    with needs_extra("federation"):
        from sottovoce.federation.certificates import days_left, fingerprint  # noqa: PLC0415 - fast --help
        from sottovoce.federation.party.renewal import renew_joined  # noqa: PLC0415 - fast --help

    found = load_party_config(config)
    check_offline(found)
    renewed = renew_joined(found, days=days)
    if as_json:
        left = round(days_left(renewed))
        show_json({"party": found.party.name, "days": left, "fingerprint": fingerprint(renewed)})
        return
    typer.echo(f"{found.party.name}'s certificate is valid for {round(days_left(renewed))} days.")
    typer.echo(_TOLD)


def rotate(
    what: str,
    *,
    config: ConfigOption,
    authority: AuthorityOption = None,
    days: DaysOption = 365,
    key_bits: int = 3072,
    passphrase: PassphraseOption = "none",  # noqa: S107 - the name of a source
    as_json: AsJson = False,
) -> None:
    """Replace one of a party's keys with a new one; stop the party first.

    A new identity or TLS key changes the roster. A party that has joined gets a certificate for it
    from its running coordinator, which tells all others; in a trial everybody needs the new
    roster.toml. What was hidden under an old Paillier key can no longer be used.

    Example: sottovoce learn rotate identity --config ada/party.toml

    Args:
        what: Which key: identity, paillier, journal or tls.
        key_bits: Size of a new Paillier key.
    """
    with needs_extra("federation"):
        from sottovoce.federation.party import renewal  # noqa: PLC0415 - fast --help
        from sottovoce.federation.party.journal_key import forget_run_keys, rotate_journal  # noqa: PLC0415 - fast --help
        from sottovoce.federation.party.party import JOURNAL_FILE, ConfiguredParty  # noqa: PLC0415 - fast --help

    found = load_party_config(config)
    check_offline(found)
    if what not in renewal.ROTATED:
        known = ", ".join(renewal.ROTATED)
        raise ParameterError(f"what to rotate must be one of {known}, got {what!r}.")
    changed, joined = what in ("identity", "tls"), found.party.changes is not None
    if changed and joined:
        renewal.rotate_joined(found, tls=what == "tls", days=days)
    elif what == "tls":
        signer = renewal.load_authority(_require_authority(authority), passphrase=passphrase)
        renewal.rotate_tls(found, signer, days=days)
    elif what == "identity":
        renewal.rotate_identity(found)
    elif what == "paillier":
        renewal.rotate_paillier(found, key_bits)
        with ConfiguredParty(found, strict=False).journal() as journal:
            forget_run_keys(journal)
    else:
        rotate_journal(found, found.path(found.party.store) / JOURNAL_FILE)
    if as_json:
        show_json({"rotated": what, "party": found.party.name, "roster_changed": changed})
        return
    typer.echo(f"{found.party.name} has a new {what} key.")
    if changed and joined:
        typer.echo(_TOLD)
    elif changed:
        roster = found.path(found.party.roster)
        typer.echo(f"Give {roster} to every party, and restart them all.")


def move(
    source: Annotated[Path, typer.Argument(metavar="FROM")], to: Path, *, as_json: AsJson = False
) -> None:
    """Move a party to another machine: pack it here, unpack it there; stop it first.

    The archive holds its folder, keys and texts: protect it like a key. After the first command,
    the party no longer works here. The second command, there, unpacks the archive and removes it;
    then the party works there. After a crash, run the same command again. Unpack the archive only
    once.

    Example: sottovoce learn move ada carried.zip

    Example: sottovoce learn move carried.zip ada

    Args:
        source: Its folder, or its archive.
        to: Here a new file for the archive; there the new folder.
    """
    with needs_extra("federation"):
        from sottovoce.federation.party.party import move_party  # noqa: PLC0415 - fast --help

    move_party(source, to)
    show_json({"moved_to": to}) if as_json else typer.echo(f"Moved to {to}.")


def _require_authority(authority: Path | None) -> Path:
    if authority is None:
        raise ParameterError("give --authority: the folder with the authority's ca.pem and ca.key.")
    return authority
