"""``sottovoce alerts``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.shown import AsJson, progress, show_json, show_rows
from sottovoce.errors import ParameterError
from sottovoce.files import only_one, refuse_overlap

if TYPE_CHECKING:
    import pyarrow as pa


def alerts(
    state: Annotated[Path, typer.Argument(help="State of a community, from assess --state.")],
    measure: Annotated[
        str | None, typer.Option(help="By these measures; default: as last ranked.")
    ] = None,
    topic: Annotated[
        list[str] | None, typer.Option(help="For this topic; default: the sensitive ones.")
    ] = None,
    k: Annotated[
        float | None,
        typer.Option(
            "-k", help="Share of a domain that a broad interest covers; default: as last ranked."
        ),
    ] = None,
    m: Annotated[
        int | None,
        typer.Option(
            "-m",
            help="Number of time buckets that a lasting interest covers; default: as last ranked.",
        ),
    ] = None,
    top: Annotated[str, typer.Option(help="The bands to watch, in percent.")] = "1,5,10",
    hysteresis: Annotated[
        float, typer.Option(help="Leave the top p% only beyond p (1 + this)%.")
    ] = 0.2,
    out: Annotated[
        Path | None, typer.Option(help="File for who entered or left which band, in Parquet.")
    ] = None,
    show_users: Annotated[
        int, typer.Option(min=0, help="Print the ids of up to N users who entered a band.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Who entered a band since the last check: counts, and ids only where you ask for them.

    Who is in which band is kept beside the state, in STATE.alerts, readable by you only.

    Example: sottovoce alerts community.state --top 1,5 --out alerts.parquet
    """
    from sottovoce.assess.alerts import (  # noqa: PLC0415 - keeps --help fast
        alerts_file,
        check_bands,
        load_members,
        save_alerts,
    )
    from sottovoce.assess.measures import chosen_measures  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess.setting import Setting  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess.state_file import load_ranked, load_state  # noqa: PLC0415 - fast --help

    refuse_overlap((out,), (state, alerts_file(state)))
    with only_one(state):
        held, ranked = load_state(state), load_ranked(state)
        names = ranked.get("measures", ["all"]) if measure is None else measure.split(",")
        with progress("Ranking users"):
            changes, members = check_bands(
                held,
                chosen_measures([name.strip() for name in names], tuple(held.spaces)),
                load_members(alerts_file(state)),
                topics=topic,
                setting=Setting(
                    k=ranked.get("k", 0.3) if k is None else k,
                    m=ranked.get("m", 3) if m is None else m,
                    mode=held.header.mode,
                ),
                bands=_percents(top),
                hysteresis=hysteresis,
            )
        save_alerts(alerts_file(state), members, out, changes)
    _show(changes, show_users, as_json)


def _percents(written: str) -> list[int]:
    try:
        return [int(percent) for percent in written.split(",")]
    except ValueError:
        raise ParameterError(f"--top must look like 1,5,10, got {written!r}.") from None


def _show(changes: "pa.Table", users: int, as_json: bool) -> None:
    import pyarrow.compute as pc  # noqa: PLC0415 - keeps --help fast

    keys = ["measure", "topic", "percent", "entered"]
    counted = changes.group_by(keys, use_threads=False).aggregate([("user", "count")])
    rows = [
        {**{name: row[name] for name in keys[:3]}, "change": _word(row), "users": row["user_count"]}
        for row in counted.to_pylist()
    ]
    entered = changes.filter(pc.field("entered")).slice(0, users).drop_columns(["entered"])
    if as_json:
        show_json({"changes": rows, "entered": entered.to_pylist()})
        return
    if not rows:
        typer.echo("Nobody entered or left a band since the last check.")
        return
    show_rows("Since the last check", rows)
    if users:
        show_rows("Entered", entered.to_pylist())


def _word(row: dict[str, object]) -> str:
    return "entered" if row["entered"] else "left"
