"""One community once around: assess, release at every setting, assess what was released."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sottovoce.assess.evaluation import JudgedTopic
from sottovoce.release.compression.decompress import column_spread
from sottovoce.release.counts import Floats
from sottovoce.study.loop_parts.adversary import Adversary, Sight, TopicScores, View
from sottovoce.study.loop_parts.documents import Documents
from sottovoce.study.loop_parts.exposure import (
    chance,
    place_of_afflicted,
    r_precision,
    surviving,
)
from sottovoce.study.loop_parts.settings import PrivacySetting
from sottovoce.study.loop_parts.usefulness import Task

Numbers = dict[str, float]


@dataclass(frozen=True)
class Outcome:
    """What one release exposes to each adversary, and what it is good for."""

    exposure: Mapping[View, Numbers]
    useful: Numbers


@dataclass(frozen=True, eq=False)
class Circle:
    """A community, the adversary who looks at it, and what its counts are used for."""

    posts: pa.Table
    documents: Documents
    adversary: Adversary
    task: Task
    frequencies: Floats | None
    """Public frequencies of the words; None: all alike."""
    judged: tuple[JudgedTopic, ...] = ()
    """Who is afflicted, where that is known."""
    measure: str = "lda-dt"
    """The measure of the unprotected ranking."""
    seed: int = 0

    def unprotected(self) -> TopicScores:
        """The ranking by the posts themselves."""
        return self.adversary.on_posts(self.posts, self.documents.users)[self.measure]

    def levels(self, before: TopicScores) -> Numbers:
        """What there is to compare with: the posts themselves, public facts, chance."""
        if not self.judged:
            return dict(self.task.levels)
        found = {
            "r_precision_posts": r_precision(self.judged, self.documents.users, before),
            "r_precision_rows": r_precision(self.judged, self.documents.users, self._row_counts()),
            "r_precision_chance": chance(self.judged),
            "place_posts": place_of_afflicted(self.judged, self.documents.users, before),
        }
        return {**found, **self.task.levels}

    def released(self, setting: PrivacySetting, before: TopicScores) -> Outcome:
        """Release, assess what was released as every adversary does, and use it."""
        drawn = setting.drawn(self.documents, self.frequencies, self.seed)
        spread = column_spread(drawn.maps[0], drawn.frequencies)
        views = self.adversary.on_release(
            self.documents, Sight(drawn.counts, spread, setting.noise_rate)
        )
        exposure = {view: self._exposure(before, scores) for view, scores in views.items()}
        useful = self.task.usefulness(drawn.counts, drawn.maps[0], drawn.frequencies)
        return Outcome(exposure, useful)

    def _exposure(self, before: TopicScores, after: TopicScores) -> Numbers:
        found = dict(surviving(before, after))
        if self.judged:
            users = self.documents.users
            found["r_precision"] = r_precision(self.judged, users, after)
            found["place"] = place_of_afflicted(self.judged, users, after)
        return found

    def _row_counts(self) -> TopicScores:
        rows = self.documents.rows_by_user().astype(np.float64)
        return dict.fromkeys(self.adversary.topics, rows)
