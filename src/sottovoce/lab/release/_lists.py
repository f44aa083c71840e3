"""The settings that the meter and the planner are judged on, written before they were run."""

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


TOPIC_SETTINGS: tuple[TopicSetting, ...] = (
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
CLASS_SETTINGS: tuple[ClassSetting, ...] = (
    *_classes("background", 4_000, 1_000, ("2", "0.5")),
    *_classes("background", 12_000, 500, ("0.5", "0.2")),
    *_classes("complaints", 2_000, 600, ("1", "0.2")),
    *_classes("complaints", None, 1_500, ("3", "0.3")),
    *_classes("news", 1_200, 1_500, ("1", "0.3")),
    *_classes("news", None, 500, ("0.7", "0.15")),
)
