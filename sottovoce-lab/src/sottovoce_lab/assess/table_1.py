"""How many topics were called sensitive by how many judges, and how far judges agree.

R-Susceptibility, Table 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from sottovoce.errors import InputError, ParameterError
from sottovoce.release.topics.evaluation import mean_interval
from sottovoce.report.figures import COLOURS, legend_below, new_figure
from sottovoce.report.page import Plot
from sottovoce.report.result import Row, StudyResult
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.judgements.agreement import agreement_table, fleiss_kappa, judged_topics
from sottovoce.topics.judgements.sheets import SURVEY_FILE, TOPIC_JUDGES, read_survey, survey_check
from sottovoce.topics.judgements.votes import (
    Vote,
    read_votes,
    topic_votes,
    vote_counts,
    without_checks,
)
from sottovoce_lab._data import SIMULATED, DataAbsentError, data_file
from sottovoce_lab.assess._simulated_judges import smallest_catalogue, topic_ballots
from sottovoce_lab.options import StudyOptions, refuse_documents

PAPER_TOPICS: dict[str, tuple[int, ...]] = {
    "quora": (29, 43, 48, 56, 68, 99, 106, 51),
    "nyt": (8, 27, 60, 84, 73, 90, 111, 47),
    "hf": (38, 32, 30, 21, 22, 28, 23, 6),
}
"""R-Susceptibility, Table 1: topics by judges agreeing, from 7 down to 0."""
PAPER_KAPPAS = {"quora": 0.241, "nyt": 0.157, "hf": 0.294}
SHOWN = ("row", "ours", "paper_quora", "paper_nyt", "paper_hf", "people")
WIDE = ("ours_percent", "paper_quora_percent", "paper_nyt_percent", "paper_hf_percent", "p_value")
SIMULATED_NOTE = (
    "The judges are simulated: their opinions are declared in the code, with a disagreement like "
    "that of the paper's judges, by authors who knew the survey. The rows test the procedure; only "
    "real votes (--votes FILE) say what people find sensitive, and only theirs can be compared "
    "with the survey as evidence."
)
RECOMPUTED_NOTE = (
    "The paper's kappas follow from its own table: computed again from the counts they agree to "
    "the third digit, which also checks our kappa."
)
SURVEY_NOTE = (
    "The survey asked how sensitive kinds of information are, not topics of posts, and only "
    "{points} of its 33 kinds have a topic here: a rank correlation over so few points is weak "
    "evidence whatever its p-value."
)
NO_SURVEY = "The sensitivity survey is not at hand (SOTTOVOCE_DATA), so its rows are left out."


@dataclass(frozen=True, eq=False)
class AssessTable1Settings:
    """Simulated judges of a catalogue, or ``votes`` that were cast (the catalogue may be None)."""

    catalogue: Catalogue | None
    survey: Mapping[str, float] | None = None
    votes: Sequence[Vote] | None = None
    judges: int = TOPIC_JUDGES
    seeds: int = 20

    def __post_init__(self) -> None:
        if self.seeds < 1 or self.judges < 2:  # noqa: PLR2004 - one judge agrees with nobody
            raise ParameterError("seeds must be >= 1 and judges >= 2.")
        if self.catalogue is None and self.votes is None:
            raise ParameterError("simulated judges need a catalogue to judge.")

    def panels(self) -> list[list[Vote]]:
        """The votes of one panel of judges, or of a simulated one for each seed."""
        if self.votes is not None or self.catalogue is None:
            return [list(self.votes or ())]
        return [topic_ballots(self.catalogue, self.judges, seed) for seed in range(self.seeds)]


def run_assess_table_1(options: StudyOptions) -> StudyResult:
    """Table 1 by simulated judges, or by the votes of ``options``.

    ``data`` may be a catalogue: the one that was judged, or to be judged by simulated judges.
    """
    refuse_documents(options, "assess-table-1")
    catalogue = _given_catalogue(options)
    if catalogue is None and not options.votes:
        catalogue = smallest_catalogue()
    settings = AssessTable1Settings(
        catalogue,
        _published_survey(),
        _votes(options, catalogue),
        seeds=options.seeds or (3 if options.quick else 20),
    )
    return run(settings)


def _given_catalogue(options: StudyOptions) -> Catalogue | None:
    return None if options.data in {None, SIMULATED} else Catalogue.load(Path(str(options.data)))


def _votes(options: StudyOptions, catalogue: Catalogue | None) -> list[Vote] | None:
    if not options.votes:
        return None
    real, _ = without_checks(read_votes(options.votes).votes)
    return real if catalogue is None else topic_votes(real, catalogue)


def _published_survey() -> dict[str, float] | None:
    try:
        return read_survey(data_file(SURVEY_FILE))
    except DataAbsentError:
        return None


def run(settings: AssessTable1Settings) -> StudyResult:
    """Counts by judges agreeing, kappa, and the survey, each with the paper's figure beside."""
    panels = settings.panels()
    rows = _table(panels) + _kappas(panels)
    notes = [RECOMPUTED_NOTE]
    if settings.votes is None and settings.catalogue is not None:
        rows += [_domains(settings.catalogue, panels)]
        notes.insert(0, SIMULATED_NOTE)
    if settings.survey is None:
        notes.append(NO_SURVEY)
    else:
        found, points = _survey(settings, panels)
        rows += found
        notes.append(SURVEY_NOTE.format(points=points))
    sizes: Row = {
        "data": "simulated judges" if settings.votes is None else "votes",
        "topics": len({vote.item for vote in panels[0]}),
        "judges": max(row["judges"] for row in rows if isinstance(row["judges"], int)),
        "seeds": len(panels),
    }
    full = tuple(_EMPTY | row | sizes for row in rows)
    finding = _finding(full)
    plot = Plot(_figure(full), finding, f"Shares of topics by judges agreeing. {finding}")
    return StudyResult(full, (plot,), SHOWN, tuple(notes), WIDE)


_EMPTY: Row = dict.fromkeys((*SHOWN, *WIDE, "points", "agreeing"), None)


def _table(panels: Sequence[Sequence[Vote]]) -> list[Row]:
    """Table 1 itself; the paper's counts stand beside only where it had as many judges."""
    tables = [agreement_table(panel) for panel in panels]
    if len({row.judges for row in tables[0]}) > 1:
        raise InputError(
            "table 1 needs as many votes on every topic; `topics judge agreement` takes any."
        )
    judges, items = tables[0][0].judges, sum(row.items for row in tables[0])
    counts = {
        row.agreeing: [
            each.items for table in tables for each in table if each.agreeing == row.agreeing
        ]
        for row in tables[0]
    }
    return [_count_row(agreeing, judges, items, found) for agreeing, found in counts.items()]


def _count_row(agreeing: int, judges: int, items: int, found: Sequence[int]) -> Row:
    interval = mean_interval([float(count) for count in found])
    row: Row = {
        "row": f"{agreeing} of {judges} judges",
        "agreeing": agreeing,
        "judges": judges,
        "ours": interval.mean,
        "ours_low": interval.low,
        "ours_high": interval.high,
        "ours_percent": 100.0 * interval.mean / items,
    }
    if judges == TOPIC_JUDGES:
        for name, topics in PAPER_TOPICS.items():
            count = topics[TOPIC_JUDGES - agreeing]
            row[f"paper_{name}"] = count
            row[f"paper_{name}_percent"] = 100.0 * count / sum(topics)
    return row


def _kappas(panels: Sequence[Sequence[Vote]]) -> list[Row]:
    ours = [fleiss_kappa(vote_counts(panel)[1]) for panel in panels]
    known = [kappa for kappa in ours if kappa is not None]
    row: Row = {"row": "Fleiss' kappa", "judges": None}
    if known:
        interval = mean_interval(known)
        row |= {"ours": interval.mean, "ours_low": interval.low, "ours_high": interval.high}
    printed: Row = {f"paper_{name}": kappa for name, kappa in PAPER_KAPPAS.items()}
    again: Row = {f"paper_{name}": paper_kappa(topics) for name, topics in PAPER_TOPICS.items()}
    return [row | printed, {"row": "kappa from the paper's own counts", "judges": None, **again}]


def paper_kappa(topics: Sequence[int]) -> float:
    """Kappa as it follows from a column of Table 1."""
    yes = np.repeat(np.arange(TOPIC_JUDGES, -1, -1), topics)
    kappa = fleiss_kappa(np.stack([yes, TOPIC_JUDGES - yes], axis=1))
    if kappa is None:
        raise ParameterError("the column must have both answers.")
    return kappa


def _domains(catalogue: Catalogue, panels: Sequence[Sequence[Vote]]) -> Row:
    """How often the plurality of the seven categories is the catalogue's own domain."""
    shares = []
    for panel in panels:
        judged = judged_topics(catalogue, panel)
        shares.append(
            float(np.mean([each.domain == catalogue.by_name[each.topic].domain for each in judged]))
        )
    interval = mean_interval(shares)
    return {
        "row": "domain by plurality is the catalogue's (share)",
        "judges": None,
        "ours": interval.mean,
        "ours_low": interval.low,
        "ours_high": interval.high,
    }


def _survey(
    settings: AssessTable1Settings, panels: Sequence[Sequence[Vote]]
) -> tuple[list[Row], int]:
    survey = settings.survey or {}
    shares = _mean_shares(panels)
    judged = survey_check(shares, survey)
    rows: list[Row] = [
        {"row": f"survey: {point.kind}", "judges": None, "ours": point.ours, "people": point.people}
        for point in judged.points
    ]
    checks = {"judges' shares": judged}
    if settings.catalogue is not None:
        flags = {topic.name: float(topic.sensitive) for topic in settings.catalogue}
        checks["the catalogue's marks"] = survey_check(flags, survey)
    rows += [
        {
            "row": f"survey: rank correlation with {name}",
            "judges": None,
            "ours": check.correlation,
            "p_value": check.p_value,
            "points": len(check.points),
        }
        for name, check in checks.items()
    ]
    return rows, len(judged.points)


def _mean_shares(panels: Sequence[Sequence[Vote]]) -> dict[str, float]:
    """The share of yes on each topic, over all panels."""
    items, counts = vote_counts([vote for panel in panels for vote in panel])
    return dict(zip(items, (counts[:, 0] / counts.sum(axis=1)).tolist(), strict=True))


def _finding(rows: Sequence[Row]) -> str:
    kappa = next(row["ours"] for row in rows if row["row"] == "Fleiss' kappa")
    shown = f"{kappa:.3f}" if isinstance(kappa, float) else "undefined"
    paper = ", ".join(f"{value:.3f}" for value in PAPER_KAPPAS.values())
    text = f"Kappa is {shown}; the paper has {paper} (Quora, NYT, health forums)."
    for row in rows:
        if str(row["row"]).startswith("survey: rank") and isinstance(row["ours"], float):
            name = str(row["row"]).removeprefix("survey: ")
            text += f" Survey: {name} {row['ours']:.2f}, p = {row['p_value']:.3f}, "
            text += f"{row['points']} points."
    return text


def _figure(rows: Sequence[Row]) -> Figure:
    figure, axes = new_figure(height=3.6)
    counted = [row for row in rows if row["agreeing"] is not None]
    names = {
        "ours_percent": "ours",
        "paper_quora_percent": "paper, Quora",
        "paper_nyt_percent": "paper, NYT",
        "paper_hf_percent": "paper, health forums",
    }
    for colour, (column, label) in zip(COLOURS, names.items(), strict=False):
        points = [(row["agreeing"], row[column]) for row in counted if row[column] is not None]
        if points:
            xs, ys = zip(*points, strict=True)
            axes.plot(xs, ys, color=colour, marker="o", markersize=4, label=label)
    axes.set(xlabel="judges who say sensitive", ylabel="% of topics", ylim=(0, None))
    legend_below(figure, 4)
    return figure
