"""``sottovoce learn audit``: what our own attacks read from the sums that a training opens."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli._options import needs_extra
from sottovoce.cli._output import AsJson, progress, show_json, show_rows
from sottovoce.cli._reading import HeaderOption
from sottovoce.errors import CheckFailedError

if TYPE_CHECKING:
    from sottovoce.learn.attacks.audit import DocumentsRead


def audit(
    texts: Annotated[
        list[Path], typer.Argument(help="A file of labelled texts; of each training.")
    ],
    label: Annotated[str, typer.Option(help="The file's column of labels.")] = "label",
    text: Annotated[str, typer.Option(help="The file's column of texts.")] = "text",
    mode: Annotated[str, typer.Option(help="open or hidden.")] = "open",
    peers: Annotated[int, typer.Option(min=3, help="To how many the texts are dealt out.")] = 4,
    words: Annotated[int, typer.Option(help="How many of the most frequent words.")] = 1000,
    rados: Annotated[bool, typer.Option("--rados", help="Open sums of rados instead.")] = False,
    known: Annotated[float, typer.Option(help="The share of texts the attacker knows.")] = 0.0,
    seconds: Annotated[float, typer.Option(help="Most processor time to attack a sum.")] = 60.0,
    header: HeaderOption = None,
    as_json: AsJson = False,
) -> None:
    """Train on texts of yours on this machine, attack what is opened, and count what was read.

    Several files are several trainings, whose differences are attacked too, as if no party had
    noted what it opened before: documents added, removed or changed, or a peer that is away.

    A text is read if all of its kept words are found, and no others. Guessed is the most that one
    of a hundred guesses from the word counts alone gets right; once, how many of those read no
    other text equals. Exit code 1 if those of six or more kept words are more than guessed; 0 is no
    proof, since others may have better attacks.

    Example: sottovoce learn audit complaints.csv --label product --known 0.5
    """
    with progress("Attacking"), needs_extra("learn"):
        from sottovoce.corpus.read.tally import ReadOptions  # noqa: PLC0415 - fast --help
        from sottovoce.learn.attacks.training import audit_training  # noqa: PLC0415 - fast --help

        names = True if header is None else tuple(header.split(","))
        options: dict[str, Any] = {"statistics": "rados"} if rados else {}
        options |= {"mode": mode, "known": known, "seconds": seconds}
        options |= {"text": text, "label": label, "reading": ReadOptions(header=names)}
        found = audit_training(*texts, peers=peers, words=words, **options)
    rows = [_row(reading) for reading in found.readings]
    if as_json:
        show_json({"holds": found.holds, "openings": rows, "not attacked": found.unread})
    elif rows:
        show_rows("read word for word, by the number of kept words", rows)
    if not as_json:
        typer.echo(f"Opened and not attacked: {', '.join(found.unread) or 'nothing'}.")
    if not found.holds:
        raise CheckFailedError(
            "more texts of six or more kept words were read from opened sums than guessing gets "
            "right; train on fewer words or more texts, by the hidden mode, or count under noise."
        )


def _row(reading: "DocumentsRead") -> dict[str, object]:
    row: dict[str, object] = {
        "opened": reading.opening,
        "texts": reading.documents,
        "words": reading.words,
    }
    for length, (read, among, guessed, once) in reading.read.items():
        row[f"{length} words"] = f"{read} of {among} (guessed {guessed}, once {once})"
    rho = round(reading.rho, 2) if math.isfinite(reading.rho) else None
    return {**row, "rho": rho, "seconds": round(reading.seconds, 1)}
