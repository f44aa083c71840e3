"""What the commands of ``sottovoce learn`` share: finding a party, asking it, showing its runs.

A run is shown while it goes on, and when it has ended.
"""

import csv
import io
import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from sottovoce.cli._options import needs_extra
from sottovoce.cli._output import show_facts, show_rows
from sottovoce.errors import InputError, NotRunningError, ParameterError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from sottovoce.federation.config import PartyConfig
    from sottovoce.federation.party.service import Service


WaitOption = Annotated[
    float, typer.Option("--wait", help="Seconds to wait if the party is not running yet.")
]
ConfigOption = Annotated[Path, typer.Option("--config", help="The party's party.toml.")]
_EVERY_S, _LOOK_S = 0.5, 0.1
_UNIT = 1000.0


def load_party_config(path: Path) -> "PartyConfig":
    """The configuration of a party."""
    with needs_extra("federation"):
        from sottovoce.federation.config import load_config  # noqa: PLC0415 - fast --help

    return load_config(path)


def check_offline(config: "PartyConfig") -> None:
    """Refuse to change the keys of a party that runs with the old ones."""
    from sottovoce.federation.party.control import ask_once  # noqa: PLC0415 - fast --help

    try:
        ask_once(config.path(config.party.store), {"do": "status"})
    except NotRunningError:
        return
    raise InputError(f"{config.party.name} is running; stop it before its keys are changed.")


def wait_for_start(config: "PartyConfig", seconds: float) -> None:
    """Until the party answers, or the time is over; whoever asks next hears which."""
    from sottovoce.federation.party.control import ask_once  # noqa: PLC0415 - fast --help

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            ask_once(config.path(config.party.store), {"do": "status"})
        except NotRunningError:
            time.sleep(_LOOK_S)
        else:
            return


def size_in_words(count: float) -> str:
    """1,234 B, 12.3 kB, 4.5 MB."""
    if count < 10 * _UNIT:
        return f"{count:,.0f} B"
    for unit in ("kB", "MB"):
        count /= _UNIT
        if count < _UNIT:
            return f"{count:,.1f} {unit}"
    return f"{count / _UNIT:,.1f} GB"


def standing(run: Mapping[str, Any]) -> str:
    """How a run stands, in a line."""
    waits = ", ".join(run.get("waiting_for", ()))
    traffic = run.get("bytes_sent", 0) + run.get("bytes_received", 0)
    return (
        f"{run.get('stage') or run['status']}"
        + (f", waiting for {waits}" if waits else "")
        + (f"; {size_in_words(traffic)}" if traffic else "")
    )


def ending(run: Mapping[str, Any]) -> str:
    """How a run ended, in a line."""
    if not (ended := run["ended"]):
        return f"a run has {standing(run)}."
    return f"a run was ended by {ended['by']}: {ended['sentence']}"


@dataclass(frozen=True)
class ProgressLine:
    """A line that says how a run stands; what is said beside it stays above it."""

    bar: "Progress"
    task: "TaskID"
    title: str

    def show(self, run: Mapping[str, Any]) -> None:
        """How a run stands now."""
        self.bar.update(self.task, description=f"{self.title}: {standing(run)}")

    def say(self, sentence: str) -> None:
        """Something that stays to be read."""
        self.bar.console.print(Text(f"{self.title}: {sentence}"))


@contextmanager
def watched_progress(title: str) -> Iterator[ProgressLine]:
    """A line for a run, on a terminal only."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415 - fast --help

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        yield ProgressLine(bar, bar.add_task(title, total=None), title)


@contextmanager
def party_progress(service: "Service") -> Iterator[None]:
    """What a running party does, on a terminal that is its own."""
    if not (Console(stderr=True).is_terminal and _in_front()):
        yield
        return
    over = threading.Event()
    name = service.party.config.party.name
    with watched_progress(name) as line:

        def look() -> None:
            announced = {run["session"] for run in service.node.status()["runs"]}
            while not over.wait(_EVERY_S):
                runs = service.node.status()["runs"]
                under_way = [run for run in runs if run["status"] == "running"]
                line.show(under_way[-1] if under_way else {"status": "waiting to be asked"})
                for run in runs:
                    if run["status"] != "running" and run["session"] not in announced:
                        announced.add(run["session"])
                        line.say(ending(run))

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def _in_front() -> bool:
    """Whether a shell has not put this process into the background, to type something else."""
    try:
        return os.tcgetpgrp(sys.stderr.fileno()) == os.getpgrp()
    except OSError:
        return False


def show_summary(done: Mapping[str, Any]) -> None:
    """What a run cost, and who has learnt what."""
    show_facts(
        f"{done['kind']}, {done['mode']} mode",
        {
            "run": done["run"],
            "seconds": done["seconds"],
            "rounds": done["rounds"],
            "messages here": done["messages"],
            "sent from here": size_in_words(done["bytes_sent"]),
            "received here": size_in_words(done["bytes_received"]),
            "peers": ", ".join(done["peers"]),
            "opened": done["opened"] or None,
            "attempts": done["attempts"] if done["attempts"] > 1 else None,
            "lost on the way": ", ".join(done["lost"]) or None,
            "waited for": ", ".join(f"{who} {s:g} s" for who, s in done["waited_s"].items())
            or None,
        },
    )
    leakage = done["leakage"]
    told = [*leakage["learns"], *leakage.get("against", [])]
    rows = [{"who": row["who"], "learns": row["what"]} for row in told]
    show_rows("who learns what", [*rows, {"who": "together", "learns": leakage["together"]}])
    rest = (
        "; the others say what joining, lying and a backup gain" if leakage.get("against") else ""
    )
    typer.echo(f"The rows of single parties hold for {leakage['assumes']}{rest}.")


def watch_run(config: Path, request: Mapping[str, Any], title: str, *, wait: float = 0) -> Any:  # noqa: ANN401 - JSON
    """Ask a running party for a run; show how it stands; its summary."""
    found = load_party_config(config)
    wait_for_start(found, wait)
    with needs_extra("federation"):
        from sottovoce.federation.party.control import ask  # noqa: PLC0415 - fast --help

    done: Mapping[str, Any] = {}
    with watched_progress(title) as line:
        for done in ask(found.path(found.party.store), request):
            if "progress" in done:
                line.show(done["progress"])
    return done["value"]


def ask_or_read(config: Path, request: Mapping[str, Any], *, wait: float = 0) -> Any:  # noqa: ANN401 - JSON
    """What a party says, or its journal where it does not run."""
    found = load_party_config(config)
    wait_for_start(found, wait)
    with needs_extra("federation"):
        from sottovoce.federation.party.control import ask_once  # noqa: PLC0415 - fast --help
        from sottovoce.federation.party.reports import answer_offline  # noqa: PLC0415 - fast --help

    try:
        return ask_once(found.path(found.party.store), request)
    except NotRunningError:
        return answer_offline(found, request)


def table_kind(out: Path | None, kinds: Sequence[str]) -> str:
    """The format that a file's name asks for, one of ``kinds``; without a file the first."""
    kind = kinds[0] if out is None else out.suffix.lower()
    if kind not in kinds:
        raise ParameterError(
            f"--out must end in {', '.join(kinds[:-1])} or {kinds[-1]}, got {out}."
        )
    return kind


def write_table(rows: Sequence[Mapping[str, object]], kind: str) -> str:
    """Rows as lines of JSON or of CSV."""
    if kind == ".jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()
