"""The rows of `study release-analyse`: one reader of one kind of release, scored over seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.errors import ParameterError
from sottovoce.release.topics.evaluation import mean_interval
from sottovoce.report.result import Row

STUDY = "release-analyse"
CHOSEN = "chosen"
DIFFERENCE = "difference"
SCORES = ("jaccard", "accuracy", "error", "coverage", "topics_seen")
NAMES = (
    "study", "data", "documents", "words", "topics", "unit", "epsilon", "rate", "S", "parties",
    "collude", "drop", "reader", "score", "mean", "low", "high", "seeds", "values", "reference",
    "predicted", "baseline",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class AnalyseSetting:
    """What was released, and how; the same for every reader that is compared on it.

    Attributes:
        data: the name of a pinned corpus, or simulated.
        documents: how many were released.
        words: how many columns.
        topics: of the reference; None where no topics are asked for.
        rate: nats per word; None for the text itself.
        unit: what ``rate`` protects.
        score: what every reader's values are.
    """

    data: str
    documents: int
    words: int
    rate: float | None
    score: str
    topics: int | None = None
    unit: str = "word"

    def __post_init__(self) -> None:
        """Refuse a score that nobody knows."""
        if self.score not in SCORES:
            raise ParameterError(f"score must be one of {', '.join(SCORES)}; got {self.score!r}.")


def reader_row(
    setting: AnalyseSetting,
    reader: str,
    values: Sequence[float],
    *,
    reference: float | None = None,
    predicted: float | None = None,
    baseline: float | None = None,
) -> Row:
    """The mean of ``values``, one per seed, with its 95% interval.

    Args:
        setting: what was read.
        reader: its name; `CHOSEN` for the one that was chosen without the reference.
        values: its score with each seed.
        reference: the same score of the true text.
        predicted: the score that was expected before anything was released.
        baseline: the mean of the best baseline.
    """
    interval = mean_interval(values)
    return dict.fromkeys(NAMES) | {
        "study": STUDY,
        "data": setting.data,
        "documents": setting.documents,
        "words": setting.words,
        "topics": setting.topics,
        "unit": setting.unit,
        "epsilon": setting.rate,
        "rate": setting.rate,
        "reader": reader,
        "score": setting.score,
        "mean": interval.mean,
        "low": interval.low,
        "high": interval.high,
        "seeds": len(values),
        "values": [float(value) for value in values],
        "reference": reference,
        "predicted": predicted,
        "baseline": baseline,
    }


def compared_rows(
    setting: AnalyseSetting,
    chosen: Sequence[float],
    baselines: Mapping[str, Sequence[float]],
    *,
    reference: float | None = None,
    predicted: float | None = None,
) -> list[Row]:
    """A row for each baseline, for the chosen reader, and for its difference to the best of them.

    The difference is paired: seed by seed, against the one baseline whose mean is best: the
    highest, or of errors the lowest.
    """
    best = _best(setting.score, {name: float(np.mean(each)) for name, each in baselines.items()})
    height = float(np.mean(baselines[best]))
    paired = [own - other for own, other in zip(chosen, baselines[best], strict=True)]
    known = {"reference": reference, "baseline": height}
    rows = [reader_row(setting, name, values) for name, values in baselines.items()]
    rows.append(reader_row(setting, CHOSEN, chosen, predicted=predicted, **known))
    rows.append(reader_row(setting, DIFFERENCE, paired, **known))
    return rows


def _best(score: str, means: Mapping[str, float]) -> str:
    return (min if score == "error" else max)(means, key=lambda name: means[name])
