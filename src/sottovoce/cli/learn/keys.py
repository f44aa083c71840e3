"""``sottovoce learn renew`` and ``rotate``: a party's certificate and keys are replaced."""

from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli._options import needs_extra
from sottovoce.cli._output import AsJson, show_json
from sottovoce.cli.learn._output import ConfigOption, check_offline, load_party_config
from sottovoce.errors import ParameterError

AuthorityOption = Annotated[
    Path | None, typer.Option(help="The folder `authority` that `learn init` wrote.")
]
DaysOption = Annotated[int, typer.Option(help="How long the certificate holds.")]
PassphraseOption = Annotated[
    str,
    typer.Option(help="Of the authority's key: none, prompt, env:VARIABLE or file:PATH."),
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
    """Give a certificate a new end; its key stays.

    A party that has joined asks its running coordinator, with --config, while it is stopped itself;
    all others hear of it. In a trial the authority signs: parties know each other by their
    certificates' fingerprints, so that the roster beside the certificate and the authority's are
    rewritten, and everybody needs the new one.

    Example: sottovoce learn renew --config ada/party.toml

    Args:
        certificate: Of a trial's party: its certificate.pem.
        config: Of a party that has joined: its party.toml.
    """
    if config is not None:
        _renew_joined(config, days, as_json=as_json)
        return
    if certificate is None:
        raise ParameterError(
            "say which: --config party.toml of a party that has joined, or a trial's certificate "
            "and --authority."
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
    typer.echo(f"{certificate} holds for {left} days.")
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
    typer.echo(f"{found.party.name}'s certificate holds for {round(days_left(renewed))} days.")
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
    """Replace one of a party's keys by a fresh one; stop the party first.

    A new identity or TLS key changes the roster. A party that has joined gets a certificate for it
    from its running coordinator, and all others hear of it; in a trial everybody needs the new
    roster.toml. What was hidden under an old Paillier key can be asked no more.

    Example: sottovoce learn rotate identity --config ada/party.toml

    Args:
        what: Which key: identity, paillier, journal or tls.
        key_bits: Of a new Paillier key.
    """
    with needs_extra("federation"):
        from sottovoce.federation.party import renewal  # noqa: PLC0415 - fast --help
        from sottovoce.federation.party.journal_key import (  # noqa: PLC0415 - fast --help
            forget_run_keys,
            rotate_journal,
        )
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
    """Move a party to another machine: into an archive here, and out of it there; stop it first.

    The archive holds its folder, keys and texts too: carry it like a key. From the first command on
    the party is refused here, and works again once the second, there, has unpacked the archive,
    which is removed. After a crash run the same command again. Unpack it once only.

    Example: sottovoce learn move ada carried.zip

    Example: sottovoce learn move carried.zip ada

    Args:
        source: Its folder, or its archive.
        to: A new file for the archive; there, the folder.
    """
    with needs_extra("federation"):
        from sottovoce.federation.party.party import move_party  # noqa: PLC0415 - fast --help

    move_party(source, to)
    show_json({"moved_to": to}) if as_json else typer.echo(f"Moved to {to}.")


def _require_authority(authority: Path | None) -> Path:
    if authority is None:
        raise ParameterError("give --authority: the folder with the authority's ca.pem and ca.key.")
    return authority
