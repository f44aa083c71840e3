"""What the commands of the judgement study share: sheets written, votes read.

Whose profiles are judged: a list of users and topics, or a sample of a ranking.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import typer

from sottovoce._files import cause_of
from sottovoce.assess._ranking import sample_users
from sottovoce.cli._output import show_facts, show_json
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.judgements._votes import read_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sottovoce.topics.judgements import Agreement, Vote


def refuse_existing_key(key: Path) -> None:
    """Codes are random: without their key, votes on earlier sheets would be lost."""
    if key.exists():
        raise InputError(
            f"the key {key} is there already, and votes on its sheets need it; give another name, "
            "or remove it."
        )


def real_votes(paths: "Sequence[Path]", *, allow_missing: bool, drop_failed: bool) -> "list[Vote]":
    """The votes on real items; what was left out and why is said on standard error."""
    from sottovoce.topics.judgements import read_votes, without_checks  # noqa: PLC0415 - keeps --help fast

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
    from sottovoce.topics.judgements._votes import write_rows  # noqa: PLC0415 - keeps --help fast

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


_NEEDED = ("user", "topic")


def require_consent(with_texts: bool) -> None:
    """Refuse to write people's texts unasked."""
    if not with_texts:
        raise ParameterError(
            "judges of profiles read what people wrote; add --with-texts to write it into the "
            "sheets, and think first who will see them."
        )


def read_profiles(
    path: Path, *, sample: int | None, base: float, seed: int
) -> list[tuple[str, str]]:
    """The (user, topic) pairs of a CSV or Parquet file, or a sample of them by score."""
    table = _parquet(path) if path.suffix in {".parquet", ".pq"} else _csv(path)
    missing = [
        name
        for name in (*_NEEDED, *(["score"] if sample else []))
        if name not in table.column_names
    ]
    if missing:
        raise InputError(f"{path} has no column {missing[0]}.")
    if any(table[name].null_count for name in _NEEDED):
        raise InputError(f"{path}: every row needs a user and a topic.")
    _require_one_measure(table, path)
    if sample is None:
        return list(
            zip(*(table[name].cast(pa.string()).to_pylist() for name in _NEEDED), strict=True)
        )
    return [
        pair
        for topic in pc.unique(table["topic"]).to_pylist()
        for pair in _sampled(table.filter(pc.equal(table["topic"], topic)), sample, base, seed)
    ]


def _sampled(ranking: pa.Table, count: int, base: float, seed: int) -> list[tuple[str, str]]:
    users = ranking["user"].cast(pa.string()).to_pylist()
    scores = ranking["score"].cast(pa.float64()).to_numpy()
    places = sample_users(users, scores, min(count, len(users)), base=base, seed=seed)
    return [(users[place], str(ranking["topic"][0])) for place in places.tolist()]


def _require_one_measure(table: pa.Table, path: Path) -> None:
    if "measure" in table.column_names and len(pc.unique(table["measure"])) > 1:
        raise InputError(f"{path} ranks by several measures; keep the rows of one of them.")


def _parquet(path: Path) -> pa.Table:
    try:
        return pq.read_table(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"cannot read {path}: {cause_of(error)}.") from None


def _csv(path: Path) -> pa.Table:
    rows = [row for _, row in read_rows(path)]
    if not rows:
        raise InputError(f"{path} has no row.")
    table = pa.Table.from_pylist(rows)
    if "score" not in table.column_names:
        return table
    try:
        return table.set_column(
            table.column_names.index("score"), "score", table["score"].cast(pa.float64())
        )
    except pa.ArrowInvalid:
        raise InputError(f"{path}: score must be a number in every row.") from None
