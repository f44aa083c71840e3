"""``sottovoce analyse``."""

import math
import shlex
import warnings
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli._engines import Address, EngineOptions, as_written, release_at
from sottovoce.cli._options import needs_extra
from sottovoce.cli._output import AsJson, finite, progress, show_facts, show_json, show_rows
from sottovoce.files import check_outputs

if TYPE_CHECKING:
    from sottovoce.release.analysis.summary import ReleaseSummary
    from sottovoce.release.release import Release

_SHOWN = 10
_LEVEL = 0.95
_EIGENVALUES = 50
_TELLING = 5
_TOPIC_WORDS = 20


@dataclass(frozen=True)
class SumEngineOptions(EngineOptions):
    """Where sums are added up.

    Args:
        partitions: How many parts Spark adds up separately; default: one per core.
    """

    partitions: Annotated[int | None, typer.Option(min=1)] = None


def analyse(
    released: Annotated[Path, typer.Argument(parser=Address)],
    *,
    labels: Path | None = None,
    topics: Annotated[int | None, typer.Option(min=1)] = None,
    classifier: bool = False,
    seed: int = 0,
    level: float = _LEVEL,
    most: Annotated[int, typer.Option(min=1)] = _SHOWN,
    report: Path | None = None,
    engine: SumEngineOptions,
    as_json: AsJson = False,
) -> None:
    """Show what a release supports, and how sure you can be of it.

    It shows how many topics stand above the noise, how often words were used and occur together,
    with intervals, and, with labels, the words that distinguish them. Sums of a release are
    unbiased, and reading them costs no privacy: everything here follows from what was published.

    Example: sottovoce analyse released --report report.html

    Args:
        released: Folder of a release.
        labels: A file with one public label per line, in the order of the documents.
        topics: How many topics to look for.
        classifier: Train a classifier on the labels, and show what it learnt.
        seed: Seed for topics and for held-out documents.
        level: How often an interval should be right.
        most: Rows of each table.
        report: File for an offline page with tables and figures.
    """
    with needs_extra("release"):
        from sottovoce.release.release import load_release  # noqa: PLC0415 - fast --help

    check_outputs(report)
    if engine.is_spark:
        engine.refuse({"--topics": topics, "--classifier": classifier, "--labels": labels})
    with progress("Reading the release"), ExitStack() as running:
        found = (
            running.enter_context(release_at(engine, released))
            if engine.is_spark
            else load_release(released)
        )
        given = None if labels is None else _label_lines(labels)
        summary = found.summary(level=level, labels=given)
    more = Further(*_topics(found, summary, topics, seed), _learnt(found, given, classifier, seed))
    if report is not None:
        again = _repeat_command(released, labels, topics, seed, classifier=classifier, level=level)
        again += " --engine spark" if engine.is_spark else ""
        _write_report(found, summary, more, report, again)
    if as_json:
        show_json(finite({**_as_record(summary, most, report), **more.record()}))
        return
    _show_summary(summary, most)
    typer.echo(found.guarantee.whole_in_words(summary.mean_length, found.card.row))
    more.show()
    if report is not None:
        typer.echo(f"Wrote {report}.", err=True)


@dataclass(frozen=True)
class Further:
    """What was asked for beyond sums: topics, and what a classifier learnt."""

    topics: list[list[str]] | None = None
    reader: str | None = None
    reader_why: str | None = None
    classifier: dict[str, object] | None = None

    def record(self) -> dict[str, object]:
        """For machines."""
        return asdict(self)

    def show(self) -> None:
        """For people."""
        if self.topics == []:
            typer.echo("No topics are shown: they would look the same as noise.")
        elif self.topics:
            rows = [
                {"topic": place, "words": " ".join(words[:_SHOWN])}
                for place, words in enumerate(self.topics, start=1)
            ]
            show_rows(f"Topics, by the reader that held-out documents chose: {self.reader}", rows)
            typer.echo(self.reader_why)
        if self.classifier is not None:
            show_facts("A classifier of the labels", self.classifier)


def _topics(
    found: "Release", summary: "ReleaseSummary", asked: int | None, seed: int
) -> tuple[list[list[str]] | None, str | None, str | None]:
    """The most frequent words of each topic, and which reader found them, why; or none."""
    if asked is None:
        return None, None, None
    if told := found.topics_warning(asked):
        typer.echo(f"warning: {told}", err=True)
    if summary.meter.dimensions <= 1:
        return [], None, None
    with progress("Looking for topics"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fitted = found.topics(asked, seed=seed)
    words = found.topic_words(fitted, _TOPIC_WORDS)
    return words, fitted.chosen_, fitted.choice_in_words()


def _learnt(
    found: "Release", labels: list[str] | None, wanted: bool, seed: int
) -> dict[str, object] | None:
    """What a classifier lost on released documents that it did not know, beside guessing."""
    if not wanted:
        return None
    checked = found.checked_labels(labels)
    with progress("Training a classifier"):
        fitted = found.classifier(checked, seed=seed)
    shares = [count / len(checked) for count in Counter(checked.tolist()).values()]
    return {
        "kind": fitted.chosen_,
        "classes": len(shares),
        "held_out_loss": fitted.held_out_loss_,
        "loss_of_guessing": -sum(share * math.log(share) for share in shares),
    }


def _label_lines(path: Path) -> list[str]:
    from sottovoce.errors import CorpusError  # noqa: PLC0415 - fast --help
    from sottovoce.release.groups import checked_labels  # noqa: PLC0415 - fast --help

    try:
        lines = path.read_text(encoding="utf-8-sig").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError):
        raise CorpusError(f"{path} must be a readable file with one label per line.") from None
    return list(checked_labels(lines))


def _repeat_command(
    released: Path,
    labels: Path | None,
    topics: int | None,
    seed: int,
    *,
    classifier: bool,
    level: float,
) -> str:
    """The command that says the same once more."""
    asked = {"--labels": labels, "--topics": topics, "--seed": seed or None}
    words = ["sottovoce", "analyse", as_written(released)]
    for name, value in asked.items():
        words += [] if value is None else [name, str(value)]
    words += ["--classifier"] if classifier else []
    words += [] if level == _LEVEL else ["--level", f"{level:g}"]
    return shlex.join(words)


def _write_report(
    found: "Release", summary: "ReleaseSummary", more: Further, path: Path, command: str
) -> None:
    with needs_extra("all"):
        from sottovoce.report.analysis import analysis_report  # noqa: PLC0415 - fast --help

    with progress("Drawing the report"):
        analysis_report(
            found, summary, command=command, topics=more.topics, classifier=more.classifier
        ).save(path)


_NO_TOPICS = (
    "That shows no topics: the first dimension only says which words are frequent. Fewer words on "
    "the list, or longer or more documents, would help."
)


def _show_summary(summary: "ReleaseSummary", most: int) -> None:
    show_facts("What this release supports", summary.facts())
    typer.echo(summary.meter.in_words())
    if summary.meter.columns < summary.columns:
        typer.echo(f"For this the {summary.meter.columns:,} most frequent columns are looked at.")
    if summary.meter.dimensions <= 1:
        typer.echo(_NO_TOPICS)
    show_rows("How often words were used", summary.totals.display_rows(most))
    _show_pairs(summary, most)
    if summary.telling is not None:
        show_rows("Documents of each label, and the words they use more", _by_label(summary))


def _show_pairs(summary: "ReleaseSummary", most: int) -> None:
    from sottovoce.release.analysis.summary import NO_PAIRS  # noqa: PLC0415 - fast --help

    if beyond := summary.clear_pairs(most).display_rows(most):
        show_rows("Which words occur together more often than by chance", beyond)
    else:
        typer.echo(NO_PAIRS)


def _by_label(summary: "ReleaseSummary") -> list[dict[str, object]]:
    return [
        {
            "label": label,
            "documents": summary.labels[label],
            "words": " ".join(words) or "none for sure",
        }
        for label, words in summary.label_words(_TELLING).items()
    ]


def _as_record(summary: "ReleaseSummary", most: int, report: Path | None) -> dict[str, Any]:
    meter = summary.meter
    return {
        "documents": summary.documents,
        "words": summary.words,
        "columns": summary.columns,
        "rate": summary.law.rate,
        "noise_deviation": summary.law.variance**0.5,
        "mean_length": summary.mean_length,
        "certain_words": summary.certain_words,
        "level": summary.totals.level,
        "meter": {
            "dimensions": meter.dimensions,
            "edge": meter.edge,
            "eigenvalues": meter.eigenvalues[:_EIGENVALUES].tolist(),
        },
        "totals": summary.totals.rows(most),
        "pairs": summary.pairs.rows(most),
        "labels": summary.labels,
        "telling_words": [] if summary.telling is None else summary.telling.rows(),
        "report": report,
    }
