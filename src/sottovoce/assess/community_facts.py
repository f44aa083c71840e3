"""What is known of a community as a whole after its posts were read once: no name and no text.

Counts of posts by week, and an even sample of their texts, whoever wrote them; for each topic how
many people are in each band, and how far the first stand out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.assess.ranking import BANDS, RankedTopicUsers
from sottovoce.corpus.clean import clean_texts, of_nobody
from sottovoce.corpus.vocabulary import seems_english
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.shipped.rules import shipped_catalogue

MOST_READ = 4000
"""Posts that are read closely: about a second's work."""


@dataclass(frozen=True)
class TopicFacts:
    """One topic by one measure: counts of people."""

    topic: str
    measure: str
    domain: str
    bands: tuple[int, ...]
    """How many people are in each of the bands, the narrowest first."""
    separation: float | None
    evident: int
    """How many people have written a word that counts for the topic."""


@dataclass
class CommunityWatch:
    """Sees all posts on their way to the state, and remembers counts and a sample of texts."""

    clean: bool = True
    weeks: Counter[date] = field(default_factory=Counter)
    _texts: list[str | None] = field(default_factory=list)
    _step: int = 1
    _seen: int = 0

    def note_batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches."""
        for batch in batches:
            self._note(batch)
            yield batch

    def _note(self, batch: pa.RecordBatch) -> None:
        own = batch.filter(pa.array(~of_nobody(batch["user"]))) if self.clean else batch
        weeks = pc.floor_temporal(own["time"], unit="week").cast(pa.date32())
        for pair in pc.value_counts(weeks).to_pylist():
            self.weeks[pair["values"]] += pair["counts"]
        while len(self._texts) + batch.num_rows // self._step > MOST_READ:
            self._texts, self._step = self._texts[::2], 2 * self._step
        sample = batch.take(
            pa.array(np.arange(-self._seen % self._step, batch.num_rows, self._step))
        )
        self._seen += batch.num_rows
        self._texts += _own_texts(sample) if self.clean else sample["text"].to_pylist()

    @property
    def texts(self) -> Sequence[str]:
        """An even sample of the posts, without their authors, to be read closely."""
        return [text for text in self._texts if text is not None]

    @property
    def english(self) -> bool:
        """Whether the sample seems to be in English; what is too little to tell does."""
        return seems_english(self.texts)


def all_shipped(catalogue: Catalogue) -> bool:
    """Whether each sensitive topic is a built-in one, and so in English."""
    ours = shipped_catalogue().by_name
    return all(
        topic.name in ours and set(topic.words) <= set(ours[topic.name].words)
        for topic in catalogue.sensitive
    )


def _own_texts(sample: pa.RecordBatch) -> list[str | None]:
    """Cleaned; posts of nobody keep their place as nothing, so that the sample stays even."""
    nobodys = pa.array(of_nobody(sample["user"]))
    texts: list[str | None] = pc.if_else(nobodys, None, clean_texts(sample["text"])).to_pylist()
    return texts


def topic_facts(ranks: Iterable[RankedTopicUsers], catalogue: Catalogue) -> list[TopicFacts]:
    """For each measure and topic, how many people are in each band and how far they stand out."""
    found = []
    for summary, evident in ((each.summary, each.evident) for each in ranks):
        topic, separation = str(summary["topic"]), cast("float | None", summary["separation"])
        bands = tuple(cast("int", summary[f"top {percent}%"]) for percent in BANDS)
        domain = catalogue.by_name[topic].domain
        found.append(TopicFacts(topic, str(summary["measure"]), domain, bands, separation, evident))
    return found


def first_people(
    ranks: Iterable[RankedTopicUsers], most: int
) -> list[tuple[str, str, Sequence[str]]]:
    """For each measure and topic the first users who score anything: to be shown to nobody else."""
    found = []
    for ranked in ranks:
        batch = ranked.rows
        measure, topic = (str(ranked.summary[name]) for name in ("measure", "topic"))
        scoring = batch.filter(pc.greater(batch["score"], 0.0)).slice(0, most)
        found.append((measure, topic, scoring["user"].to_pylist()))
    return found
