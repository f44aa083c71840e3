"""``sottovoce learn train``, ``evaluate`` and ``status``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from sottovoce.cli.extras import needs_extra
from sottovoce.cli.learn_options import ConfigOption, WaitOption, loaded, wait_for_start
from sottovoce.cli.learn_shown import show_summary, standing, watched_progress
from sottovoce.cli.shown import AsJson, show_facts, show_json, show_rows

_SHORT = 12
_NOTHING_HELD_OUT = (
    "Nothing was held out: these are the documents it was trained on, and new ones will fare "
    "worse. Set held_out = 0.2 in [training] of the coordinator's party.toml, and train again."
)


def train(
    config: ConfigOption,
    wait: WaitOption = 0,
    without_lost: Annotated[
        bool,
        typer.Option("--without-lost", help="Begin again without peers that are lost on the way."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ask the running coordinator to train, wait, and show what it cost and who learns what.

    What is trained stands in [training] and [features] of the coordinator's party.toml. With
    --without-lost a sum may be opened twice, with and without a lost peer: the difference is that
    peer's own part. The summary says who was lost.

    Example: sottovoce learn train --config together/coordinator/party.toml
    """
    request = {"do": "train", "without_lost": without_lost}
    done = watched(config, request, "Training", wait=wait)
    if as_json:
        show_json(done)
    else:
        show_summary(done)


def evaluate(
    config: ConfigOption,
    rows: Annotated[
        int, typer.Option(help="Hidden mode: how many rows of each peer are asked for.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Count over all peers' held-out documents which labels were right; only the sum is opened.

    How many are held out stands in [training] of the coordinator's party.toml; if none are, those
    that were trained on are counted.

    Example: sottovoce learn evaluate --config together/coordinator/party.toml
    """
    done = watched(config, {"do": "evaluate", "rows": rows}, "Evaluating")
    if as_json:
        show_json(done)
        return
    show_facts(
        "evaluation over all peers",
        {"rows": done["rows"], "right": done["right"], "accuracy": done["accuracy"]},
    )
    columns = [*done["labels"], "undecided"]
    show_rows(
        "documents by label (down) and what they were called (across)",
        [
            {"label": label, **dict(zip(columns, counts, strict=True))}
            for label, counts in zip(done["labels"], done["counts"], strict=True)
        ],
    )
    if not done["held_out"]:
        typer.echo(_NOTHING_HELD_OUT)


def status(config: ConfigOption, wait: WaitOption = 0, as_json: AsJson = False) -> None:
    """Show how a party and its runs stand, whether it runs or not.

    Example: sottovoce learn status --config together/ada/party.toml
    """
    found = told(config, {"do": "status"}, wait=wait)
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
            **{f"warning {at}": text for at, text in enumerate(found["warnings"], start=1)},
        },
    )
    if not found["runs"]:
        typer.echo("It has taken part in no run yet.")
        return
    show_rows("runs, the oldest first", [_row(run) for run in found["runs"]])
    for run in found["runs"]:
        if ended := run["ended"]:
            typer.echo(f"{_name(run)} was ended by {ended['by']}: {ended['sentence']}")


def _row(run: Mapping[str, Any]) -> dict[str, object]:
    running = run["status"] == "running" and "bytes_sent" in run
    return {
        "run": _name(run),
        "begun (UTC)": f"{run['begun'][:10]} {run['begun'][11:16]}",
        "kind": f"{run['kind']}, {run['mode']}",
        "status": standing(run) if running else run["status"],
    }


def _name(run: Mapping[str, Any]) -> str:
    return str(run["run"])[:_SHORT]


def watched(config: Path, request: Mapping[str, Any], title: str, *, wait: float = 0) -> Any:  # noqa: ANN401 - JSON
    """Ask a running party for a run; show how it stands; its summary."""
    found = loaded(config)
    wait_for_start(found, wait)
    with needs_extra("federation"):
        from sottovoce.federation.parties.control import ask  # noqa: PLC0415 - fast --help

    done: Mapping[str, Any] = {}
    with watched_progress(title) as line:
        for done in ask(found.path(found.party.store), request):
            if "progress" in done:
                line.show(done["progress"])
    return done["value"]


def told(config: Path, request: Mapping[str, Any], *, wait: float = 0) -> Any:  # noqa: ANN401 - JSON
    """What a party says, or its journal where it does not run."""
    found = loaded(config)
    wait_for_start(found, wait)
    with needs_extra("federation"):
        from sottovoce.federation.parties.asleep import answer_asleep  # noqa: PLC0415 - fast --help
        from sottovoce.federation.parties.control import (  # noqa: PLC0415 - fast --help
            NotRunningError,
            asked,
        )

    try:
        return asked(found.path(found.party.store), request)
    except NotRunningError:
        return answer_asleep(found, request)
