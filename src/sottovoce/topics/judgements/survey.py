"""What people say is sensitive, as an outside check of what judges or a catalogue say.

The survey asked about 1,450 people how sensitive they find each of 33 kinds of information, from 1
(not at all) to 4 (very). Few of these kinds are topics that people post about, so the comparison
rests on few points, which it says.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sottovoce.errors import InputError
from sottovoce.files import cause_of

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
"""Our reading of the topics of each kind, fixed before any correlation was computed."""

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
