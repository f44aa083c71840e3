"""How runs are shown while they go on, and when they have ended."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from sottovoce.cli.shown import show_facts, show_rows

if TYPE_CHECKING:
    from sottovoce.federation.parties.service import Service

_EVERY_S = 0.5
_UNIT = 1000.0


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
        + f"; {size_in_words(traffic)}"
    )


@contextmanager
def watched_progress(title: str) -> Iterator[Any]:
    """A line that says how a run stands, on a terminal only: call what is yielded with it."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(title, total=None)
        yield lambda run: bar.update(task, description=f"{title}: {standing(run)}")


@contextmanager
def party_progress(service: "Service") -> Iterator[None]:
    """What a running party does, on a terminal only."""
    if not Console(stderr=True).is_terminal:
        yield
        return
    over = threading.Event()
    name = service.party.config.party.name
    with watched_progress(name) as show:

        def look() -> None:
            while not over.wait(_EVERY_S):
                runs = service.node.status()["runs"]
                show(runs[-1] if runs else {"status": "idle"})

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


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
            "attempts": done["attempts"] if done["attempts"] > 1 else None,
            "lost on the way": ", ".join(done["lost"]) or None,
            "waited for": ", ".join(f"{who} {s:g} s" for who, s in done["waited_s"].items())
            or None,
        },
    )
    leakage = done["leakage"]
    rows = [{"who": row["who"], "learns": row["what"]} for row in leakage["learns"]]
    show_rows("who learns what", [*rows, {"who": "together", "learns": leakage["together"]}])
    typer.echo(f"This holds for {leakage['assumes']}.")
