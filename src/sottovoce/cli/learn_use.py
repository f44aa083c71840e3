"""``sottovoce learn classify`` and ``sottovoce learn transcript``."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from sottovoce.cli.learn_options import ConfigOption
from sottovoce.cli.learn_runs import told
from sottovoce.cli.shown import AsJson, show_json, show_rows
from sottovoce.errors import ParameterError
from sottovoce.files import refuse_overlap, whole_file

_FORMATS = ("csv", "jsonl")


def classify(
    texts: Annotated[Path, typer.Argument(help="A file of texts, as the peer's own is written.")],
    config: ConfigOption,
    out: Annotated[
        Path | None, typer.Option(help="Where labels go (.csv or .jsonl); else they are printed.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Label each text with the latest classifier; texts stay on this machine.

    In the open mode the peer does it by itself. In the hidden mode it asks coordinator and key
    holder, who learn how many rows there are; the number of rows is limited.

    Example: sottovoce learn classify new.csv --config together/ada/party.toml --out labels.csv
    """
    refuse_overlap([out], [texts])
    kind = _format(out)
    found = told(config, {"do": "classify", "file": str(texts.absolute())})
    rows = [{"row": at, "label": label} for at, label in enumerate(found["labels"])]
    if out is not None:
        with whole_file(out, private=True) as part:
            part.write_text(_written(rows, kind), encoding="utf-8")
    if as_json:
        show_json({"labels": found["labels"], "out": out, "run": found["run"]})
    elif out is None:
        typer.echo(_written(rows, "csv"), nl=False)
    else:
        typer.echo(f"Wrote {len(rows):,} labels to {out}.")


def transcript(
    config: ConfigOption,
    run: Annotated[str | None, typer.Option(help="One run, by the beginning of its name.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show exactly what a party has sent and received, each message in plain words.

    Example: sottovoce learn transcript --config together/ada/party.toml
    """
    lines = told(config, {"do": "transcript", "run": run})
    if as_json:
        show_json(lines)
    elif not lines:
        typer.echo("It has sent and received nothing yet.")
    else:
        show_rows("every message, the oldest first", [_row(line) for line in lines])


def _row(line: Mapping[str, Any]) -> dict[str, object]:
    fields = ", ".join(f"{name} ({shape})" for name, shape in line["fields"].items())
    time = f"{line['time'][:10]} {line['time'][11:19]}"
    return {"time (UTC)": time, "what": line["words"], "fields": fields or None}


def _format(out: Path | None) -> str:
    kind = "csv" if out is None else out.suffix.removeprefix(".").lower()
    if kind not in _FORMATS:
        raise ParameterError(f"--out must end in .{' or .'.join(_FORMATS)}, got {out}.")
    return kind


def _written(rows: Sequence[Mapping[str, object]], kind: str) -> str:
    if kind == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, ("row", "label"), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()
