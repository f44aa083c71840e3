"""One community judged: every measure's scores, metrics and hits, and where personas stand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import stats

from sottovoce.assess.api import plan_scoring
from sottovoce.assess.evaluation import (
    Scores,
    averaged,
    bootstrap_metrics,
    constant_scores,
    metrics_by_topic,
    user_hits,
    user_rows,
)
from sottovoce.assess.evaluation.baselines import POSTS, RANDOM
from sottovoce.assess.evaluation.ties import Floats
from sottovoce.assess.measures.catalogue import Measure
from sottovoce.assess.setting import Setting
from sottovoce.assess.state import State
from sottovoce.corpus.reading import open_posts
from sottovoce.study.assess_parts.communities import StudyCommunity
from sottovoce.study.assess_parts.knowledge import Knowledge

AFFLICTED = "afflicted"


@dataclass(frozen=True, eq=False)
class ScoredCommunity:
    """A community's state under some background knowledge: ranked in no time, as often as asked."""

    community: StudyCommunity
    state: State
    measures: Mapping[str, Measure]
    rows: tuple[NDArray[np.int64], ...]
    """For each judged topic, the state's row of each of its users."""

    def scores(self, measure: str, setting: Setting) -> Scores:
        """One measure's scores of the judged users."""
        judged = self.community.judged
        return tuple(
            self.measures[measure].score(self.state, topic.name, setting)[rows]
            for topic, rows in zip(judged, self.rows, strict=True)
        )

    def baselines(self) -> dict[str, Scores]:
        """Chance, exactly, and the number of posts."""
        posts = self.state.posts.astype(np.float64)
        return {
            RANDOM: constant_scores(self.community.judged),
            POSTS: tuple(posts[rows] for rows in self.rows),
        }


@dataclass(frozen=True, eq=False)
class Outcome:
    """What was found in one community."""

    community: StudyCommunity
    runs: Mapping[str, Scores]
    metrics: Mapping[str, Mapping[str, float]]
    """By measure, the averages over topics."""
    by_topic: Mapping[str, Mapping[str, float]]
    """By measure and topic, the R-precision."""
    hits: Mapping[str, Floats]
    standing: Mapping[str, Mapping[str, float]]
    """By measure and persona, the mean share of the community that stands below."""

    @cached_property
    def draws(self) -> Mapping[str, Mapping[str, Floats]]:
        """Every measure's metrics on bootstrap draws of users, the same for all measures."""
        return bootstrap_metrics(self.community.judged, self.runs)


def score_community(
    community: StudyCommunity, knowledge: Knowledge, measures: Sequence[str]
) -> ScoredCommunity:
    """Fold the posts into state, once for all measures and settings."""
    chosen, scoring = plan_scoring(knowledge.catalogue, knowledge.spaces, measures)
    state = scoring.state_of(open_posts(community.posts))
    names = state.users.names().cast(pa.string())
    rows = tuple(user_rows(topic, names) for topic in community.judged)
    return ScoredCommunity(community, state, chosen, rows)


def outcome(scored: ScoredCommunity, setting: Setting) -> Outcome:
    """Judge every measure, and the baselines, in one setting."""
    runs = {name: scored.scores(name, setting) for name in scored.measures}
    return judged_outcome(scored.community, {**runs, **scored.baselines()})


def judged_outcome(community: StudyCommunity, runs: Mapping[str, Scores]) -> Outcome:
    """Judge runs that are at hand."""
    topics = {name: metrics_by_topic(community.judged, scores) for name, scores in runs.items()}
    return Outcome(
        community,
        runs,
        {
            name: {metric: float(value) for metric, value in averaged(own).items()}
            for name, own in topics.items()
        },
        {
            name: {
                topic.name: float(metrics.r_precision)
                for topic, metrics in zip(community.judged, own, strict=True)
            }
            for name, own in topics.items()
        },
        {name: user_hits(community.judged, scores) for name, scores in runs.items()},
        {name: standing(community, scores) for name, scores in runs.items()},
    )


def standing(community: StudyCommunity, scores: Scores) -> dict[str, float]:
    """Where each persona stands on average: 1 is most exposed, a tie counts half."""
    below = np.concatenate([share_below(own) for own in scores])
    personas = np.concatenate(community.personas)
    return {
        str(persona): float(below[personas == persona].mean()) for persona in np.unique(personas)
    }


def share_above(scores: Floats, personas: NDArray[np.str_], persona: str) -> float | None:
    """Of all pairs of an afflicted user and one of ``persona``, in how many the former is higher.

    A tie counts half; None where there is no such pair.
    """
    theirs = np.sort(scores[personas == persona])
    ours = scores[personas == AFFLICTED]
    if not len(theirs) or not len(ours):
        return None
    sides = [np.searchsorted(theirs, ours, side=side) for side in ("left", "right")]
    return float(np.mean(sides) / len(theirs))


def share_below(scores: Floats) -> Floats:
    """For each user the share of the others who score lower, equals counted half."""
    ranks: Floats = stats.rankdata(scores)
    return (ranks - 1.0) / max(len(scores) - 1, 1)
