"""``sottovoce learn renew`` and ``sottovoce learn rotate``."""

from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli.extras import needs_extra
from sottovoce.cli.learn_options import ConfigOption, check_asleep, loaded
from sottovoce.cli.shown import AsJson, show_json
from sottovoce.errors import ParameterError

AuthorityOption = Annotated[
    Path | None, typer.Option(help="The folder `authority` that `learn init` wrote.")
]
DaysOption = Annotated[int, typer.Option(help="How long the certificate holds.")]
PassphraseOption = Annotated[
    str,
    typer.Option(help="Of the authority's key: none, prompt, env:VARIABLE or file:PATH."),
]


def renew(
    certificate: Annotated[Path, typer.Argument(help="A party's certificate.pem.")],
    authority: AuthorityOption = None,
    days: DaysOption = 365,
    passphrase: PassphraseOption = "none",  # noqa: S107 - the name of a source
    as_json: AsJson = False,
) -> None:
    """Give a certificate a new end; its key stays.

    Parties know each other by their certificates' fingerprints: the roster beside the certificate
    and the authority's are rewritten, and everybody needs the new one.

    Example: sottovoce learn renew ada/certificate.pem --authority authority
    """
    with needs_extra("federation"):
        from sottovoce.federation.certificates.authority import (  # noqa: PLC0415 - fast --help
            days_left,
        )
        from sottovoce.federation.certificates.credentials import (  # noqa: PLC0415 - fast --help
            fingerprint,
        )
        from sottovoce.federation.config import rotation  # noqa: PLC0415 - fast --help
        from sottovoce.federation.config.party import ROSTER_FILE  # noqa: PLC0415 - fast --help

    folder = _given(authority)
    signer = rotation.load_authority(folder, passphrase=passphrase)
    rosters = [folder / ROSTER_FILE, certificate.parent / ROSTER_FILE]
    renewed = rotation.renew(certificate, signer, rosters, days=days)
    left = round(days_left(renewed))
    if as_json:
        show_json({"certificate": certificate, "days": left, "fingerprint": fingerprint(renewed)})
        return
    typer.echo(f"{certificate} holds for {left} days.")
    typer.echo(f"Give {rosters[0]} to every party, and restart them all.")


def rotate(
    what: Annotated[str, typer.Argument(help="identity, paillier, journal or tls.")],
    config: ConfigOption,
    authority: AuthorityOption = None,
    days: DaysOption = 365,
    key_bits: Annotated[int, typer.Option(help="Of a new Paillier key.")] = 3072,
    passphrase: PassphraseOption = "none",  # noqa: S107 - the name of a source
    as_json: AsJson = False,
) -> None:
    """Replace one of a party's keys by a fresh one; stop the party first.

    A new identity or TLS key changes the roster: everybody needs the new roster.toml. What was
    hidden under an old Paillier key can be asked no more.

    Example: sottovoce learn rotate identity --config ada/party.toml
    """
    with needs_extra("federation"):
        from sottovoce.federation.config import rotation  # noqa: PLC0415 - fast --help
        from sottovoce.federation.parties.configured import JOURNAL_FILE  # noqa: PLC0415 - fast --help
        from sottovoce.federation.parties.rekey import rotate_journal  # noqa: PLC0415 - fast --help

    found = loaded(config)
    check_asleep(found)
    if what not in rotation.ROTATED:
        known = ", ".join(rotation.ROTATED)
        raise ParameterError(f"what to rotate must be one of {known}, got {what!r}.")
    changed = what in ("identity", "tls")
    if what == "tls":
        signer = rotation.load_authority(_given(authority), passphrase=passphrase)
        rotation.rotate_tls(found, signer, days=days)
    elif what == "identity":
        rotation.rotate_identity(found)
    elif what == "paillier":
        rotation.rotate_paillier(found, key_bits)
    else:
        rotate_journal(found, found.path(found.party.store) / JOURNAL_FILE)
    if as_json:
        show_json({"rotated": what, "party": found.party.name, "roster_changed": changed})
        return
    typer.echo(f"{found.party.name} has a new {what} key.")
    if changed:
        roster = found.path(found.party.roster)
        typer.echo(f"Give {roster} to every party, and restart them all.")


def _given(authority: Path | None) -> Path:
    if authority is None:
        raise ParameterError("give --authority: the folder with the authority's ca.pem and ca.key.")
    return authority
