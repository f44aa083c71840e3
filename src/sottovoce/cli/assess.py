"""``sottovoce assess``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli._engines import (
    Address,
    Engine,
    EngineOption,
    MasterOption,
    PartitionsOption,
    RanksOption,
    SparkConfOption,
    assess_on_spark,
    rank_precision,
)
from sottovoce.cli._options import (
    BucketOption,
    CheckpointEveryOption,
    CheckpointOption,
    EncodingOption,
    FieldsOption,
    FormatOption,
    HeaderOption,
    KOption,
    LineLimitOption,
    ModelOption,
    MOption,
    ResumeOption,
    TimezoneOption,
    TopicsOption,
    checkpoint_of,
    fold_posts,
    loaded_catalogue,
    loaded_models,
    mentioning_resume,
    parsed_bucket,
    parsed_mode,
    parsed_setting,
    read_options,
    state_file,
)
from sottovoce.cli._output import AsJson, finite, progress, show_json, show_rows
from sottovoce.corpus.read._tally import DEFAULT_LINE_BYTES
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.assess._job import Assessment


def assess(
    posts: Annotated[
        Path | None,
        typer.Argument(parser=Address, help="Posts: user, time, text; none: rank the state."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=Address,
            help="File for the ranks, in Parquet, a folder on Spark; a state needs none.",
        ),
    ] = None,
    model: ModelOption = None,
    topics: TopicsOption = None,
    measure: Annotated[
        str,
        typer.Option(
            help="recommended (voice-t where a voice model is given, bow-t, keyword-kinds), paper "
            "or all (those of the paper's 14 that the models allow), or names: voice-t,ent,..."
        ),
    ] = "all",
    k: KOption = 0.3,
    m: MOption = 3,
    bucket: BucketOption = None,
    mode: Annotated[
        str | None, typer.Option(help="'corrected' (default), or 'paper'; a state has its own.")
    ] = None,
    topic: Annotated[
        list[str] | None, typer.Option(help="Rank by this topic; default: the sensitive ones.")
    ] = None,
    state: Annotated[
        Path | None, typer.Option(help="Keep what is needed to add posts later, or add to it.")
    ] = None,
    update: Annotated[
        Path | None, typer.Option(help="The same for a state that must be there: daily runs.")
    ] = None,
    merge: Annotated[
        list[Path] | None, typer.Option(help="Fold in the state of another part of the posts.")
    ] = None,
    keep_buckets: Annotated[
        int | None, typer.Option(min=1, help="The largest -m a new state allows; default: 12.")
    ] = None,
    keep_posts: Annotated[
        bool | None,
        typer.Option(
            "--keep-posts", help="Keep each post's scores, to delete single posts; grows with them."
        ),
    ] = None,
    checkpoint: CheckpointOption = None,
    checkpoint_every: CheckpointEveryOption = 60.0,
    resume: ResumeOption = False,
    show_users: Annotated[
        int, typer.Option(min=0, help="Print the ids of the N most exposed users.")
    ] = 0,
    file_format: FormatOption = None,
    fields: FieldsOption = None,
    header: HeaderOption = None,
    timezone: TimezoneOption = "UTC",
    encoding: EncodingOption = "utf-8",
    max_line_bytes: LineLimitOption = DEFAULT_LINE_BYTES,
    engine: EngineOption = "embedded",
    master: MasterOption = None,
    spark_conf: SparkConfOption = None,
    partitions: PartitionsOption = None,
    ranks: RanksOption = "exact",
    as_json: AsJson = False,
) -> None:
    """Rank the users of a community by how exposed they are on its sensitive topics.

    The file of ranks is what an adversary wants: only you can read it, and no user is named on the
    screen unless you ask.

    With --checkpoint, after Ctrl-C or a crash the same command with --resume goes on where it was.

    Example: sottovoce assess posts.csv --topics topics.toml --measure bow-t --out ranks.parquet
    """
    from sottovoce._files import refuse_overlap  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess._alerts import alerts_file  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess._checkpoints import alone_with  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess._job import Assessment, Request  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess.state._parts import earlier_folder  # noqa: PLC0415 - keeps --help fast

    chosen = Engine(engine, master, spark_conf or (), partitions)
    precision = rank_precision(ranks, chosen)
    state = state_file(state, update, posts, out)
    keeping = checkpoint_of(checkpoint, checkpoint_every, resume)
    beside = () if state is None else (alerts_file(state), earlier_folder(state))
    refuse_overlap((out, state), (posts, topics, *beside, *(merge or ()), *(model or ())))
    reading = read_options(file_format, fields, header, timezone, encoding, max_line_bytes)
    request = Request(
        measures=tuple(name.strip() for name in measure.split(",")),
        setting=parsed_setting(k, m, mode or "corrected"),
        mode=parsed_mode(mode),
        catalogue=loaded_catalogue(topics),
        spaces=loaded_models(model),
        topics=None if topic is None else tuple(topic),
        bucket=parsed_bucket(bucket),
        kept=keep_buckets,
        posts=keep_posts,
    )
    if chosen.is_spark:
        single = {"--state": state, "--merge": merge, "--keep-posts": keep_posts}
        chosen.refuse({**single, "--checkpoint": checkpoint, "--show-users": show_users})
        if out is None:
            raise ParameterError("Spark needs --out, a folder for the ranks.")
        assess_on_spark(chosen, request, posts, out, reading, precision, as_json)
        return
    with alone_with(state, checkpoint), mentioning_resume(checkpoint):
        assessment = Assessment(request, state, checkpoints=keeping)
        if posts is None and not merge and not assessment.users:
            raise ParameterError(
                "there is nothing to rank: give POSTS, or a --state that holds some."
            )
        with progress("Scoring posts"):
            if posts is not None:
                fold_posts(assessment, posts, reading)
            for part in merge or ():
                assessment.merge(part)
        with progress("Ranking users"):
            summary = assessment.save(out)
        if posts is None and not merge and out is None:
            assessment.pack()
    _show(assessment, summary, _most_exposed(assessment, show_users), out, as_json)


def _most_exposed(assessment: "Assessment", users: int) -> list[dict[str, object]]:
    """The first users by each measure and topic, only if somebody asked for them."""
    if not users:
        return []
    return [
        row
        for ranked in assessment.ranks()
        if ranked.evident
        for row in ranked.rows.slice(0, users).to_pylist()
    ]


def _show(
    assessment: "Assessment",
    summary: list[dict[str, object]],
    most: list[dict[str, object]],
    out: Path | None,
    as_json: bool,
) -> None:
    from sottovoce.assess._ranking import without_evidence  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess.measures._catalogue import RECOMMENDED  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess.measures._expected import banded_precision, precision_in_words  # noqa: PLC0415 - fast --help

    facts = {"users": assessment.users, "posts": assessment.posts, "ranks": out}
    if as_json:
        expected = banded_precision(assessment.measures)
        bands = {"bands": summary, "expected_precision": expected, "most_exposed": most}
        show_json(finite({**facts, **bands}))
        return
    if out is None:
        typer.echo(
            f"{facts['users']:,} users, {facts['posts']:,} posts in the state; nobody was ranked."
        )
        return
    shown = f"{facts['users']:,} users, {facts['posts']:,} posts: users in each band"
    show_rows(shown, summary)
    if most:
        show_rows("Most exposed", most)
    for sentence in (*without_evidence(summary), *precision_in_words(assessment.measures)):
        typer.echo(sentence)
    if not set(assessment.measures) & set(RECOMMENDED):
        typer.echo(
            f"Recommended are {', '.join(RECOMMENDED)} (--measure recommended): they found most of "
            "those concerned in tests on real timelines; the others found fewer."
        )
    typer.echo(f"Ranks in Parquet, readable by you only: {out}")
