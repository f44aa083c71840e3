"""How many topics were called sensitive by how many judges, and how far judges agree.

R-Susceptibility, Table 1. An outside check is a survey that asked about 1,450 people how sensitive
they find each of 33 kinds of information, from 1 (not at all) to 4 (very). Few of these kinds are
topics that people post about, so the comparison rests on few points, which it says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sottovoce.errors import InputError, ParameterError
from sottovoce.files import cause_of
from sottovoce.report.page import COLOURS, Plot, legend_below, new_figure
from sottovoce.report.result import Row, StudyResult, number
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.judgements.agreement import agreement_table, fleiss_kappa, judged_topics
from sottovoce.topics.judgements.votes import (
    TOPIC_JUDGES,
    Vote,
    read_votes,
    topic_votes,
    vote_counts,
    without_checks,
)
from sottovoce_lab._data import SIMULATED, DataAbsentError, data_file
from sottovoce_lab.assess._paper import PRINTED
from sottovoce_lab.assess._simulated_judges import smallest_catalogue, topic_ballots
from sottovoce_lab.columns import mean_columns
from sottovoce_lab.options import StudyOptions, refuse_documents, study_notes

PAPER_TOPICS: dict[str, list[int]] = PRINTED["1"]["topics"]
PAPER_KAPPAS: dict[str, float] = PRINTED["1"]["kappas"]
SHOWN = ("row", "ours", "paper_quora", "paper_nyt", "paper_hf", "people")
WIDE = ("ours_percent", "paper_quora_percent", "paper_nyt_percent", "paper_hf_percent", "p_value")
SIMULATED_NOTE, RECOMPUTED_NOTE, SURVEY_NOTE, NO_SURVEY = study_notes("assess-table-1")


@dataclass(frozen=True, eq=False)
class Panels:
    """Who judged: the votes of real judges, or of a simulated panel for each seed.

    Simulated judges have a ``catalogue`` of what they judged.
    """

    votes: Sequence[Sequence[Vote]]
    catalogue: Catalogue | None = None
    simulated: bool = False

    @classmethod
    def simulate(cls, catalogue: Catalogue, seeds: int) -> "Panels":
        """As many panels of the paper's size."""
        ballots = [topic_ballots(catalogue, TOPIC_JUDGES, seed) for seed in range(seeds)]
        return cls(ballots, catalogue, simulated=True)


def run_assess_table_1(options: StudyOptions) -> StudyResult:
    """Topics by number of judges who call them sensitive, and their agreement.

    Table 1 by simulated judges, or by the votes of ``options``.

    ``data`` may be a catalogue: the one that was judged, or to be judged by simulated judges.
    """
    refuse_documents(options, "assess-table-1")
    catalogue = _given_catalogue(options)
    if options.votes:
        real, _ = without_checks(read_votes(options.votes).votes)
        votes = real if catalogue is None else topic_votes(real, catalogue)
        panels = Panels([votes], catalogue)
    else:
        seeds = options.seeds or (3 if options.quick else 20)
        panels = Panels.simulate(catalogue or smallest_catalogue(), seeds)
    return run(panels, _published_survey())


def _given_catalogue(options: StudyOptions) -> Catalogue | None:
    return None if options.data in {None, SIMULATED} else Catalogue.load(Path(str(options.data)))


def _published_survey() -> dict[str, float] | None:
    try:
        return read_survey(data_file(SURVEY_FILE))
    except DataAbsentError:
        return None


def run(panels: Panels, survey: Mapping[str, float] | None = None) -> StudyResult:
    """Counts by judges agreeing, kappa, and the survey, each with the paper's figure beside."""
    votes = panels.votes
    rows = _table(votes) + _kappas(votes)
    notes = [RECOMPUTED_NOTE]
    if panels.simulated and panels.catalogue is not None:
        rows += [_domains(panels.catalogue, votes)]
        notes.insert(0, SIMULATED_NOTE)
    if survey is None:
        notes.append(NO_SURVEY)
    else:
        found, points = _survey(panels, survey)
        rows += found
        notes.append(SURVEY_NOTE.format(points=points))
    sizes: Row = {
        "data": "simulated judges" if panels.simulated else "votes",
        "topics": len({vote.item for vote in votes[0]}),
        "judges": max(row["judges"] for row in rows if isinstance(row["judges"], int)),
        "seeds": len(votes),
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
    row: Row = {"row": f"{agreeing} of {judges} judges", "agreeing": agreeing, "judges": judges}
    row |= mean_columns("ours", found)
    row["ours_percent"] = 100.0 * number(row, "ours") / items
    if judges == TOPIC_JUDGES:
        for name, topics in PAPER_TOPICS.items():
            count = topics[TOPIC_JUDGES - agreeing]
            row[f"paper_{name}"] = count
            row[f"paper_{name}_percent"] = 100.0 * count / sum(topics)
    return row


def _kappas(panels: Sequence[Sequence[Vote]]) -> list[Row]:
    row: Row = {"row": "Fleiss' kappa", "judges": None}
    row |= mean_columns("ours", [fleiss_kappa(vote_counts(panel)[1]) for panel in panels])
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
    shares = [
        float(np.mean([each.domain == catalogue.by_name[each.topic].domain for each in judged]))
        for judged in (judged_topics(catalogue, panel) for panel in panels)
    ]
    row: Row = {"row": "domain by plurality is the catalogue's (share)", "judges": None}
    return row | mean_columns("ours", shares)


def _survey(panels: Panels, survey: Mapping[str, float]) -> tuple[list[Row], int]:
    items, counts = vote_counts([vote for panel in panels.votes for vote in panel])
    shares = dict(zip(items, (counts[:, 0] / counts.sum(axis=1)).tolist(), strict=True))
    judged = survey_check(shares, survey)
    rows: list[Row] = [
        {"row": f"survey: {point.kind}", "judges": None, "ours": point.ours, "people": point.people}
        for point in judged.points
    ]
    checks = {"judges' shares": judged}
    if panels.catalogue is not None:
        flags = {topic.name: float(topic.sensitive) for topic in panels.catalogue}
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


SURVEY_FILE = "sensitivity-survey.parquet"


SURVEY_TOPICS: dict[str, tuple[str, ...]] = {
    "Health": ("diabetes", "cancer", "back pain", "allergies", "hiv", "pregnancy"),
    "Credit Score": ("financial debts",),
    "Substance Use": ("drug addiction",),
    "Anxiety": ("anxiety",),
    "Emotions": ("clinical depression",),
    "Relationship History": ("dating", "divorce"),
    "Religious Views": ("christianity", "islam"),
    "Political Views": ("elections", "protest and activism", "climate policy"),
    "Sleep Patterns": ("sleep problems",),
    "Concentration": ("attention deficit",),
    "Media Preferences": ("film and television", "music", "video games"),
}


_PERMUTATIONS = 9_999


_LEAST_POINTS = 4


_COLUMNS = ("Description", "mean")


@dataclass(frozen=True)
class SurveyPoint:
    """One kind of information: what people say (1 to 4), and what its topics have here (0 to 1)."""

    kind: str
    topics: tuple[str, ...]
    people: float
    ours: float


@dataclass(frozen=True)
class SurveyCheck:
    """Spearman's rank correlation over the points, and how often chance does as well."""

    points: tuple[SurveyPoint, ...]
    correlation: float | None
    """None when either side is constant, or there are fewer than four points."""
    p_value: float | None


def read_survey(path: Path) -> dict[str, float]:
    """The mean answer for each kind of information."""
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"cannot read the survey {path}: {cause_of(error)}.") from None
    if not set(_COLUMNS) <= set(table.column_names):
        raise InputError(f"the survey {path} needs the columns {' and '.join(_COLUMNS)}.")
    pairs = zip(table["Description"].to_pylist(), table["mean"].to_pylist(), strict=True)
    return {str(kind): float(mean) for kind, mean in pairs}


def survey_check(
    sensitivity: Mapping[str, float],
    survey: Mapping[str, float],
    *,
    kinds: Mapping[str, tuple[str, ...]] = SURVEY_TOPICS,
    seed: int = 0,
) -> SurveyCheck:
    """Compare the sensitivity of topics, from 0 to 1, with what people say.

    A kind of information that is about several topics takes their mean; one none of whose topics
    is known is left out. The p-value is one-sided (as high a correlation), by permutation.
    """
    points = tuple(
        SurveyPoint(kind, known, survey[kind], float(np.mean([sensitivity[t] for t in known])))
        for kind, topics in kinds.items()
        if kind in survey and (known := tuple(topic for topic in topics if topic in sensitivity))
    )
    people = np.array([point.people for point in points])
    ours = np.array([point.ours for point in points])
    if len(points) < _LEAST_POINTS or np.ptp(people) == 0 or np.ptp(ours) == 0:
        return SurveyCheck(points, None, None)
    correlation, p_value = _rank_correlation(people, ours, np.random.default_rng(seed))
    return SurveyCheck(points, correlation, p_value)


def _rank_correlation(
    first: NDArray[np.float64], second: NDArray[np.float64], rng: np.random.Generator
) -> tuple[float, float]:
    left, right = (_standard(_ranks(values)) for values in (first, second))
    observed = float(left @ right)
    shuffled = rng.permuted(np.tile(left, (_PERMUTATIONS, 1)), axis=1) @ right
    # Sums in another order differ in the last bits; a tie with the observed value counts.
    as_high = int((shuffled >= observed - 1e-9).sum())
    return observed, (as_high + 1) / (_PERMUTATIONS + 1)


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 1; ties share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place])


def _standard(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    centred = ranks - ranks.mean()
    return np.asarray(centred / np.linalg.norm(centred))
