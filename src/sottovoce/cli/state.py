"""``sottovoce alerts`` and ``forget``: what is asked of a kept state."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli._engines import show_lifts
from sottovoce.cli._groups import OptionGroup
from sottovoce.cli._options import ConcernedOption, ScoreOptions, parse_share
from sottovoce.cli._output import AsJson, progress, show_facts, show_json, show_rows
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sottovoce.assess.alerts import Alerts


@dataclass(frozen=True)
class AlertScoreOptions(OptionGroup):
    """How people were scored, where that is to differ from the last ranking.

    Args:
        k: Share of a domain that a broad interest covers; default: as last ranked.
        m: Number of time buckets that a lasting interest covers; default: as last ranked.
    """

    panel = ScoreOptions.panel

    k: Annotated[float | None, typer.Option("-k")] = None
    m: Annotated[int | None, typer.Option("-m")] = None


def alerts(
    state: Path,
    *,
    measure: str | None = None,
    topic: list[str] | None = None,
    top: str = "1,5,10",
    hysteresis: float = 0.2,
    out: Path | None = None,
    show_users: Annotated[int, typer.Option(min=0)] = 0,
    concerned: ConcernedOption = None,
    scores: AlertScoreOptions,
    as_json: AsJson = False,
) -> None:
    """Show how many users entered a band since the last check; ids only if you ask.

    STATE.alerts, beside the state, records who is in which band; only you can read it.

    Example: sottovoce alerts community.state --top 1,5 --out alerts.parquet

    Args:
        state: State of a community, from assess --state.
        measure: Measures to use; default: as last ranked.
        topic: For this topic or domain; default: as last ranked.
        top: The bands to watch, in percent.
        hysteresis: Keep users who drop out of a band by less than this part of it.
        out: File for who entered or left a band: .csv, .parquet or .jsonl.
        show_users: Print the ids of up to N users who entered a band.
    """
    from sottovoce.assess.alerts import check_alerts  # noqa: PLC0415 - keeps --help fast
    from sottovoce.files import check_outputs  # noqa: PLC0415 - keeps --help fast

    check_outputs(out)
    share = parse_share(concerned)
    with progress("Ranking users"):
        found = check_alerts(
            state,
            measures=None if measure is None else [name.strip() for name in measure.split(",")],
            topics=topic,
            k=scores.k,
            m=scores.m,
            bands=_percents(top),
            hysteresis=hysteresis,
            out=out,
        )
    _show(found, show_users, share, as_json)


def _percents(written: str) -> list[int]:
    try:
        return [int(percent) for percent in written.split(",")]
    except ValueError:
        raise ParameterError(f"--top must look like 1,5,10, got {written!r}.") from None


def _show(found: "Alerts", users: int, concerned: float | None, as_json: bool) -> None:
    import pyarrow.compute as pc  # noqa: PLC0415 - keeps --help fast

    rows = list(found.summary)
    entered = found.table.filter(pc.field("entered")).slice(0, users).drop_columns(["entered"])
    if as_json:
        lifts = found.lifts(concerned)
        show_json({"changes": rows, "lifts": lifts, "entered": entered.to_pylist()})
        return
    if not rows:
        typer.echo("Nobody entered or left a band since the last check.")
        return
    show_rows("Since the last check", [_as_shown(row) for row in rows])
    typer.echo("A band here holds the narrower ones too: the top 5% includes the top 1%.")
    show_lifts((str(row["measure"]) for row in rows), concerned)
    if users:
        show_rows("Entered", entered.to_pylist())


def _as_shown(row: "Mapping[str, Any]") -> dict[str, object]:
    """A row of the summary in the words of the table."""
    return {
        "measure": row["measure"],
        "topic": row["topic"],
        "band": f"top {row['percent']}%",
        "change": row["change"],
        "users": row["users"],
    }


def forget(
    state: Path,
    *,
    user: list[str],
    places: Annotated[list[Path] | None, typer.Option("--in")] = None,
    post: list[str] | None = None,
    as_json: AsJson = False,
) -> None:
    """Erase users from a state, its parts and its alerts, as if they had never posted.

    --in also removes their rows from files of ranks and alerts, other states, and checkpoints,
    which start again. It searches any other file for their names; the exit code is 1 if it finds
    one. --post erases only those posts. A model that was trained on their posts is not trained
    again.

    Example: sottovoce forget community.state --user u0007 --in ranks.parquet

    Args:
        state: State of a community, from assess --state.
        user: Whom to erase.
        places: Also erase them here: an output, another state, or a folder.
        post: Delete only their posts at this time; needs assess --keep-posts.
    """
    from sottovoce.assess.erase import delete_posts, erase_users  # noqa: PLC0415 - fast --help
    from sottovoce.assess.request import model_folder  # noqa: PLC0415 - keeps --help fast
    from sottovoce.files import only_one  # noqa: PLC0415 - keeps --help fast

    if post and len(user) != 1:
        raise ParameterError(f"--post needs exactly 1 --user, got {len(user)}.")
    if post and places:
        raise ParameterError("--post deletes only from the state; leave out --in.")
    looked: Mapping[Path, int | None] = {}
    with only_one(state):
        if post:
            facts = {"posts_left": delete_posts(state, user[0], _instants(post))}
        else:
            looked, left = erase_users(state, user, places or ())
            facts = {"erased": len(set(user)), "users_left": left}
    model = model_folder(state)
    _show_erased(facts, looked, model if model.exists() else None, bool(places), as_json)


def _show_erased(
    facts: dict[str, int],
    looked: "Mapping[Path, int | None]",
    model: Path | None,
    searched: bool,
    as_json: bool,
) -> None:
    """What was erased; the exit code is 1 if a file that was searched still names them."""
    named = [file for file, removed in looked.items() if removed is None]
    removed = [
        {"file": file, "removed": number} for file, number in looked.items() if number is not None
    ]
    if as_json:
        more: dict[str, object] = {"model_learnt_again": False} if model else {}
        if searched:
            more |= {"places": removed, "still_named_in": named}
        show_json({**facts, **more})
        raise typer.Exit(bool(named))
    show_facts("Erased", facts)
    if looked:
        show_rows("Looked at", removed)
    for file in named:
        typer.echo(f"{file} still seems to name them: remove it, or recreate it.")
    if model:
        typer.echo(
            f"The background model in {model} was learnt from all posts, also the erased ones, and "
            "is not learnt again: it holds weights of words, no posts. To get rid of it, remove "
            "the state and the model and assess the remaining posts."
        )
    typer.echo(
        "The command looked at nothing else. Erase them yourself from posts, copies, backups, "
        "compressed files, and what was printed or sent; releases and published histograms do "
        "not change."
    )
    raise typer.Exit(bool(named))


def _instants(written: list[str]) -> list[int]:
    """Microseconds since 1970 of times in ISO 8601, UTC where they name no zone."""
    import pyarrow as pa  # noqa: PLC0415 - keeps --help fast

    from sottovoce.corpus.read.times import to_instants  # noqa: PLC0415 - keeps --help fast

    instants = to_instants(pa.array(written), "UTC")
    if instants.null_count:
        raise ParameterError("--post must be a time such as 2024-05-01T13:45:00Z.")
    times: list[int] = instants.cast(pa.int64()).to_pylist()
    return times
