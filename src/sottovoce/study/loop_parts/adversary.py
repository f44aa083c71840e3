"""Whom an adversary finds in a release: he scores word counts as he would score posts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
from scipy import sparse

from sottovoce.assess.api import plan_scoring
from sottovoce.assess.measures.catalogue import Measure
from sottovoce.assess.scoring import Scoring
from sottovoce.assess.setting import Setting
from sottovoce.assess.state import State
from sottovoce.release.counts import Counts, Floats
from sottovoce.study.assess_parts.knowledge import Knowledge
from sottovoce.study.loop_parts.documents import WEEK, Documents
from sottovoce.study.loop_parts.noise_aware import posterior_counts
from sottovoce.topics.space import PostScorer

TALLY = "tally"
"""Neither space nor bucket: how often a user's documents have the topic's words, in all."""
PUBLISHED, NOISE_AWARE = "as published", "noise-aware"

TopicScores = Mapping[str, Floats]
"""By topic, a score for each user."""
View = tuple[str, str]
"""How he reads the counts, and the measure he ranks by."""


@dataclass(frozen=True, eq=False)
class Sight:
    """What a release shows: noisy columns, and the words that share each of them."""

    counts: Counts
    spread: sparse.csr_array
    """Columns x words: the part of a column that the public prior gives each of its words."""
    rate: float | None
    """Of the noise; None: there is none."""


@dataclass(frozen=True, eq=False)
class Adversary:
    """Background knowledge, and the measures he ranks by."""

    knowledge: Knowledge
    measures: tuple[str, ...]
    setting: Setting = field(default_factory=Setting)

    @cached_property
    def topics(self) -> tuple[str, ...]:
        """The sensitive ones."""
        return tuple(topic.name for topic in self.knowledge.catalogue.sensitive)

    def on_posts(self, posts: pa.Table, users: pa.Array) -> Mapping[str, TopicScores]:
        """Scores by measure from the posts themselves, nothing being released."""
        state = self._scoring.state_of(posts.to_batches())
        scores = self._scores(state)
        # Users come in the order in which posts name them, in both.
        if not state.users.names().cast(users.type).equals(users):
            raise AssertionError("users of posts and of documents must come in one order")
        return scores

    def on_release(self, documents: Documents, sight: Sight) -> Mapping[View, TopicScores]:
        """Scores by the view he takes of the counts, and the measure."""
        clipped = _clipped(sight.counts)
        found = self._viewed(documents, PUBLISHED, clipped @ sight.spread)
        found[NOISE_AWARE, TALLY] = self._tallied(documents, sight)
        if sight.rate is not None:
            told = posterior_counts(sight.counts, sight.rate)
            found |= self._viewed(documents, NOISE_AWARE, told @ sight.spread)
        return found

    def _viewed(
        self, documents: Documents, view: str, counts: sparse.csr_array
    ) -> dict[View, TopicScores]:
        state = State(self._scoring.header)
        rows = state.rows(documents.users.take(pa.array(documents.owners)))
        state.count_posts(rows)
        for name, scorer in self._scoring.scorers.items():
            own = sparse.csr_array(counts @ selection(documents.words, scorer))
            state.spaces[name].add_posts(rows, documents.buckets, scorer.strengths(own))
        return {(view, measure): scores for measure, scores in self._scores(state).items()}

    def _tallied(self, documents: Documents, sight: Sight) -> TopicScores:
        """Signed sums: noise has mean 0, so they estimate without bias how often words occur."""
        by_user = documents.summed_by_user(sight.counts).astype(np.float64) @ sight.spread
        column = {word: place for place, word in enumerate(documents.words)}
        return {
            topic.name: np.asarray(
                by_user[:, [column[word] for word in topic.words if word in column]].sum(axis=1)
            )
            for topic in self.knowledge.catalogue.sensitive
        }

    def _scores(self, state: State) -> dict[str, TopicScores]:
        return {
            name: {topic: measure.score(state, topic, self.setting) for topic in self.topics}
            for name, measure in self._planned[0].items()
        }

    @property
    def _scoring(self) -> Scoring:
        return self._planned[1]

    @cached_property
    def _planned(self) -> tuple[dict[str, Measure], Scoring]:
        return plan_scoring(
            self.knowledge.catalogue,
            self.knowledge.spaces,
            self.measures,
            bucket=WEEK,
            kept=max(self.setting.m, 3),
        )


def selection(words: Sequence[str], scorer: PostScorer) -> sparse.csr_array:
    """The matrix that carries counts of ``words`` into the columns of a scorer."""
    column = scorer.vocabulary.column
    known = [(row, column[word]) for row, word in enumerate(words) if word in column]
    rows, columns = np.array(known, np.int64).reshape(-1, 2).T
    shape = (len(words), len(scorer.vocabulary))
    return sparse.csr_array((np.ones(len(known)), (rows, columns)), shape=shape)


def _clipped(counts: Counts) -> sparse.csr_array:
    positive = counts.astype(np.float64)
    np.maximum(positive.data, 0, out=positive.data)
    positive.eliminate_zeros()
    return positive
