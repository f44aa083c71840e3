"""``sottovoce assess``."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli._engines import Address, RankEngineOptions, assess_on_spark
from sottovoce.cli._groups import OptionGroup
from sottovoce.cli._options import (
    CleanOption,
    ConcernedOption,
    ReadingOptions,
    ScoreOptions,
    mention_resume,
    needs_extra,
    parse_share,
)
from sottovoce.cli._output import AsJson
from sottovoce.errors import InputError, ParameterError


@dataclass(frozen=True)
class RankOptions(OptionGroup):
    """By what people are ranked.

    Args:
        measure: recommended (voice-t where a voice model is given, bow-t, keyword-kinds), paper or
            all (those of the paper's 14 that the models allow), or names: voice-t,ent,...; default:
            as the state was last ranked, else bow-t, and all with --model or --topics.
        topic: Rank by this topic or domain; default: as the state was last ranked, else
            'sensitive', all sensitive ones.
    """

    measure: str | None = None
    topic: list[str] | None = None


@dataclass(frozen=True)
class StateOptions(OptionGroup):
    """What is kept of posts, so that more can be added.

    Args:
        state: Keep what is needed to add posts later, or add to it.
        update: Like --state, but the state must exist: for daily runs.
        only_newer: Add only posts later than the newest that the state has counted.
        merge: Add the state made from another part of the posts.
        keep_buckets: The largest -m a new state allows; default: 12.
        keep_posts: Keep each post's scores, so that single posts can be deleted; makes the state
            larger.
        checkpoint: Folder for progress so far; protect it like the posts.
        checkpoint_every: Seconds between two checkpoints; 0: after each batch.
        resume: Go on from the checkpoint.
    """

    panel = "State and checkpoints"

    state: Path | None = None
    update: Path | None = None
    only_newer: bool = False
    merge: list[Path] | None = None
    keep_buckets: Annotated[int | None, typer.Option(min=1)] = None
    keep_posts: Annotated[bool | None, typer.Option("--keep-posts")] = None
    checkpoint: Path | None = None
    checkpoint_every: float = 60.0
    resume: bool = False

    def choose_file(self, posts: Path | None, out: Path | None) -> Path | None:
        """The file of --state or --update."""
        if self.update is None:
            if self.state is None and out is None and posts is None:
                raise ParameterError(
                    "there is nothing to assess: give POSTS, a file of posts, or --state FILE to "
                    "rank a saved state."
                )
            if self.only_newer and self.state is None:
                raise ParameterError(
                    "--only-newer needs --state or --update: the state knows the newest post."
                )
            return self.state
        if self.state is not None:
            raise ParameterError("--update and --state both name the state; give one of them.")
        if posts is None:
            raise ParameterError("--update needs POSTS, the new ones.")
        if not self.update.exists():
            raise InputError(f"there is no state {self.update} to update; begin one with --state.")
        return self.update


@dataclass(frozen=True)
class ShowOptions(OptionGroup):
    """What is shown beside the bands.

    Args:
        show_users: Print the ids of the N most exposed users.
        report: Write an offline page about the community; it names nobody.
        people: Name the first people in --report; this is logged.
    """

    show_users: Annotated[int, typer.Option(min=0)] = 0
    concerned: ConcernedOption = None
    report: Path | None = None
    people: bool = False


def assess(
    posts: Annotated[Path | None, typer.Argument(parser=Address)] = None,
    *,
    out: Annotated[Path | None, typer.Option(parser=Address)] = None,
    ranked: RankOptions,
    scoring: ScoreOptions,
    kept: StateOptions,
    shown: ShowOptions,
    clean: CleanOption = None,
    reading: ReadingOptions,
    engine: RankEngineOptions,
    as_json: AsJson = False,
) -> None:
    """Rank the users of a community by how exposed they are on its sensitive topics.

    What the file does not say, such as which column is which, is guessed. An adversary would want
    the file of ranks: only you can read it, and the screen names no user unless you ask.

    With --checkpoint, after Ctrl-C or a crash, the same command with --resume continues.

    Example: sottovoce assess export.csv --topic health --report report.html

    Example: sottovoce assess community/posts.parquet --topics community/topics.toml --measure bow-t
    --state community.state --out ranks.parquet

    Args:
        posts: Posts: user, time, text; leave out to rank the state.
        out: File for the ranks: .csv, .parquet or .jsonl; a folder on Spark.
    """
    from sottovoce.assess.assess import carry_out  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess.ranks_file import check_ending  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess.request import AssessRequest  # noqa: PLC0415 - keeps --help fast
    from sottovoce.cli._community_report import CommunityReport, Terminal, show_assessed  # noqa: PLC0415 - fast --help
    from sottovoce.files import check_outputs  # noqa: PLC0415 - keeps --help fast

    precision = engine.precision()
    state, share = kept.choose_file(posts, out), parse_share(shown.concerned)
    report = CommunityReport.choose(shown.report, people=shown.people, concerned=share)
    options = asdict(scoring) | asdict(kept)
    options |= {"merge": kept.merge or (), "state": state, "out": out, "topic": ranked.topic}
    options["measures"] = "all" if engine.is_spark and ranked.measure is None else ranked.measure
    del options["update"]
    request = AssessRequest(posts=posts, clean=clean, reading=reading.to_read_options(), **options)
    request.check_outputs(shown.report)
    if engine.is_spark:
        engine.refuse({"--state": state, "--merge": kept.merge, "--keep-posts": kept.keep_posts})
        engine.refuse({"--checkpoint": kept.checkpoint, "--only-newer": kept.only_newer})
        engine.refuse({"--show-users": shown.show_users, "--report": shown.report})
        engine.refuse({"--day-first": reading.day_first, "--month-first": reading.month_first})
        assess_on_spark(engine, request, posts, out, precision, share, as_json)
        return
    check_ending(out)
    check_outputs(out, state, shown.report)
    with mention_resume(kept.checkpoint), needs_extra("topics"):
        done = carry_out(
            request, Terminal(reading, report), shown=bool(ranked.topic or shown.show_users)
        )
    show_assessed(done, shown.show_users, share, as_json)
