"""``sottovoce assess``."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli import _reading as formats
from sottovoce.cli._community_report import CommunityReport, PeopleOption, ReportOption
from sottovoce.cli._engines import (
    Address,
    EngineOption,
    EngineOptions,
    MasterOption,
    PartitionsOption,
    RanksOption,
    SparkConfOption,
    assess_on_spark,
    rank_precision,
    show_lifts,
)
from sottovoce.cli._options import (
    BucketOption,
    CheckpointEveryOption,
    CheckpointOption,
    ConcernedOption,
    KOption,
    ModelOption,
    ModeOption,
    MOption,
    ResumeOption,
    TopicsOption,
    loaded_catalogue,
    loaded_models,
    mentioning_resume,
    opened_posts,
    parsed_bucket,
    parsed_mode,
    parsed_setting,
    parsed_share,
    state_file,
    warn_about_rows,
    with_background,
)
from sottovoce.cli._output import AsJson, finite, progress, show_json, show_rows
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.assess.job import Assessment
    from sottovoce.corpus.read.corpus import Corpus
    from sottovoce.corpus.read.tally import ReadOptions
    from sottovoce.topics.voice.train import LearntVoice


RECOMMENDATION = (
    "Recommended is voice-t, with a model (--measure recommended): in a check on 2,926 people it "
    "ranked best among people who write equally much. Without a model (bow-t, keyword-kinds) no "
    "measure there was better than the number of posts alone."
)
SEPARATION = (
    "Each user is counted once, in the narrowest band. Where equal scores reach beyond a band,\n"
    "none of these users is in it: so a band may be empty. Separation: how far the first 1% stand\n"
    "from the middle, in standard deviations."
)


def assess(
    posts: Annotated[
        Path | None,
        typer.Argument(parser=Address, help="Posts: user, time, text; none: rank the state."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=Address,
            help="File for the ranks: .csv, .parquet or .jsonl; a folder on Spark.",
        ),
    ] = None,
    model: ModelOption = None,
    topics: TopicsOption = None,
    measure: Annotated[
        str | None,
        typer.Option(
            help="recommended (voice-t where a voice model is given, bow-t, keyword-kinds), paper "
            "or all (those of the paper's 14 that the models allow), or names: voice-t,ent,...; "
            "default: as the state was last ranked, else bow-t, and all with --model or --topics."
        ),
    ] = None,
    k: KOption = 0.3,
    m: MOption = 3,
    bucket: BucketOption = None,
    mode: ModeOption = None,
    topic: Annotated[
        list[str] | None,
        typer.Option(
            help="Rank by this topic or domain; default: as the state was last ranked, else "
            "'sensitive', all sensitive ones."
        ),
    ] = None,
    state: Annotated[
        Path | None, typer.Option(help="Keep what is needed to add posts later, or add to it.")
    ] = None,
    update: Annotated[
        Path | None, typer.Option(help="The same for a state that must be there: daily runs.")
    ] = None,
    only_newer: Annotated[
        bool,
        typer.Option(
            "--only-newer", help="Add only posts later than the newest that the state has counted."
        ),
    ] = False,
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
    concerned: ConcernedOption = None,
    clean: formats.CleanOption = None,
    report: ReportOption = None,
    people: PeopleOption = False,
    file_format: formats.FormatOption = None,
    fields: formats.FieldsOption = None,
    header: formats.HeaderOption = None,
    delimiter: formats.DelimiterOption = None,
    day_first: formats.DayFirstOption = False,
    month_first: formats.MonthFirstOption = False,
    timezone: formats.TimezoneOption = "UTC",
    encoding: formats.AnyEncodingOption = formats.AUTO,
    longest: formats.LineLimitOption = formats.LONGEST,
    engine: EngineOption = "embedded",
    master: MasterOption = None,
    spark_conf: SparkConfOption = None,
    partitions: PartitionsOption = None,
    ranks: RanksOption = "exact",
    as_json: AsJson = False,
) -> None:
    """Rank the users of a community by how exposed they are on its sensitive topics.

    Columns are guessed, and so is what else the file does not say. The file of ranks is what an
    adversary wants: only you can read it, and no user is named on the screen unless you ask.

    With --checkpoint, after Ctrl-C or a crash the same command with --resume goes on where it was.

    Example: sottovoce assess export.csv --topic health --report report.html

    Example: sottovoce assess community/posts.parquet --topics community/topics.toml --measure bow-t
    --state community.state --out ranks.parquet
    """
    from sottovoce.assess.background import measures_asked, topics_asked  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess.checkpoints import alone_with, checkpoint_of  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess.given_posts import files_beside, language_warning  # noqa: PLC0415 - fast --help
    from sottovoce.assess.job import Assessment, Request  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess.ranks_file import check_ending  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.read.guessed import keep_reading  # noqa: PLC0415 - fast --help
    from sottovoce.files import check_outputs, refuse_overlap  # noqa: PLC0415 - keeps --help fast

    chosen = EngineOptions(engine, master, spark_conf, partitions)
    precision = rank_precision(ranks, chosen)
    state = state_file(state, update, posts, out)
    if only_newer and state is None:
        raise ParameterError("--only-newer needs --state or --update, which know the newest post.")
    keeping = checkpoint_of(checkpoint, checkpoint_every, resume)
    keeps = files_beside(state, out)
    share = parsed_share(concerned)
    asked = CommunityReport.asked(report, people=people, concerned=share)
    refuse_overlap((out, state, report), (posts, topics, *keeps, *(merge or ()), *(model or ())))
    told = formats.read_options(
        file_format, fields, header, timezone, encoding, longest, delimiter, day_first, month_first
    )
    has_others = bool(model or topics or merge or chosen.is_spark)
    request = Request(
        measures=measures_asked(
            None if measure is None else [name.strip() for name in measure.split(",")],
            state,
            has_others=has_others,
        ),
        setting=parsed_setting(k, m, mode or "corrected"),
        mode=parsed_mode(mode),
        catalogue=loaded_catalogue(topics),
        spaces=loaded_models(model),
        topics=topics_asked(topic, state),
        bucket=parsed_bucket(bucket),
        kept=keep_buckets,
        posts=keep_posts,
        clean=clean,
    )
    if chosen.is_spark:
        single = {"--state": state, "--merge": merge, "--keep-posts": keep_posts}
        chosen.refuse({**single, "--checkpoint": checkpoint, "--show-users": show_users})
        chosen.refuse({"--only-newer": only_newer, "--report": report})
        chosen.refuse({"--day-first": day_first, "--month-first": month_first})
        if out is None:
            raise ParameterError("Spark needs --out, a folder for the ranks.")
        assess_on_spark(chosen, request, posts, out, told, precision, share, as_json)
        return
    check_ending(out)
    check_outputs(out, state, report)
    files = AssessFiles(posts, out, state, tuple(merge or ()))
    with alone_with(state, checkpoint), mentioning_resume(checkpoint):
        opened = None if posts is None else opened_posts(posts, told, encoding, state or out)
        if opened is not None and (warning := language_warning(request, state, posts, opened[1])):
            typer.echo(warning, err=True)
        request, learnt = with_background(request, opened and opened[0], state)
        assessment = Assessment(request, state, checkpoints=keeping)
        if posts is None and not merge and not assessment.users:
            raise ParameterError(
                "there is nothing to rank: give POSTS, or a --state that holds some."
            )
        read = _folded(assessment, files, opened, asked, only_newer=only_newer)
        summary = _saved(assessment, files, learnt, shown=bool(topic or show_users))
        if asked is not None:
            asked.write(assessment, read)
        if opened is not None and (beside := state or out):
            _say_kept(keep_reading(beside, opened[1], told))
    most = _most_exposed(assessment, show_users)
    _show(assessment, summary, most, out, read, share, as_json)


def _say_kept(path: Path | None) -> None:
    if path is not None:
        typer.echo(f"kept which columns were read, for the next run: {path}", err=True)


@dataclass(frozen=True)
class AssessFiles:
    """What is read and written."""

    posts: Path | None
    out: Path | None
    state: Path | None
    merge: tuple[Path, ...]


def _folded(
    assessment: "Assessment",
    files: AssessFiles,
    opened: "tuple[Corpus, ReadOptions] | None",
    asked: CommunityReport | None,
    *,
    only_newer: bool,
) -> dict[str, object]:
    """Posts and other states into the state; what became of the posts' rows."""
    from sottovoce.assess.given_posts import Notices, fold_posts  # noqa: PLC0415 - fast --help

    read: dict[str, object] = {}
    say = partial(typer.echo, err=True)
    notices = Notices(say, say, warn_about_rows)
    with progress("Scoring posts"):
        if opened is not None:
            watch = None if asked is None else asked.watching(assessment)
            read = fold_posts(
                assessment, files.posts, *opened, notices, watch=watch, only_newer=only_newer
            )
        for part in files.merge:
            assessment.merge(part)
    return read


def _saved(
    assessment: "Assessment", files: AssessFiles, learnt: "LearntVoice | None", *, shown: bool
) -> list[dict[str, object]]:
    """Users ranked, and what is to be kept written; how many are in each band.

    A run that only adds to a state ranks nobody, unless it asks for what is ``shown``.
    """
    from sottovoce.assess.background import model_folder  # noqa: PLC0415 - keeps --help fast

    with progress("Ranking users"):
        if learnt is not None and files.state is not None:
            learnt.save(model_folder(files.state))
        kept = files.state or files.out
        summary = assessment.save(files.out, shown=shown) if kept else []
        if not kept or (shown and files.out is None):
            summary = assessment.bands()
    if files.posts is None and not files.merge and files.out is None:
        assessment.pack()
    return summary


def _most_exposed(assessment: "Assessment", users: int) -> list[dict[str, object]]:
    """The first users with evidence by each measure and topic, only if somebody asked for them."""
    if not users:
        return []
    return [
        row
        for ranked in assessment.ranks()
        for row in ranked.rows.slice(0, min(users, ranked.evident)).to_pylist()
    ]


def _show(
    assessment: "Assessment",
    summary: list[dict[str, object]],
    most: list[dict[str, object]],
    out: Path | None,
    read: dict[str, object],
    concerned: float | None,
    as_json: bool,
) -> None:
    from sottovoce.assess.measures.catalogue import RECOMMENDED, banded_lifts  # noqa: PLC0415 - fast --help
    from sottovoce.assess.ranking import bands_apart, without_evidence  # noqa: PLC0415 - keeps --help fast

    facts = {"users": assessment.users, "posts": assessment.posts, "ranks": out, **read}
    if as_json:
        lifts = banded_lifts(assessment.measures, concerned)
        bands = {"bands": summary, "lifts": lifts, "most_exposed": most}
        show_json(finite({**facts, **bands}))
        return
    if not summary:
        typer.echo(
            f"{facts['users']:,} users, {facts['posts']:,} posts in the state; nobody was ranked: "
            "--out RANKS.csv, --topic or --show-users does it."
        )
        return
    shown = f"{facts['users']:,} users, {facts['posts']:,} posts: users in each band"
    show_rows(shown, bands_apart(summary))
    typer.echo(SEPARATION)
    if most:
        show_rows("Most exposed", most)
    for sentence in without_evidence(summary):
        typer.echo(sentence)
    show_lifts(assessment.measures, concerned)
    if not set(assessment.measures) & set(RECOMMENDED):
        typer.echo(RECOMMENDATION)
    if out is not None:
        typer.echo(f"Ranks, readable by you only: {out}")
