"""``sottovoce loop``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from sottovoce.cli._options import (
    EncodingOption,
    FieldsOption,
    FormatOption,
    HeaderOption,
    LineLimitOption,
    ModelOption,
    TimezoneOption,
    TopicsOption,
    needs_extra,
    read_options,
)
from sottovoce.cli._output import AsJson, progress, show_study
from sottovoce.corpus.read._tally import DEFAULT_LINE_BYTES
from sottovoce.errors import check_choice

if TYPE_CHECKING:
    from sottovoce.loop._loop import LoopPlan
    from sottovoce.loop._subject import Shape, Subject


_TITLE = "Exposure against usefulness over privacy settings"


def loop(
    corpus: Annotated[
        Path, typer.Argument(help="A folder as simulate writes it, or a file of posts.")
    ],
    topics: TopicsOption = None,
    model: ModelOption = None,
    truth: Annotated[
        Path | None, typer.Option(help="Who is afflicted; without it, who stays at the top.")
    ] = None,
    background: Annotated[
        Path | None, typer.Option(help="Public texts, from which the adversary learns topics.")
    ] = None,
    shape: Annotated[
        str, typer.Option(help="A document is what a user wrote in a 'week', or as a 'user'.")
    ] = "week",
    precision: Annotated[
        list[int] | None, typer.Option("--precision", "-N", help="N; may be repeated.")
    ] = None,
    epsilon: Annotated[list[str] | None, typer.Option(help="For each N; may be repeated.")] = None,
    compress: Annotated[
        list[str] | None,
        typer.Option(help="none, random or frequency; may be repeated."),
    ] = None,
    columns: Annotated[int, typer.Option(help="K, of the compressions.")] = 300,
    limit: Annotated[
        float, typer.Option(help="The exposure you accept: a share of the people, 0 to 1.")
    ] = 0.1,
    seed: Annotated[int, typer.Option(help="Of models and maps; never of the noise.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for rows.json, the figures and report.html.")
    ] = None,
    file_format: FormatOption = None,
    fields: FieldsOption = None,
    header: HeaderOption = None,
    timezone: TimezoneOption = "UTC",
    encoding: EncodingOption = "utf-8",
    max_line_bytes: LineLimitOption = DEFAULT_LINE_BYTES,
    as_json: AsJson = False,
) -> None:
    """Assess a community, release its word counts, and assess what an adversary sees in them.

    For every setting: how many of the exposed are still found, by the best of several adversaries,
    and what the release is still good for; and the setting to take for the limit you state. Noise
    is drawn to look at it only: nothing is published, and no ledger is charged.

    Example: sottovoce loop community --epsilon 8 --epsilon 2 --precision 2 --out loop
    """
    with needs_extra("all"):
        from sottovoce.loop._loop import run_loop  # noqa: PLC0415 - fast --help
        from sottovoce.loop._subject import CorpusFiles, corpus_subject  # noqa: PLC0415 - fast --help

    read = read_options(file_format, fields, header, timezone, encoding, max_line_bytes)
    files = CorpusFiles.found(
        corpus, topics=topics, truth=truth, background=background, models=tuple(model or ())
    )
    methods = _methods(compress, columns)
    with progress("Going round the loop"):
        subject = corpus_subject(files, read, seed)
        plan = _plan(subject, shape, methods, precision, epsilon, limit)
        result = run_loop([subject], plan)
    show_study(result, name="loop", title=_TITLE, out=out, as_json=as_json)


def _methods(compress: list[str] | None, columns: int) -> tuple[tuple[str, int | None], ...]:
    known = ("none", "random", "frequency")
    for name in compress or ():
        check_choice("compress", name, known)
    return tuple((name, None if name == "none" else columns) for name in compress or known[:1])


def _plan(
    subject: "Subject",
    shape: str,
    methods: tuple[tuple[str, int | None], ...],
    precision: list[int] | None,
    epsilon: list[str] | None,
    limit: float,
) -> "LoopPlan":
    from sottovoce.loop._loop import LoopPlan  # noqa: PLC0415 - fast --help

    spaces = ("bow", *(space.name for space in subject.knowledge.spaces if space.name != "bow"))
    measures = tuple(measure for space in spaces for measure in (space, f"{space}-dt"))
    return LoopPlan(
        shape=cast("Shape", shape),
        methods=methods,
        precisions=tuple(precision or (2,)),
        epsilons=tuple(epsilon or ("16", "8", "4", "2", "1")),
        measures=measures,
        measure=measures[-1],
        limit=limit,
    )
