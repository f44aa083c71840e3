"""What ``assess`` says on the way, in its table of bands, and on a page about the community."""

import getpass
import json
import shlex
import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import typer

from sottovoce.assess.assess import PostsListener
from sottovoce.assess.community_facts import CommunityWatch, all_shipped, first_people, topic_facts
from sottovoce.assess.explain import Assessed
from sottovoce.assess.job import Assessment
from sottovoce.assess.measures.catalogue import RECOMMENDED, banded_lifts
from sottovoce.assess.ranking import bands_apart, without_evidence
from sottovoce.cli._engines import show_lifts
from sottovoce.cli._options import ReadingOptions, warn_about_rows
from sottovoce.cli._output import finite, progress, show_json, show_rows
from sottovoce.corpus.read.corpus import Source
from sottovoce.corpus.read.tally import ReadOptions, Tallied
from sottovoce.corpus.schema import POSTS
from sottovoce.errors import MissingExtraError, ParameterError
from sottovoce.files import append_private

RECOMMENDATION = (
    "We recommend voice-t with a model (--measure recommended): in a check on 2,926 people it "
    "ranked best among people who write equally much. Without a model (bow-t, keyword-kinds) no "
    "measure did better than the number of posts alone."
)
SEPARATION = (
    "Each user is counted once, in the narrowest band. If equal scores reach beyond a band,\n"
    "none of these users is in it: so a band may be empty. Separation: how far the first 1% stand\n"
    "from the middle, in standard deviations."
)
MOST_PEOPLE = 10


@dataclass
class CommunityReport:
    """A report that was asked for."""

    path: Path
    people: bool
    concerned: float | None = None
    watch: CommunityWatch | None = None

    @classmethod
    def choose(
        cls, path: Path | None, *, people: bool, concerned: float | None
    ) -> "CommunityReport | None":
        """The options --report and --people."""
        if path is None:
            if people:
                raise ParameterError("--people needs --report, the page that names them.")
            return None
        if path.suffix.lower() not in {".html", ".htm"}:
            raise ParameterError(f"--report must end in .html, got {path.name}.")
        return cls(path, people, concerned)

    @property
    def log(self) -> Path:
        """Where it is logged that people were named."""
        return self.path.with_name(f"{self.path.name}.log")

    def write(self, assessment: Assessment, read: Mapping[str, object]) -> None:
        """Draw and write the page; that it names people is logged before it does."""
        from sottovoce.assess.disclosure.disclosures import disclosure_counts  # noqa: PLC0415 - reads tables

        try:
            from sottovoce.report.own_community import CommunityFacts, community_report  # noqa: PLC0415 - fast --help
        except ModuleNotFoundError as error:
            raise MissingExtraError.of_import(error, "report") from None
        catalogue = assessment.state.header.catalogue
        with progress("Drawing the report"):
            watch = self.watch
            texts = watch.texts if watch else ()
            facts = CommunityFacts(
                users=assessment.users,
                posts=assessment.posts,
                topics=topic_facts(assessment.ranks(), catalogue),
                rows=read,
                weeks=dict(sorted(watch.weeks.items())) if watch else {},
                closely=len(texts),
                said=disclosure_counts(texts, catalogue) if texts else (),
                english=watch is None or watch.english,
                own_topics=not all_shipped(catalogue),
                people=first_people(assessment.ranks(), MOST_PEOPLE) if self.people else (),
                concerned=self.concerned,
                command=shlex.join(["sottovoce", *sys.argv[1:]]),
            )
            if self.people:
                self._log_people(len(facts.topics))
            community_report(facts).save(self.path, private=self.people)
        typer.echo(f"Wrote {self.path}{self._describe()}", err=True)

    def _describe(self) -> str:
        if not self.people:
            return ": it names nobody."
        return f": it names people and is readable by you only; logged in {self.log}."

    def _log_people(self, topics: int) -> None:
        line = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "event": "report with people",
            "by": _find_user(),
            "report": self.path.name,
            "topics": topics,
        }
        append_private(self.log, json.dumps(line).encode() + b"\n")


def _find_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


class Terminal(PostsListener):
    """Says on standard error what a call from Python warns of."""

    def __init__(self, reading: ReadingOptions, report: CommunityReport | None = None) -> None:
        self._reading, self._report = reading, report

    def read(self, posts: Source, told: ReadOptions, beside: Path | None) -> ReadOptions:  # noqa: ARG002 - it is told here
        """As told, as kept, or as guessed, which is said."""
        return self._reading.choose(Path(str(posts)), POSTS, beside)

    def warn(self, sentence: str) -> None:
        """Say what must not be overlooked."""
        typer.echo(sentence, err=True)

    def tell(self, sentence: str) -> None:
        """Say what may be known."""
        typer.echo(sentence, err=True)

    def tell_skipped(self, posts: Tallied) -> None:
        """Say which rows were skipped."""
        warn_about_rows(posts)

    def say_kept(self, path: Path | None) -> None:
        """Say where it is kept how posts were read."""
        if path is not None:
            typer.echo(f"saved the choice of columns for the next run: {path}", err=True)

    def show_step(self, name: str) -> AbstractContextManager[None]:
        """Show that a step is under way."""
        return progress(name)

    def watch(
        self, assessment: Assessment, posts: Iterable[pa.RecordBatch]
    ) -> Iterable[pa.RecordBatch]:
        """The same posts; for a report they are counted on their way."""
        if self._report is None:
            return posts
        self._report.watch = CommunityWatch(clean=bool(assessment.scoring.header.clean))
        return self._report.watch.note_batches(posts)

    def finish(self, assessment: Assessment, read: dict[str, object]) -> None:
        """Write the report."""
        if self._report is not None:
            self._report.write(assessment, read)


def show_assessed(done: Assessed, users: int, concerned: float | None, as_json: bool) -> None:
    """Bands, what they are worth, and the first ``users``, only if somebody asked for them."""
    assessment, out = done.assessment, done.request.ranks_file
    most = [
        row
        for ranked in (assessment.ranks() if users else ())
        for row in ranked.rows.slice(0, min(users, ranked.evident)).to_pylist()
    ]
    facts = {"users": assessment.users, "posts": assessment.posts, "ranks": out, **done.read}
    if as_json:
        lifts = banded_lifts(assessment.measures, concerned)
        bands = {"bands": done.summary, "lifts": lifts, "most_exposed": most}
        show_json(finite({**facts, **bands}))
        return
    counts = f"{facts['users']:,} users, {facts['posts']:,} posts"
    if not done.summary:
        typer.echo(
            f"{counts} in the state; nobody was ranked: to rank, give --out RANKS.csv, --topic or "
            "--show-users."
        )
        return
    show_rows(f"{counts}: users in each band", bands_apart(done.summary))
    typer.echo(SEPARATION)
    if most:
        show_rows("Most exposed", most)
    for sentence in without_evidence(done.summary):
        typer.echo(sentence)
    show_lifts(assessment.measures, concerned)
    if not set(assessment.measures) & set(RECOMMENDED):
        typer.echo(RECOMMENDATION)
    if out is not None:
        typer.echo(f"Ranks, readable by you only: {out}")
