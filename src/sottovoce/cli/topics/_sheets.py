"""What the commands of the judgement study share: sheets written, votes read."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sottovoce.cli._output import show_facts, show_json
from sottovoce.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sottovoce.topics.judgements.agreement import Agreement
    from sottovoce.topics.judgements.votes import Vote


def refuse_existing_key(key: Path) -> None:
    """Codes are random: without their key, votes on earlier sheets would be lost."""
    if key.exists():
        raise InputError(
            f"the key {key} is there already, and votes on its sheets need it; give another name, "
            "or remove it."
        )


def real_votes(paths: "Sequence[Path]", *, allow_missing: bool, drop_failed: bool) -> "list[Vote]":
    """The votes on real items; what was left out and why is said on standard error."""
    from sottovoce.topics.judgements.votes import read_votes, without_checks  # noqa: PLC0415 - keeps --help fast

    read = read_votes(paths, allow_missing=allow_missing)
    if read.missing:
        typer.echo(f"left out {read.missing} rows without an answer", err=True)
    real, failed = without_checks(read.votes)
    if failed:
        what = "left out" if drop_failed else "kept; --drop-failed leaves them out"
        typer.echo(f"{len(failed)} judges failed an attention check: {what}", err=True)
    if drop_failed:
        real = [vote for vote in real if vote.judge not in failed]
    if not real:
        keep = ", or leave --drop-failed out" if drop_failed else ""
        raise InputError(f"no vote is left; give more sheets that are filled in{keep}.")
    return real


def agreement_facts(found: "Agreement") -> dict[str, object]:
    return {
        "items": found.items,
        "judges": found.judges,
        "votes": found.votes,
        "equal_judges": found.equal_judges,
        "kappa": found.kappa.kappa,
        "kappa_low": found.kappa.low,
        "kappa_high": found.kappa.high,
    }


def write_sheets(
    out: Path,
    columns: "Sequence[str]",
    rows: "Sequence[Mapping[str, object]]",
    *,
    split: bool,
    private: bool = False,
) -> list[Path]:
    from sottovoce.topics.judgements.votes import write_rows  # noqa: PLC0415 - keeps --help fast

    judges = dict.fromkeys(str(row["judge"]) for row in rows)
    if not split or not all(judges):
        write_rows(out, columns, rows, private=private)
        return [out]
    files = []
    for name in judges:
        files.append(out.with_name(f"{out.stem}-{name}{out.suffix}"))
        own = [row for row in rows if row["judge"] == name]
        write_rows(files[-1], columns, own, private=private)
    return files


def show_written(facts: "dict[str, object]", as_json: bool) -> None:
    if as_json:
        show_json(facts)
        return
    files = facts.pop("files")
    shown = ", ".join(map(str, files)) if isinstance(files, list) else files
    show_facts("Wrote sheets", {"files": shown, **facts})
