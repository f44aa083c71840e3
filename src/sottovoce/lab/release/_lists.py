"""The settings that the meter and the planner are judged on, written before they were run.

On the first list the meter of then was right in too few settings. Its constants were found again on
what that list showed, and the second list was written before any of its settings was run. Both
showed that public figures alone do not foretell the accuracy of every kind of labels. Since then
the planner tries a pilot; the third list was written before any of its settings was run. Wherever
its texts have classes, the meter's settings are the planner's too.
"""

from dataclasses import replace
from fractions import Fraction

from sottovoce.lab.release._listed import ClassSetting, TopicSetting


def _topics(
    data: str,
    documents: int | None,
    words: int,
    topics: int,
    rates: tuple[float, ...],
    length: float = 72.0,
) -> tuple[TopicSetting, ...]:
    return tuple(TopicSetting(data, documents, words, topics, rate, length) for rate in rates)


def _classes(
    data: str, documents: int | None, words: int, rates: tuple[str, ...]
) -> tuple[ClassSetting, ...]:
    return tuple(ClassSetting(data, documents, words, Fraction(rate)) for rate in rates)


_FIRST_TOPICS: tuple[TopicSetting, ...] = (
    *_topics("background", 4_000, 1_000, 25, (5.0, 2.0, 1.0)),
    *_topics("background", 12_000, 500, 15, (2.0, 1.0, 0.5)),
    *_topics("blogs", 15_000, 500, 20, (5.0, 2.0)),
    *_topics("complaints", 2_000, 600, 15, (2.0, 1.0, 0.5)),
    *_topics("complaints", None, 1_500, 40, (3.0, 1.0)),
    *_topics("news", 1_200, 1_500, 20, (2.0, 1.0)),
    *_topics("news", None, 500, 40, (3.0, 0.7)),
    *_topics("simulated from news", 4_000, 1_000, 25, (1.0, 0.5)),
    *_topics("simulated from background", 2_000, 500, 15, (2.0, 1.0), 40.0),
    *_topics("simulated from made-up topics", 3_000, 400, 30, (2.0, 0.7), 50.0),
    *_topics("simulated from news", 8_000, 300, 10, (1.0, 0.5), 30.0),
)
_FIRST_CLASSES: tuple[ClassSetting, ...] = (
    *_classes("background", 4_000, 1_000, ("2", "0.5")),
    *_classes("background", 12_000, 500, ("0.5", "0.2")),
    *_classes("complaints", 2_000, 600, ("1", "0.2")),
    *_classes("complaints", None, 1_500, ("3", "0.3")),
    *_classes("news", 1_200, 1_500, ("1", "0.3")),
    *_classes("news", None, 500, ("0.7", "0.15")),
)
_SECOND_TOPICS: tuple[TopicSetting, ...] = (
    *_topics("background", 6_000, 800, 30, (3.0, 1.5, 0.7)),
    *_topics("background", 2_500, 300, 12, (2.0, 1.0)),
    *_topics("blogs", 25_000, 800, 15, (5.0, 3.0)),
    *_topics("complaints", 2_800, 800, 20, (3.0, 1.5, 0.7)),
    *_topics("complaints", 1_500, 400, 30, (2.0, 0.8)),
    *_topics("news", 1_800, 700, 30, (4.0, 1.5)),
    *_topics("news", 1_500, 400, 12, (1.5, 0.6)),
    *_topics("simulated from background", 3_000, 800, 20, (1.5, 0.8), 60.0),
    *_topics("simulated from complaints", 6_000, 500, 15, (1.0, 0.6), 50.0),
    *_topics("simulated from news", 2_500, 600, 30, (1.5, 0.8), 90.0),
)
_SECOND_CLASSES: tuple[ClassSetting, ...] = (
    *_classes("background", 2_500, 300, ("1", "0.3")),
    *_classes("complaints", 2_800, 800, ("1.5", "0.25")),
    *_classes("complaints", 1_500, 400, ("0.8",)),
    *_classes("news", 1_800, 700, ("1.5", "0.15")),
    *_classes("news", 1_500, 400, ("0.6", "0.25")),
)
_THIRD_TOPICS: tuple[TopicSetting, ...] = (
    *_topics("background", 5_000, 600, 20, (2.0, 1.0, 0.5)),
    *_topics("background", 8_000, 900, 35, (2.5, 0.8)),
    *_topics("blogs", 15_000, 600, 12, (4.0, 2.5)),
    *_topics("complaints", 2_400, 700, 18, (2.5, 1.2, 0.6)),
    *_topics("complaints", 1_800, 350, 25, (1.5, 0.7)),
    *_topics("news", 2_000, 900, 25, (3.0, 1.2)),
    *_topics("news", 1_300, 350, 15, (2.0, 0.8)),
    *_topics("simulated from background", 4_000, 600, 25, (1.2, 0.7), 50.0),
    *_topics("simulated from complaints", 5_000, 800, 30, (1.5, 0.8), 60.0),
    *_topics("simulated from news", 3_000, 400, 12, (1.0, 0.5), 80.0),
)
_THIRD_CLASSES: tuple[ClassSetting, ...] = (
    *_classes("background", 5_000, 600, ("2", "1", "0.5", "0.2")),
    *_classes("background", 8_000, 900, ("2.5", "0.8", "0.2")),
    *_classes("complaints", 2_400, 700, ("2.5", "1.2", "0.6", "0.2")),
    *_classes("complaints", 1_800, 350, ("1.5", "0.7", "0.3")),
    *_classes("news", 2_000, 900, ("3", "1.2", "0.2")),
    *_classes("news", 1_300, 350, ("2", "0.8", "0.3")),
)
TOPIC_SETTINGS = (
    *_FIRST_TOPICS,
    *(replace(each, listed=2) for each in _SECOND_TOPICS),
    *(replace(each, listed=3) for each in _THIRD_TOPICS),
)
CLASS_SETTINGS = (
    *_FIRST_CLASSES,
    *(replace(each, listed=2) for each in _SECOND_CLASSES),
    *(replace(each, listed=3) for each in _THIRD_CLASSES),
)
