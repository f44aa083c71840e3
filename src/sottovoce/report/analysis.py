"""The page about a release: what stands above its noise, and what it says."""

from collections.abc import Mapping

import numpy as np

import sottovoce
from sottovoce.release.analysis.summary import NO_PAIRS, ReleaseSummary
from sottovoce.release.release import Release
from sottovoce.report.page import ACCENT, COLOURS, Plot, Report, Section, new_figure

_SHOWN_WORDS = 20
_SHOWN_PAIRS = 20
_SHOWN_EIGENVALUES = 40
_TELLING = 8
_NAMED = 10
_READING = (
    "Every count of the release carries noise of a publicly known size, so sums over documents are "
    "unbiased and their errors are known. Reading them costs no privacy: everything here follows "
    "from what was published."
)

_SELECTED = (
    "All intervals hold at once, even for totals that were picked as the largest. Such totals "
    "are more often too high than too low, since noise helped to make them the largest. If the "
    "intervals of two words overlap, their true order may be the other one."
)

_DIMENSIONS = (
    "Words that go together make dimensions of meaning. If a bar stands above the line, its "
    "dimension is more than noise; below, it may be noise. The first only says that some words "
    "are frequent."
)
_TOGETHER = (
    "How often both words occur in one document, and how often they would if every document drew "
    "from the same bag of words; the pairs furthest above that come first."
)


def analysis_report(
    released: Release,
    summary: ReleaseSummary,
    *,
    command: str,
    topics: list[list[str]] | None = None,
    classifier: Mapping[str, object] | None = None,
) -> Report:
    """The whole page; ``topics`` are their most frequent words, ``classifier`` what it learnt."""
    sections = [
        _what(released, summary, command),
        _meter(summary),
        _words(summary),
        _pairs(summary),
    ]
    if summary.telling is not None:
        sections.append(_labels(summary, classifier or {}))
    if topics:
        sections.append(_topics(summary, topics))
    return Report(
        title="What a release says",
        summary=f"{summary.meter.in_words()} {_certain(summary)}",
        sections=tuple(sections),
        version=sottovoce.__version__,
    )


def _certain(summary: ReleaseSummary) -> str:
    what = "columns" if summary.columns < summary.words else "words"
    return (
        f"{summary.certain_words:,} of {summary.columns:,} {what} were certainly used; the rest "
        "may not have been."
    )


def _what(released: Release, summary: ReleaseSummary, command: str) -> Section:
    facts = {
        "Documents": f"{summary.documents:,}",
        "Words": f"{summary.words:,}"
        + (f", in {summary.columns:,} columns" if summary.columns < summary.words else ""),
        "Guarantee per document": str(released.guarantee),
        "Noise on a count": f"± {summary.law.variance**0.5:.3g} (its standard deviation)",
        "Counted words a document": f"about {summary.mean_length:.3g}",
    }
    return Section(
        title="What was released",
        paragraphs=(
            _READING,
            released.card.in_words(),
            released.guarantee.whole_in_words(summary.mean_length, released.card.row),
        ),
        facts=facts,
        command=command,
    )


def _meter(summary: ReleaseSummary) -> Section:
    return Section(
        title="What stands above the noise",
        paragraphs=(_DIMENSIONS,),
        plots=(_eigenvalue_plot(summary),),
    )


def _eigenvalue_plot(summary: ReleaseSummary) -> Plot:
    meter = summary.meter
    values = np.maximum(meter.eigenvalues[:_SHOWN_EIGENVALUES], 0)
    above = values > meter.edge
    figure, axes = new_figure(height=2.8)
    places = np.arange(1, values.size + 1)
    axes.bar(places, values, color=np.where(above, ACCENT, COLOURS[-1]))
    axes.axhline(meter.edge, color=COLOURS[1], linewidth=1.2, label="noise edge")
    axes.set_yscale("symlog", linthresh=max(meter.edge, 1e-9))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("dimension")
    axes.set_ylabel("eigenvalue a document")
    axes.legend(frameon=False)
    finding = meter.in_words()
    return Plot(
        figure,
        finding,
        f"Bars of eigenvalues against the noise edge at {meter.edge:.3g}. {finding}",
    )


def _words(summary: ReleaseSummary) -> Section:
    rows = summary.totals.rows(_SHOWN_WORDS)
    named = [str(row.get("word", f"column {row.get('column')}")) for row in rows]
    table = (
        ("word" if "word" in rows[0] else "column", "used", "95% interval"),
        *(
            (name, f"{row['total']:,.0f}", _interval(row["low"], row["high"]))
            for name, row in zip(named, rows, strict=True)
        ),
    )
    return Section(
        title="How often words were used",
        paragraphs=(_SELECTED, *((_name_shared_words(rows),) if "words" in rows[0] else ())),
        plots=(_words_plot(named, rows),) if summary.certain_words else (),
        table=_at_level(table, summary.totals.level),
    )


def _name_shared_words(rows: list[dict[str, object]]) -> str:
    first = str(rows[0]["words"]).split()
    named = ", ".join(first[:_NAMED]) + (", ..." if len(first) > _NAMED else ".")
    return (
        "Nobody can tell apart the words of one column. The largest column holds "
        f"{len(first):,} words: {named}"
    )


def _words_plot(names: list[str], rows: list[dict[str, object]]) -> Plot:
    totals = np.array([float(str(row["total"])) for row in rows])
    reach = np.array([float(str(row["high"])) for row in rows]) - totals
    figure, axes = new_figure(height=0.8 + 0.2 * len(rows))
    places = np.arange(len(rows))
    axes.errorbar(totals, places, xerr=reach, fmt="o", color=ACCENT, markersize=4, capsize=2)
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlabel("times used, with its interval")
    if (totals - reach).min() > 0:
        axes.set_xscale("log")
    clear = int((totals - reach > 0).sum())
    finding = f"Of the {len(rows)} largest totals, {clear} are certainly above 0."
    return Plot(figure, finding, f"Points with intervals, one for each word. {finding}")


def _pairs(summary: ReleaseSummary) -> Section:
    rows = summary.clear_pairs(_SHOWN_PAIRS).rows()
    if not rows:
        return Section(title="Which words occur together", paragraphs=(NO_PAIRS,))
    table = (
        ("first", "second", "together", "95% interval", "by chance"),
        *(
            (
                row["first"],
                row["second"],
                f"{row['together']:,.0f}",
                _interval(row["low"], row["high"]),
                f"{row['expected']:,.0f}",
            )
            for row in rows
        ),
    )
    return Section(
        title="Which words occur together",
        paragraphs=(_TOGETHER, _number_of_pairs(summary)),
        table=_at_level(table, summary.pairs.level),
    )


def _number_of_pairs(summary: ReleaseSummary) -> str:
    number = summary.pairs.beyond_chance()
    least = "At least " if number == len(summary.pairs) else ""
    pairs = summary.columns * (summary.columns - 1) // 2
    return f"{least}{number:,} of all {pairs:,} pairs certainly occur more often than by chance."


def _labels(summary: ReleaseSummary, classifier: Mapping[str, object]) -> Section:
    learnt = {
        f"Classifier, {name.replace('_', ' ')}": _format_value(classifier[name])
        for name in classifier
    }
    return Section(
        title="Labels",
        paragraphs=("Words that a label's documents certainly use more than all documents do.",),
        facts=learnt,
        table=(
            ("label", "documents", "words"),
            *(
                (label, f"{summary.labels[label]:,}", ", ".join(words) or "none for sure")
                for label, words in summary.label_words(_TELLING).items()
            ),
        ),
    )


def _format_value(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _topics(summary: ReleaseSummary, topics: list[list[str]]) -> Section:
    told = (
        summary.meter.warning(len(topics))
        or f"At least as many dimensions as these {len(topics)} topics stand above the noise."
    )
    rows = ((str(place), ", ".join(words)) for place, words in enumerate(topics, start=1))
    return Section(title="Topics", paragraphs=(told,), table=(("topic", "words"), *rows))


def _interval(low: float, high: float) -> str:
    # In one line: a narrow screen scrolls the table instead.
    return f"{low:,.0f}\u00a0to\u00a0{high:,.0f}"


def _at_level(table: tuple[tuple[str, ...], ...], level: float) -> tuple[tuple[str, ...], ...]:
    head = tuple(name.replace("95%", f"{level:.0%} at once,") for name in table[0])
    return (head, *table[1:])
