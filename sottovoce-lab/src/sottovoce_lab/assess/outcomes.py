"""One community judged, and several as the rows of a table.

A community's outcome is every measure's scores, metrics and hits, and where personas stand. Columns
of rows are means over communities with 95% intervals, gains over a baseline, and tests.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import stats

from sottovoce.arrays import Floats
from sottovoce.assess.evaluation.metrics import (
    METRICS,
    Scores,
    average_topics,
    constant_scores,
    metrics_by_topic,
    user_rows,
)
from sottovoce.assess.evaluation.runs import POSTS, RANDOM
from sottovoce.assess.evaluation.significance import (
    bootstrap_metrics,
    paired_difference,
    paired_test,
    percentile_interval,
    user_hits,
)
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.assess.measures.measure import Measure
from sottovoce.assess.setting import Setting
from sottovoce.assess.state.state import State
from sottovoce.corpus.read.corpus import open_posts
from sottovoce.loop.adversary import Knowledge
from sottovoce.loop.subject import StudyCommunity
from sottovoce.report.result import Row
from sottovoce_lab.columns import correct_rows, interval_columns, mean_columns

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
class CommunityOutcome:
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


def outcome(scored: ScoredCommunity, setting: Setting) -> CommunityOutcome:
    """Judge every measure, and the baselines, in one setting."""
    runs = {name: scored.scores(name, setting) for name in scored.measures}
    return judged_outcome(scored.community, {**runs, **scored.baselines()})


def judged_outcome(community: StudyCommunity, runs: Mapping[str, Scores]) -> CommunityOutcome:
    """Judge runs that are at hand."""
    topics = {name: metrics_by_topic(community.judged, scores) for name, scores in runs.items()}
    return CommunityOutcome(
        community,
        runs,
        {
            name: {metric: float(value) for metric, value in average_topics(own).items()}
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


PERSONAS = ("afflicted", "supporter", "curious", "professional", "bystander")


def metric_columns(outcomes: Sequence[CommunityOutcome], measure: str) -> Row:
    """All metrics of one measure: over communities, or by bootstrap over users if there is one."""
    if len(outcomes) == 1:
        return _bootstrap_row(outcomes[0], measure)
    row: Row = {}
    for metric in METRICS:
        row |= mean_columns(metric, [each.metrics[measure][metric] for each in outcomes])
    return row


def gain_columns(outcomes: Sequence[CommunityOutcome], measure: str, baseline: str | None) -> Row:
    """How much a measure gains over another in MAP and NDCG, community by community."""
    row: Row = {"against": baseline}
    for metric in ("map", "ndcg"):
        name = f"{metric}_gain"
        if len(outcomes) == 1 and baseline is not None:
            row |= _bootstrap_gain(outcomes[0], measure, baseline, metric)
            continue
        gains = [] if baseline is None else differences(outcomes, measure, baseline, metric)
        row |= mean_columns(name, gains)
    return row


def differences(
    outcomes: Sequence[CommunityOutcome], measure: str, baseline: str, metric: str
) -> list[float]:
    """A metric of one measure less that of another, for each community."""
    return [each.metrics[measure][metric] - each.metrics[baseline][metric] for each in outcomes]


def persona_columns(outcomes: Sequence[CommunityOutcome], measure: str) -> Row:
    """Where each persona stands; blank for personas that nobody has."""
    row: Row = {}
    for persona in PERSONAS:
        row |= mean_columns(persona, [each.standing[measure].get(persona) for each in outcomes])
    return row


def pair_columns(outcomes: Sequence[CommunityOutcome], measure: str, topics: Sequence[int]) -> Row:
    """Of pairs of an afflicted and another user, in how many the afflicted stands higher."""
    row: Row = {}
    for persona in PERSONAS[1:]:
        shares = [_mean_share(each, measure, persona, topics) for each in outcomes]
        row |= mean_columns(f"above_{persona}", shares)
    return row


def _mean_share(
    outcome: CommunityOutcome, measure: str, persona: str, topics: Sequence[int]
) -> float | None:
    shares = [
        share_above(outcome.runs[measure][place], outcome.community.personas[place], persona)
        for place in topics
    ]
    known = [share for share in shares if share is not None]
    return float(np.mean(known)) if known else None


def significance_columns(
    outcomes: Sequence[CommunityOutcome], measure: str, baseline: str | None
) -> Row:
    """The paper's paired t-test on per-user hits, all communities together, and permutation."""
    if baseline is None:
        return {"hits_gain": None, "p_t": None, "p_permutation": None}
    ours, theirs = (
        np.concatenate([each.hits[name] for each in outcomes]) for name in (measure, baseline)
    )
    found = paired_test(ours, theirs)
    return {"hits_gain": found.difference, "p_t": found.p_t, "p_permutation": found.p_permutation}


def _bootstrap_row(outcome: CommunityOutcome, measure: str) -> Row:
    drawn = outcome.draws[measure]
    row: Row = {}
    for metric, value in outcome.metrics[measure].items():
        row |= interval_columns(metric, percentile_interval(value, drawn[metric]))
    return row


def _bootstrap_gain(outcome: CommunityOutcome, measure: str, baseline: str, metric: str) -> Row:
    (value,) = differences([outcome], measure, baseline, metric)
    ours, theirs = outcome.draws[measure][metric], outcome.draws[baseline][metric]
    return interval_columns(f"{metric}_gain", paired_difference(value, ours, theirs))


SPACES = ("bow", "w2v", "lda")
VARIANTS = ("", "-d", "-t", "-dt")


def strength_of(measure: str) -> str | None:
    """The strength measure that a -D, -T or -DT measure extends."""
    space, _, variant = measure.partition("-")
    return space if space in SPACES and variant else None


def level_rows(
    outcomes: Sequence[CommunityOutcome],
    *,
    against: Callable[[str], str | None],
    paper: Callable[[str], Row],
    shared: Row,
) -> list[Row]:
    """One row for each measure of one level, with Holm's correction over those compared."""
    level = outcomes[0].community.level
    rows: list[Row] = []
    for measure in outcomes[0].runs:
        baseline = against(measure)
        rows.append(
            {"community": level, "measure": measure}
            | metric_columns(outcomes, measure)
            | gain_columns(outcomes, measure, baseline)
            | significance_columns(outcomes, measure, baseline)
            | persona_columns(outcomes, measure)
            | pair_columns(outcomes, measure, range(len(outcomes[0].community.judged)))
            | paper(measure)
            | shared
        )
    tested = [row for row in rows if row["p_permutation"] is not None]
    return correct_rows(rows, tested, "p_permutation", "p_holm")
