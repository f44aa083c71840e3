"""``sottovoce simulate``."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli.shown import AsJson, progress, show_facts, show_json


def simulate(
    folder: Annotated[Path, typer.Argument(help="Where to write the community.")],
    users: Annotated[int, typer.Option(help="People in the community.")] = 1000,
    weeks: Annotated[int, typer.Option(help="Weeks of history.")] = 26,
    seed: Annotated[int, typer.Option(help="The same seed gives the same files.")] = 0,
    difficulty: Annotated[
        str, typer.Option(help="very-easy, easy, default, hard or very-hard.")
    ] = "default",
    control: Annotated[
        bool, typer.Option("--control", help="Personas that differ in name only.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Simulate a community with known personas.

    Writes posts.parquet (user, time, text), truth.parquet (user, topic, persona, sensitive,
    grade), background.parquet (text) and topics.toml.

    Example: sottovoce simulate community --users 2000 --weeks 26 --seed 7
    """
    from sottovoce.corpus.simulate import (  # noqa: PLC0415 - keeps --help fast
        SimulationParameters,
        difficulty_named,
        write_community,
    )

    parameters = SimulationParameters(
        users=users,
        weeks=weeks,
        seed=seed,
        difficulty=difficulty_named(difficulty),
        control=control,
    )
    with progress("Simulating a community"):
        summary = asdict(write_community(folder, parameters))
    if as_json:
        show_json(summary)
        return
    personas = summary.pop("personas")
    sensitive = ", ".join(summary.pop("sensitive_topics"))
    show_facts("Simulated community", {**summary, "sensitive topics": sensitive, **personas})
