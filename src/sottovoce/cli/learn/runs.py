"""What ``sottovoce learn`` asks of a party or tries: train, evaluate, classify, status, audit."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli._options import needs_extra
from sottovoce.cli._output import AsJson, progress, show_facts, show_json, show_rows
from sottovoce.cli.learn._output import (
    ConfigOption,
    WaitOption,
    ask_or_read,
    show_summary,
    standing,
    table_kind,
    watch_run,
    write_table,
)
from sottovoce.errors import CheckFailedError, ParameterError

if TYPE_CHECKING:
    from sottovoce.learn.attacks.audit import DocumentsRead

_SHORT = 12
_FORMATS = (".csv", ".jsonl")
_NO_ESTIMATE = "These are the documents it was trained on: they say nothing about new ones."


def train(
    *,
    config: ConfigOption,
    wait: WaitOption = 0,
    without_lost: bool = False,
    epsilon: str | None = None,
    votes: int | None = None,
    as_json: AsJson = False,
) -> None:
    """Ask the running coordinator to train, wait, and show what it cost and who learns what.

    The coordinator's party.toml says what to train, in [training] and [features]. With
    --without-lost a sum may be opened twice, with and without a lost peer; the difference shows
    that peer's own part. The summary says who was lost.

    With --epsilon the classifier comes from noisy word counts per label, so that whole documents
    stay hidden; [count] says what to count, as for `learn count`.

    Example: sottovoce learn train --config together/coordinator/party.toml

    Args:
        without_lost: If peers are lost on the way, start again without them.
        epsilon: Hide whole documents: count words by label under noise.
        votes: With --epsilon: the most votes per document.
    """
    if epsilon is not None:
        from sottovoce.cli.learn.counts import train_by_count  # noqa: PLC0415 - for it alone

        if without_lost:
            raise ParameterError(
                "with --epsilon, drop in [count] says how many may be lost: leave out "
                "--without-lost."
            )
        train_by_count(config, epsilon, votes, wait=wait, as_json=as_json)
        return
    if votes is not None:
        raise ParameterError("--votes is for --epsilon: only counted documents cast votes.")
    request = {"do": "train", "without_lost": without_lost}
    done = watch_run(config, request, "Training", wait=wait)
    if as_json:
        show_json(done)
    else:
        show_summary(done)


def evaluate(
    *, config: ConfigOption, rows: int = 0, training_data: bool = False, as_json: AsJson = False
) -> None:
    """Count how many labels were right on all peers' held-out documents; opens only the sum.

    [training] in the coordinator's party.toml says how many documents are held out: a fifth, if
    `learn new` or `learn init` wrote it. If none are, the command refuses, since training documents
    say nothing about new ones; --training-data counts them anyway.

    Example: sottovoce learn evaluate --config together/coordinator/party.toml

    Args:
        rows: Hidden mode: how many rows to ask of each peer.
        training_data: Count the training documents; that estimates nothing about new ones.
    """
    request = {"do": "evaluate", "rows": rows, "training_data": training_data}
    done = watch_run(config, request, "Evaluating")
    if as_json:
        show_json(done)
        return
    show_facts(
        "evaluation over all peers" if done["estimate"] else "right on training documents",
        {
            "rows": done["rows"],
            "right": done["right"],
            "accuracy" if done["estimate"] else "share": done["accuracy"],
        },
    )
    show_rows(
        "documents by label (down) and what they were called (across)",
        [
            {"label": label, **dict(zip(done["labels"], counts, strict=True))}
            for label, counts in zip(done["labels"], done["counts"], strict=True)
        ],
    )
    if not done["estimate"]:
        typer.echo(_NO_ESTIMATE)


def status(*, config: ConfigOption, wait: WaitOption = 0, as_json: AsJson = False) -> None:
    """Show the state of a party and its runs, whether or not it is running.

    Example: sottovoce learn status --config together/ada/party.toml
    """
    found = ask_or_read(config, {"do": "status"}, wait=wait)
    if as_json:
        show_json(found)
        return
    show_facts(
        found["party"],
        {
            "role": found["role"],
            "running": found["running"],
            "listens at": found["address"],
            "certificate ends in": f"{found['certificate_days']:g} days",
            "keys sealed": found["keys_sealed"],
            "roster": _roster(found["roster"]),
            **{f"warning {at}": text for at, text in enumerate(found["warnings"], start=1)},
        },
    )
    if not found["runs"]:
        typer.echo("This party has taken part in no run yet.")
        return
    show_rows("runs, oldest first", [_run_row(run) for run in found["runs"]])
    for run in found["runs"]:
        if ended := run["ended"]:
            typer.echo(f"{_name(run)} was ended by {ended['by']}: {ended['sentence']}")


def _roster(found: Mapping[str, Any] | None) -> str | None:
    if found is None:
        return None
    return f"change {found['number']}, digest {found['digest'][:_SHORT]}"


def _run_row(run: Mapping[str, Any]) -> dict[str, object]:
    running = run["status"] == "running" and "bytes_sent" in run
    return {
        "run": _name(run),
        "begun (UTC)": f"{run['begun'][:10]} {run['begun'][11:16]}",
        "kind": f"{run['kind']}, {run['mode']}",
        "status": standing(run) if running else run["status"],
    }


def _name(run: Mapping[str, Any]) -> str:
    return str(run["run"])[:_SHORT]


def classify(
    texts: Path, *, config: ConfigOption, out: Path | None = None, as_json: AsJson = False
) -> None:
    """Label each text with the latest classifier; texts stay on this machine.

    In the open mode the peer does it alone. In the hidden mode it asks the coordinator and the
    key holder, who learn how many rows there are; the number of rows is limited.

    Example: sottovoce learn classify new.csv --config together/ada/party.toml --out labels.csv

    Args:
        texts: A file of texts, in the same form as the peer's own.
        out: File for the labels (.csv or .jsonl); default: print them.
    """
    from sottovoce.files import refuse_overlap, whole_file  # noqa: PLC0415 - keeps --help fast

    refuse_overlap([out], [texts])
    kind = table_kind(out, _FORMATS)
    found = ask_or_read(config, {"do": "classify", "file": str(texts.absolute())})
    rows = [{"row": at, "label": label} for at, label in enumerate(found["labels"])]
    if out is not None:
        with whole_file(out, private=True) as part:
            part.write_text(write_table(rows, kind), encoding="utf-8")
    if as_json:
        show_json({"labels": found["labels"], "out": out, "run": found["run"]})
    elif out is None:
        typer.echo(write_table(rows, ".csv"), nl=False)
    else:
        typer.echo(f"Wrote {len(rows):,} labels to {out}.")


def transcript(*, config: ConfigOption, run: str | None = None, as_json: AsJson = False) -> None:
    """Show exactly what a party has sent and received, each message in plain words.

    Example: sottovoce learn transcript --config together/ada/party.toml

    Args:
        run: One run, by the beginning of its name.
    """
    lines = ask_or_read(config, {"do": "transcript", "run": run})
    if as_json:
        show_json(lines)
    elif not lines:
        typer.echo("This party has sent and received nothing yet.")
    else:
        show_rows("all messages, oldest first", [_message_row(line) for line in lines])
        show_rows("every run's terms and its parties' keys", _key_rows(lines))


def _message_row(line: Mapping[str, Any]) -> dict[str, object]:
    fields = ", ".join(f"{name} ({shape})" for name, shape in line["fields"].items())
    time = f"{line['time'][:10]} {line['time'][11:19]}"
    return {"time (UTC)": time, "what": line["words"], "fields": fields or None}


def _key_rows(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, object]]:
    """Once for each run, whoever it was proposed to."""
    rows: list[tuple[str, str, str]] = []
    for run, line in {line["run"]: line for line in lines if "parties" in line}.items():
        rows.append((run, "terms, SHA-256", line["terms"]))
        for name, keys in line["parties"].items():
            rows += [(run, f"{name}: {what}", key) for what, key in keys.items() if key]
    return [{"run": run[:12], "what": what, "key": key} for run, what, key in rows]


def audit(
    texts: list[Path],
    *,
    label: str = "label",
    text: str = "text",
    mode: str = "open",
    peers: Annotated[int, typer.Option(min=3)] = 4,
    words: int = 1000,
    rados: bool = False,
    known: float = 0.0,
    seconds: float = 60.0,
    header: str | None = None,
    as_json: AsJson = False,
) -> None:
    """Train on your own texts on this machine, attack what is opened, and count what was read.

    Several files are several trainings. Their differences are attacked too, as if no party had
    noted what it opened before: documents added, removed or changed, or a missing peer.

    A text counts as read if the attack finds all of its kept words, and no others. "Guessed" is the
    best of a hundred guesses from the word counts alone; "once" is how many of the texts read
    differ from every other text. The exit code is 1 if the attack reads more texts of six or more
    kept words than guessing does; 0 is no proof, since others may have better attacks.

    Example: sottovoce learn audit complaints.csv --label product --known 0.5

    Args:
        texts: A file of labelled texts; one for each training.
        label: The file's column of labels.
        text: The file's column of texts.
        mode: open or hidden.
        peers: How many peers share the texts.
        words: How many of the most frequent words to use.
        rados: Open sums of rados instead.
        known: The share of texts the attacker knows.
        seconds: The most processor seconds spent on attacking a sum.
        header: Column names, if the file has no header: label,text.
    """
    with progress("Attacking"), needs_extra("learn"):
        from sottovoce.corpus.read.tally import ReadOptions  # noqa: PLC0415 - fast --help
        from sottovoce.learn.attacks.audit import audit_training  # noqa: PLC0415 - fast --help

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
            "the attack read more texts of six or more kept words from opened sums than guessing "
            "gets right; train on fewer words or more texts, use the hidden mode, or count under "
            "noise."
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
