"""Sheets for the judgement study of topics, and an outside check of what it finds.

What judges are asked (R-Susceptibility, section 4.1) is in words of our own. The check is a survey
that asked about 1,450 people how sensitive they find each of 33 kinds of information, from 1 (not
at all) to 4 (very). Few of these kinds are topics that people post about, so the comparison rests
on few points, which it says.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sottovoce.errors import InputError, ParameterError
from sottovoce.files import cause_of
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.salient import SALIENT_WORDS

CATEGORIES = ("psychology", "medicine", "finance", "family", "law", "society", "other")
"""R-Susceptibility, section 4.1: six domains that may hold sensitive topics, and *other*."""

TOPIC_JUDGES = 7
PROFILE_JUDGES = 5

TOPIC_QUESTION = (
    "Somebody uses several of these words in a post on social media. Is such a post "
    "privacy-sensitive? Answer yes if people who write so may be in a situation they would want "
    "to keep to themselves (an addiction, say), or if writing so may bring them into one (extreme "
    "political views, say); else no."
)
DOMAIN_QUESTION = f"Which domain do the words belong to? One of: {', '.join(CATEGORIES)}."
PROFILE_QUESTION = (
    "Read the posts in order. Do they make you suspect that the person who wrote them, or somebody "
    "in that person's family, is concerned by: {topic}? Answer yes or no. Writing about it out of "
    "interest or as a profession is a no."
)

CHECKS = (("yes", "law"), ("no", "society"), ("yes", "finance"), ("no", "medicine"))
"""Answers that attention-check rows ask for in so many words."""
CHECK_TEXT = "This row checks that rows are read: please answer {answer}, and choose {domain}."


SHEET_COLUMNS = (
    "judge",
    "row",
    "item",
    "words",
    "question",
    "sensitive",
    "domain_question",
    "domain",
)
PLATFORM_COLUMNS = ("item", "words", "question", "domain_question")
MOST_JUDGES = 1000
_CODE_DIGITS = 12
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


def topic_item(topic: Topic) -> str:
    """The code of a topic on a sheet: it says nothing, and changes when the shown words do."""
    return _code("topic", topic.name, *_choose_words(topic))


def check_items() -> dict[str, tuple[str, str]]:
    """The codes of attention checks, which look like any other, with the answers asked for."""
    return {_code("check", str(number), *answers): answers for number, answers in enumerate(CHECKS)}


def topic_sheet(
    catalogue: Catalogue, *, judges: int = TOPIC_JUDGES, seed: int = 0, checks: int = 0
) -> list[dict[str, object]]:
    """One row per judge and topic, in an order of each judge's own.

    A judge sees the topic's words, not its name: the name would tell what to think of them. With
    0 judges there is one row per topic, as a crowdsourcing platform takes them.
    """
    if not 0 <= judges <= MOST_JUDGES:
        raise ParameterError(f"judges must be 0 to {MOST_JUDGES}, got {judges}.")
    if not 0 <= checks <= len(CHECKS):
        raise ParameterError(f"checks must be 0 to {len(CHECKS)}, got {checks}.")
    items = [(topic_item(topic), ", ".join(_choose_words(topic))) for topic in catalogue]
    items += [
        (code, CHECK_TEXT.format(answer=answer, domain=domain))
        for code, (answer, domain) in list(check_items().items())[:checks]
    ]
    rows: list[dict[str, object]] = []
    for judge in range(1, max(judges, 1) + 1):
        rows += _judge_rows(items, f"judge-{judge}" if judges else "", (seed, judge))
    return rows


def _judge_rows(
    items: list[tuple[str, str]], judge: str, seed: Sequence[int]
) -> list[dict[str, object]]:
    order = np.random.default_rng(seed).permutation(len(items))
    return [
        {
            "judge": judge,
            "row": row,
            "item": items[place][0],
            "words": items[place][1],
            "question": TOPIC_QUESTION,
            "sensitive": "",
            "domain_question": DOMAIN_QUESTION,
            "domain": "",
        }
        for row, place in enumerate(order.tolist(), start=1)
    ]


def _choose_words(topic: Topic) -> tuple[str, ...]:
    return topic.words[:SALIENT_WORDS]


def _code(*parts: str) -> str:
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return f"t-{digest[:_CODE_DIGITS]}"


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
