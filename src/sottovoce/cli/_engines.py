"""Where the work is done: in this process, or on Apache Spark."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PosixPath
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from sottovoce.cli._groups import OptionGroup
from sottovoce.cli._options import warn_about_rows
from sottovoce.cli._output import finite, progress, show_json, show_rows
from sottovoce.errors import ParameterError
from sottovoce.parsing import check_choice

if TYPE_CHECKING:
    from sottovoce_spark.release import SparkDocuments
    from sottovoce_spark.sketches import Precision

    from sottovoce.assess.request import AssessRequest
    from sottovoce.privacy.ledger.chosen_ledger import LedgerPlace
    from sottovoce.release.inputs import ReleaseInputs
    from sottovoce.release.job import ReleaseRequest
    from sottovoce.release.release import Release


ENGINES = ("embedded", "spark")
RANK_KINDS = ("exact", "sketch")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:/", re.ASCII)


class Address(PosixPath):
    """A path, or the address of something that Spark reads, kept as it was written."""

    written: str

    def __new__(cls, text: str | Path) -> Self:
        self = super().__new__(cls, text)
        self.written = str(text)
        return self


def as_written(path: Path) -> str:
    """A path or an address as it was given on the command line."""
    return path.written if isinstance(path, Address) else str(path)


def address_of(path: Path) -> str:
    """What Spark is to be told: an address as it is, a plain path with its folder spelt out."""
    written = as_written(path)
    return written if _SCHEME.match(written) else str(Path(written).absolute())


def folder_of(path: Path, engine: "EngineOptions") -> Path | None:
    """The folder to write to, if it is this machine's to look at; on Spark it may be an address."""
    written = as_written(path)
    if not _SCHEME.match(written):
        return Path(path)
    if not engine.is_spark:
        raise ParameterError(f"cannot write to the address {written}; use --engine spark.")
    return None


@dataclass(frozen=True)
class EngineOptions(OptionGroup):
    """Where the work is done.

    Args:
        engine: 'embedded', or 'spark': on a cluster.
        master: Spark's master: spark://HOST:PORT, yarn, ...; default: local[*].
        spark_conf: A Spark setting, NAME=VALUE.
        partitions: How many parts Spark divides the users into; default: 2 per core.
    """

    panel = "On a cluster"

    engine: str = "embedded"
    master: str | None = None
    spark_conf: list[str] | None = None
    partitions: Annotated[int | None, typer.Option(min=1)] = None

    def __post_init__(self) -> None:
        check_choice("engine", self.engine, ENGINES)
        given: dict[str, object] = {"--master": self.master, "--partitions": self.partitions}
        given["--spark-conf"] = self.spark_conf or None
        for option, value in given.items():
            if value is not None and not self.is_spark:
                raise ParameterError(f"{option} needs --engine spark.")

    @property
    def is_spark(self) -> bool:
        """Whether Spark does the work."""
        return self.engine == "spark"

    @property
    def is_on_other_machines(self) -> bool:
        """Whether workers may be elsewhere than this process."""
        return self.is_spark and not (self.master or "local").startswith("local")

    def refuse(self, options: Mapping[str, object]) -> None:
        """Refuse options that only one machine's engine has."""
        for name, value in options.items():
            if value:
                raise ParameterError(f"{name} does not work on Spark; use --engine embedded.")

    @contextmanager
    def session(self) -> Iterator[Any]:
        """Spark, started for the block."""
        from sottovoce_spark.session import open_session  # noqa: PLC0415 - keeps --help fast

        pairs = [written.partition("=") for written in self.spark_conf or ()]
        if not all(name and sign for name, sign, _ in pairs):
            raise ParameterError("--spark-conf must look like spark.executor.memory=1g.")
        settings = {name: value for name, _, value in pairs}
        with open_session(self.master, settings=settings) as session:
            yield session


@dataclass(frozen=True)
class RankEngineOptions(EngineOptions):
    """Where people are ranked, and how exactly.

    Args:
        ranks: 'exact'; or on Spark 'sketch': a range for each rank, without sorting.
    """

    ranks: str = "exact"

    def precision(self) -> "Precision | None":
        """How fine a sketch is; None: ranks are exact."""
        check_choice("ranks", self.ranks, RANK_KINDS)
        if self.ranks == "exact":
            return None
        if not self.is_spark:
            raise ParameterError(
                "--ranks sketch needs --engine spark; on one machine ranks are exact."
            )
        from sottovoce_spark.sketches import Precision  # noqa: PLC0415 - keeps --help fast

        return Precision()


def ledger_beside(corpus: Path) -> Path:
    """The ledger of a corpus: beside it, so that every release meets the same; a link is it."""
    if _SCHEME.match(getattr(corpus, "written", "")):
        raise ParameterError(
            "a corpus at an address cannot keep a ledger beside it; give --ledger, a place that "
            "the driver finds wherever it runs."
        )
    from sottovoce.privacy.ledger.chosen_ledger import ledger_of  # noqa: PLC0415 - keeps --help fast

    return ledger_of(Path(corpus))


@dataclass(frozen=True)
class OnSpark:
    """Releases the documents of ``corpus`` into ``out`` on Spark."""

    engine: EngineOptions
    corpus: Path
    out: Path

    @property
    def folder(self) -> Path | None:
        """The folder to write to, if it is this machine's to look at."""
        return folder_of(self.out, self.engine)

    def find_ledger(self, request: "ReleaseRequest") -> "LedgerPlace":
        """The ledger of a release; on a cluster it lies where a driver elsewhere finds it too."""
        from sottovoce.privacy.ledger.chosen_ledger import beside_corpus, ledger_place, with_others  # noqa: PLC0415 - fast --help

        if request.ledger is None and self.engine.is_on_other_machines:
            path = ledger_beside(self.corpus)
            place = beside_corpus(path, "the next driver may run elsewhere")
            return with_others(place, Path(self.corpus))
        at_an_address = bool(_SCHEME.match(as_written(self.corpus)))
        return ledger_place(request.ledger, None if at_an_address else Path(self.corpus))

    @contextmanager
    def count(self, inputs: "ReleaseInputs") -> "Iterator[SparkDocuments]":
        """Documents counted on Spark, which stays up for the block to draw their noise."""
        from sottovoce_spark.release import counted_documents  # noqa: PLC0415 - keeps --help fast

        addresses = address_of(self.corpus), address_of(self.out)
        with (
            self.engine.session() as session,
            counted_documents(session, inputs, *addresses) as documents,
        ):
            yield documents


@contextmanager
def release_at(engine: EngineOptions, released: Path) -> "Iterator[Release]":
    """A sharded release on Spark, which stays up for the block to add it up."""
    from sottovoce_spark.analyse import release_on_spark  # noqa: PLC0415 - keeps --help fast

    with engine.session() as session:
        yield release_on_spark(session, address_of(released), engine.partitions)


def show_lifts(measures: Iterable[str], concerned: float | None) -> None:
    """What the bands of these measures are worth, as far as it was measured."""
    from sottovoce.assess.measures.catalogue import lift_rows, lift_title  # noqa: PLC0415 - fast --help

    if rows := lift_rows(measures, concerned):
        show_rows(lift_title(concerned), rows)
        typer.echo("If two intervals overlap, neither measure is shown to be better.")
        if concerned is None:
            typer.echo(
                "To see how many of a band that is: --concerned 2%, if a topic concerns 2 in 100."
            )


def assess_on_spark(
    engine: EngineOptions,
    request: "AssessRequest",
    posts: Path | None,
    out: Path | None,
    precision: "Precision | None",
    concerned: float | None,
    as_json: bool,
) -> None:
    """Rank on Spark, and show what one machine would show."""
    from sottovoce_spark.assess import SparkAssessPlan, assess_files  # noqa: PLC0415 - keeps --help fast

    from sottovoce.assess.measures.catalogue import banded_lifts  # noqa: PLC0415 - fast --help
    from sottovoce.assess.ranking import bands_apart, without_evidence  # noqa: PLC0415 - keeps --help fast

    if out is None:
        raise ParameterError("Spark needs --out, a folder for the ranks.")
    if posts is None:
        raise ParameterError("Spark needs posts: give POSTS.")
    request.load()
    given = {"bucket": request.length} if request.length else {}
    reading = request.columns
    plan = SparkAssessPlan(
        request.catalogue,
        request.spaces,
        request.measure_names,
        request.topic_names,
        request.setting,
        kept=request.keep_buckets,
        timezone=reading.timezone,
        longest_text=reading.max_line_bytes,
        partitions=engine.partitions,
        precision=precision,
        clean=request.cleans_posts(),
        **given,
    )
    with progress("Scoring posts on Spark"), engine.session() as session:
        done = assess_files(session, address_of(posts), address_of(out), plan, reading)
    warn_about_rows(done)
    measures = [str(row["measure"]) for row in done.summary]
    if as_json:
        facts = {"users": done.users, "posts": done.posts, "ranks": out}
        lifts = banded_lifts(measures, concerned)
        show_json(finite({**facts, "bands": done.summary, "lifts": lifts, "most_exposed": []}))
        return
    title = f"{done.users:,} users, {done.posts:,} posts: users in each band"
    show_rows(title, bands_apart(done.summary))
    for sentence in without_evidence(done.summary):
        typer.echo(sentence)
    show_lifts(measures, concerned)
    typer.echo(f"Ranks in Parquet, readable by you only: {out}")
