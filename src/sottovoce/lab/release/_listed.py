"""Settings on which the meter and the planner are judged; each list was written before it was run.

What the meter's constants and those of the rule of thumb were found on is in the guide; no setting
of a list is among it. The planner tries half of the documents; the rule of thumb knows public
figures alone. A setting names how many documents of a corpus are released, with how many of its
most frequent words; drawn documents have a length, and the topics that they are drawn from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np

from sottovoce._steps import repetitions
from sottovoce.lab.release._classified import (
    PILOT,
    TRUE,
    ClassifiedCorpus,
    chosen_accuracy,
    pilot_accuracy,
    text_accuracy,
)
from sottovoce.lab.release._parts import PartStore, Values, by_reader
from sottovoce.lab.release._pinned import counted_corpus
from sottovoce.lab.release._to_find import MEAN_LENGTH
from sottovoce.lab.release.analyse_rows import CHOSEN, reader_row
from sottovoce.lab.release.analyse_topics import (
    METER,
    AnyCorpus,
    chosen_topics,
    drawn_corpus,
    meter_values,
    seen_rows,
    topic_corpus,
    topic_parameters,
)
from sottovoce.privacy._noise_law import NoiseLaw
from sottovoce.release.analysis._moments import released_moments
from sottovoce.report._result import Row, number

LISTED, RULE = "list", "rule of thumb"
FACTOR, APART = 1.5, 0.03
"""How far the meter may be off in topics, and the planner in accuracy."""


@dataclass(frozen=True)
class TopicSetting:
    """Topics that are looked for in a release; of "simulated from X" the documents are drawn."""

    data: str
    documents: int | None
    words: int
    topics: int
    rate: float
    length: float = MEAN_LENGTH
    listed: int = 1

    def corpus(self, cache: Path | None) -> AnyCorpus:
        """Its documents and what is to be found in them."""
        source = self.data.removeprefix("simulated from ")
        sizes = {"words": self.words, "topics": self.topics}
        if source == self.data:
            return topic_corpus(source, cache=cache, documents=self.documents, **sizes)
        return drawn_corpus(self.documents or 1, source, cache=cache, length=self.length, **sizes)


@dataclass(frozen=True)
class ClassSetting:
    """Classes that are learnt from a release and told of true documents."""

    data: str
    documents: int | None
    words: int
    rate: Fraction
    listed: int = 1


def listed_rows(
    topics: Sequence[TopicSetting],
    classes: Sequence[ClassSetting],
    seeds: int,
    store: PartStore,
) -> list[Row]:
    """What was seen in each setting, beside what the meter or the planner said."""
    rows = [row for each in topics for row in _topics_seen(each, seeds, store)]
    return rows + [row for each in classes for row in _accuracy_seen(each, seeds, store)]


def _topics_seen(setting: TopicSetting, seeds: int, store: PartStore) -> list[Row]:
    corpus, rate = setting.corpus(store.folder), setting.rate
    parts = [
        store.values(
            topic_parameters(corpus, rate, seed, setting.topics, LISTED),
            partial(seen_values, corpus, rate, seed, setting.topics),
        )
        for seed in repetitions(seeds)
    ]
    rows = seen_rows(corpus, rate, setting.topics, parts)
    return [_marked(row, setting.listed) for row in rows]


def seen_values(corpus: AnyCorpus, rate: float, seed: int, topics: int) -> Values:
    """How many topics are recognised in one release, and what the meter read of it."""
    released = corpus.released(rate, seed)
    read = meter_values(released_moments(released, NoiseLaw(rate)))
    seen = corpus.recognised(chosen_topics(released, rate, seed, topics=topics))
    return {"topics_seen": {CHOSEN: float(seen)}, METER: read}


def _accuracy_seen(setting: ClassSetting, seeds: int, store: PartStore) -> list[Row]:
    corpus = counted_corpus(setting.data, setting.words).first(setting.documents)
    known = ClassifiedCorpus.of(corpus)
    reference = text_accuracy(known, store)
    parts = [
        store.values(
            known.parameters(setting.rate, seed, LISTED),
            partial(chosen_accuracy, known, setting.rate, seed),
        )
        for seed in repetitions(seeds)
    ]
    pilot = store.values(
        known.parameters(setting.rate, None, PILOT), partial(pilot_accuracy, known, setting.rate)
    )
    at, rule = float(setting.rate), known.planned(float(setting.rate), reference)
    row = reader_row(
        known.setting(at),
        CHOSEN,
        by_reader(parts, TRUE)[CHOSEN],
        reference=reference,
        predicted=pilot[TRUE][PILOT],
        baseline=known.majority,
    )
    rows = [reader_row(known.setting(at), RULE, [rule or 0.0]), row]
    return [_marked(each, setting.listed) for each in rows]


def _marked(row: Row, listed: int) -> Row:
    return row | {"data": f"{row['data']}, {LISTED} {listed}"}


def is_listed(row: Row) -> bool:
    """Whether a row is about a listed setting."""
    return f", {LISTED} " in str(row["data"])


def verdicts(rows: Sequence[Row]) -> tuple[str, ...]:
    """How often the meter and the planner were right, list by list."""
    own = [row for row in rows if is_listed(row)]
    lists = sorted({str(row["data"]).rpartition(", ")[2] for row in own})
    return tuple(
        f"{each.capitalize()}: {_verdict([row for row in own if str(row['data']).endswith(each)])}"
        for each in lists
    )


def _verdict(rows: Sequence[Row]) -> str:
    chosen = [row for row in rows if row["reader"] == CHOSEN]
    topics = [_topics_right(row) for row in chosen if row["score"] == "topics_seen"]
    seen = [row for row in chosen if row["score"] == "accuracy"]
    apart = [abs(number(row, "predicted") - number(row, "mean")) for row in seen]
    told = []
    if topics:
        told.append(
            f"the meter was within a factor of {FACTOR:g} in {sum(topics)} of {len(topics)} "
            "settings"
        )
    if apart:
        near = sum(each <= APART for each in apart)
        told.append(
            f"the planner's accuracy was within {APART:g} in {near} of {len(apart)} settings, and "
            f"{float(np.max(apart)):.3f} off at most"
        )
    if ruled := _ruled(rows, seen):
        near = sum(each <= APART for each in ruled)
        told.append(f"the rule of thumb's in {near} of {len(ruled)}, {max(ruled):.3f} off at most")
    return "; ".join(told) + "."


def _topics_right(row: Row) -> bool:
    said, seen = max(number(row, "predicted"), 1), max(number(row, "mean"), 1)
    return max(said / seen, seen / said) <= FACTOR


def _ruled(rows: Sequence[Row], seen: Sequence[Row]) -> list[float]:
    """How far the rule of thumb was from what was seen in the same setting."""
    said = {_key(row): number(row, "mean") for row in rows if row["reader"] == RULE}
    return [abs(said[_key(row)] - number(row, "mean")) for row in seen if _key(row) in said]


def _key(row: Row) -> tuple[object, ...]:
    return row["data"], row["documents"], row["words"], row["rate"]
