"""``sottovoce learn init``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.extras import needs_extra
from sottovoce.cli.shown import AsJson, show_json, show_rows
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.federation.config.party import Training
    from sottovoce.federation.transport.roster import Roster


def init(
    folder: Annotated[Path, typer.Argument(help="A new folder for all parties' folders.")],
    peers: Annotated[int | None, typer.Option(help="How many hold texts.")] = None,
    names: Annotated[str | None, typer.Option(help="What they are called: ada,ben,cy.")] = None,
    mode: Annotated[
        str, typer.Option(help="open: everybody gets the classifier; hidden: nobody does.")
    ] = "open",
    way: Annotated[
        str, typer.Option(help="How sums are added up: masks, or packed (with a key holder).")
    ] = "masks",
    hosts: Annotated[
        str | None,
        typer.Option(help="Where parties listen, in the order shown; default: here."),
    ] = None,
    base_port: Annotated[
        int | None, typer.Option(help="The first party's port; default: free ones.")
    ] = None,
    passphrase: Annotated[
        str, typer.Option(help="Seal all keys: prompt, env:VARIABLE or file:PATH.")
    ] = "none",  # noqa: S107 - the name of a source
    days: Annotated[int, typer.Option(help="How long certificates hold.")] = 365,
    key_bits: Annotated[int, typer.Option(help="Of Paillier keys, where there are any.")] = 3072,
    allow_two: Annotated[
        str | None,
        typer.Option(help="With two peers each learns the other's sums: name that to accept it."),
    ] = None,
    intermediary: Annotated[
        bool, typer.Option("--intermediary", help="Add a blind intermediary for rados.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a folder for each party: configuration, certificate, keys and the roster.

    Example: sottovoce learn init together --names ada,ben,cy,dee --mode open
    """
    with needs_extra("federation"):
        from sottovoce.federation.config.setup import (  # noqa: PLC0415 - fast --help
            Plan,
            peer_names,
            set_up,
        )

    listed = peer_names(peers, _listed(names))
    plan = Plan(
        listed,
        _training(mode, way, key_bits, allow_two, len(listed), intermediary=intermediary),
        hosts=tuple(_listed(hosts)),
        base_port=base_port,
        passphrase=passphrase,
        days=days,
    )
    _show(folder, set_up(folder, plan), passphrase, as_json=as_json)


def _training(
    mode: str, way: str, key_bits: int, allow_two: str | None, peers: int, *, intermediary: bool
) -> "Training":
    from sottovoce.federation.config.party import Training, read_table  # noqa: PLC0415 - fast --help
    from sottovoce.learn.paillier.validation import check_bits  # noqa: PLC0415 - fast --help
    from sottovoce.learn.sums.rules import ALLOW_TWO, FEWEST_PARTIES  # noqa: PLC0415 - fast --help

    check_bits(key_bits)
    if peers < FEWEST_PARTIES and allow_two != ALLOW_TWO:
        raise ParameterError(
            f"at least {FEWEST_PARTIES} peers are needed, got {peers}: of two, each learns the "
            f'other\'s sums; accept that with --allow-two "{ALLOW_TWO}".'
        )
    given: dict[str, Any] = {
        "mode": mode,
        "way": way,
        "key_bits": key_bits,
        "allow_two": allow_two,
        "intermediary": intermediary,
    }
    return read_table(given, Training, "the options")


def _listed(text: str | None) -> list[str]:
    return [] if text is None else [each.strip() for each in text.split(",")]


def _show(folder: Path, roster: "Roster", passphrase: str, *, as_json: bool) -> None:
    from sottovoce.federation.config.roster import configured_role  # noqa: PLC0415 - fast --help

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
