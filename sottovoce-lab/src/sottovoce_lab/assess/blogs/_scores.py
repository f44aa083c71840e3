"""Every measure's and baseline's scores of the ranked users, and the columns of their table.

Scores are by all of a user's posts or by some; columns are from draws of people.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.arrays import Floats, Integers
from sottovoce.assess.evaluation.runs import POSTS, RANDOM, WORDS
from sottovoce.assess.evaluation.significance import paired_difference, percentile_interval
from sottovoce.assess.measures.catalogue import MEASURES, PAPER_METHODS, plan_scoring
from sottovoce.assess.measures.interest import time_aware_risk
from sottovoce.assess.measures.measure import Measure
from sottovoce.assess.ranking import BANDS
from sottovoce.assess.scores import Scoring
from sottovoce.assess.setting import Setting
from sottovoce.assess.state.buckets import BestBuckets
from sottovoce.assess.state.state import PostLog, PostValues, State
from sottovoce.errors import InputError
from sottovoce.report.result import Row
from sottovoce_lab.assess.blogs._judges import one_sided_p
from sottovoce_lab.assess.blogs._people import BlogKnowledge, Selection, Timelines
from sottovoce_lab.columns import interval_columns, mean_columns

NAMED = "voice-t"
"""The one method that was named before the test half was looked at."""
WEEKS = "weeks"
KEYWORDS, KEYWORD_RATE = "keywords", "keyword-rate"
KEYWORD_KINDS, KEYWORD_KINDS_T = "keyword-kinds", "keyword-kinds-t"
KEYWORDS_T = "keywords-t"
BASELINES = (RANDOM, POSTS, WORDS, WEEKS, KEYWORDS, KEYWORD_RATE, KEYWORDS_T)
VOICE = tuple(
    name for name, measure in MEASURES.items() if (measure.space or "").startswith("voice")
)
METHODS = (*PAPER_METHODS, *VOICE, KEYWORD_KINDS, KEYWORD_KINDS_T)
SETTING = Setting()


@dataclass(frozen=True, eq=False)
class ScoredPosts:
    """What one plan of scoring says of each post, in the order of the timelines."""

    scoring: Scoring
    measures: Mapping[str, Measure]
    values: PostValues

    def scores(
        self, topic: str, writer: Integers, posts: Integers, users: int
    ) -> dict[str, Floats]:
        """By measure, the scores of ``users`` users who wrote only ``posts``."""
        header = replace(self.scoring.header, posts=False)
        if topic not in header.catalogue.names:
            return {name: np.zeros(users) for name in self.measures}
        state = State(header)
        state.rows(pa.array([f"{number:07}" for number in range(users)]))
        own = self.values.take(posts)._replace(users=writer)
        times = pa.array(own.times).cast(pa.timestamp("us", "UTC"))
        state.add_post_values(own, header.bucket.numbers(times))
        return {
            name: measure.score(state, topic, SETTING) for name, measure in self.measures.items()
        }


@dataclass(frozen=True, eq=False)
class ScoredTimelines:
    """All that is needed to rank users by any of their posts."""

    timelines: Timelines
    plans: tuple[ScoredPosts, ...]
    keyword_counts: Mapping[str, NDArray[np.int64]]
    """By topic: posts x the topic's words."""

    @cached_property
    def week(self) -> NDArray[np.int32]:
        """The calendar week of each post."""
        return self.plans[0].scoring.header.bucket.numbers(self.timelines.posts["time"])

    def scores(self, selection: Selection, sample: Integers | None = None) -> dict[str, Floats]:
        """By measure and baseline, the scores of the selection's users.

        ``sample`` are places in the selection's posts; None takes all.
        """
        chosen = slice(None) if sample is None else sample
        writer, posts = selection.writer[chosen], selection.posts[chosen]
        users = selection.users.size
        found: dict[str, Floats] = {}
        for plan in self.plans:
            found |= plan.scores(selection.topic, writer, posts, users)
        ordered = {name: found[name] for name in METHODS if name in found}
        return ordered | self._baselines(selection.topic, writer, posts, users)

    def active_weeks(self, writer: Integers, posts: Integers, users: int) -> Floats:
        """In how many weeks each user posted."""
        pairs = np.unique(np.stack([writer, self.week[posts].astype(np.int64)]), axis=1)
        return np.bincount(pairs[0], minlength=users).astype(np.float64)

    def _baselines(
        self, topic: str, writer: Integers, posts: Integers, users: int
    ) -> dict[str, Floats]:
        counts = self.keyword_counts[topic][posts]
        per_post = counts.sum(axis=1).astype(np.float64)
        lengths = self.timelines.words[posts]
        words = np.bincount(writer, lengths, minlength=users).astype(np.float64)
        keywords = np.bincount(writer, per_post, minlength=users).astype(np.float64)
        return {
            RANDOM: np.zeros(users),
            POSTS: np.bincount(writer, minlength=users).astype(np.float64),
            WORDS: words,
            WEEKS: self.active_weeks(writer, posts, users),
            KEYWORDS: keywords,
            KEYWORD_RATE: keywords / np.maximum(words, 1.0),
            KEYWORDS_T: self._best_weeks(writer, posts, users, per_post),
        }

    def _best_weeks(
        self, writer: Integers, posts: Integers, users: int, per_post: Floats
    ) -> Floats:
        """The mean of the best weeks' keyword counts, as the -T measures have it."""
        best = BestBuckets(1, SETTING.m)
        best.admit(users)
        best.add_posts(writer, self.week[posts], per_post[:, np.newaxis])
        return time_aware_risk(best.best(0, SETTING.m))


def score_timelines(timelines: Timelines, knowledge: BlogKnowledge) -> ScoredTimelines:
    """Score every post once in every space."""
    bare = [name for name in METHODS if MEASURES[name].space in {None, "bow"}]
    plans = [_score_posts(timelines, *plan_scoring(knowledge.catalogue, (), bare, posts=True))]
    for name, space in knowledge.spaces.items():
        measures = [each for each in METHODS if (MEASURES[each].space or "").split("-")[0] == name]
        catalogue = knowledge.catalogues[name]
        plan = plan_scoring(catalogue, (space,), measures, posts=True)
        plans.append(_score_posts(timelines, *plan))
    return ScoredTimelines(timelines, tuple(plans), _keyword_counts(timelines, plans[0].scoring))


def _score_posts(
    timelines: Timelines, measures: Mapping[str, Measure], scoring: Scoring
) -> ScoredPosts:
    state = scoring.state_of(timelines.posts.to_batches())
    log: PostLog | None = state.log
    if log is None:
        raise InputError("the values of each post must be kept.")
    values = log.all()
    # Users come in the order of their ids and posts by time, so the log is in the same order.
    if not np.array_equal(values.users, timelines.user):
        raise InputError("the posts must be in the order of users and times.")
    return ScoredPosts(scoring, measures, values)


def _keyword_counts(timelines: Timelines, scoring: Scoring) -> dict[str, NDArray[np.int64]]:
    counts = scoring.counts(scoring.words, timelines.posts["text"].combine_chunks()).tocsc()
    salient = scoring.header.salient or {}
    return {
        topic.name: counts[:, list(salient[topic.name])].toarray().astype(np.int64)
        for topic in scoring.header.catalogue.sensitive
    }


COLUMNS = {"r_precision": "r_precision", "map": "average_precision", "auc": "auc"}


def metric_columns(topics: Sequence[Mapping[str, Floats]]) -> Row:
    """Metrics over topics, and of each band its precision and lift."""
    row: Row = {}
    for column, metric in COLUMNS.items():
        values = np.mean([topic[metric] for topic in topics], axis=0)
        row |= _middle(column, values)
    for percent in BANDS:
        flagged, found = (
            np.sum([topic[f"{what}_{percent}"] for topic in topics], axis=0)
            for what in ("flagged", "found")
        )
        row |= _middle(f"precision_top_{percent}", found / np.maximum(flagged, 1.0))
        row[f"flagged_top_{percent}"] = float(flagged[0])
        row |= lift_columns(topics, percent)
    return row


def lift_columns(topics: Sequence[Mapping[str, Floats]], percent: int) -> Row:
    """How many times as often as others the afflicted are in a band, and its logarithm's error.

    Mantel and Haenszel's ratio of risks: topics are strata, so that common ones count no more. A
    half is added to both sums of a draw, which may have found nobody.
    """
    wanted, drawn = (np.array([topic[name] for topic in topics]) for name in ("afflicted", "drawn"))
    flagged, found = (
        np.array([topic[f"{what}_{percent}"] for topic in topics]) for what in ("flagged", "found")
    )
    hits = (found * (drawn - wanted) / drawn).sum(axis=0)
    alarms = ((flagged - found) * wanted / drawn).sum(axis=0)
    name = f"lift_top_{percent}"
    if not hits[0] or not alarms[0]:
        return {name: None, f"{name}_log_error": None}
    share = float((wanted[:, 0] / drawn[:, 0]).mean())
    drawn_lifts = np.log((hits[1:] + 0.5) / (alarms[1:] + 0.5 * share))
    return {name: float(hits[0] / alarms[0]), f"{name}_log_error": float(drawn_lifts.std())}


def gain_columns(
    drawn: Mapping[str, Sequence[Mapping[str, Floats]]], name: str, places: Sequence[int]
) -> Row:
    """Average precision of the named method less this one's, on the same draws of people."""
    if name == NAMED:
        return mean_columns("gain", []) | {"p": None}
    ours, theirs = (
        np.mean([drawn[each][place]["average_precision"] for place in places], axis=0)
        for each in (NAMED, name)
    )
    return _gain("gain", "p", ours, theirs)


MATCHED = {
    "matched_map": ("weeks", "average_precision"),
    "auc_posts_alike": ("posts", "auc"),
    "auc_weeks_alike": ("weeks", "auc"),
}
"""Columns of metrics among users who are alike in something."""


def matched_columns(
    matched: Mapping[str, Mapping[str, Sequence[Mapping[str, Floats]]]],
    name: str,
    places: Sequence[int],
) -> Row:
    """Metrics among users of like volume, and how much the named method is above."""
    row: Row = {}
    for column, (alike, metric) in MATCHED.items():
        gain, p_name = f"{column}_gain", f"{column}_p"
        blank = mean_columns(gain, []) | {p_name: None}
        if name not in matched[alike]:
            row |= mean_columns(column, []) | blank
            continue
        ours, own = (
            np.mean([matched[alike][each][place][metric] for place in places], axis=0)
            for each in (NAMED, name)
        )
        row |= _middle(column, own)
        row |= blank if name == NAMED else _gain(gain, p_name, ours, own)
    return row


def _middle(name: str, values: Floats) -> Row:
    """The value on all people, and the middle 95% over draws of them."""
    return interval_columns(name, percentile_interval(float(values[0]), values[1:]))


def _gain(name: str, p_name: str, ours: Floats, theirs: Floats) -> Row:
    found = paired_difference(float(ours[0] - theirs[0]), ours[1:], theirs[1:])
    return interval_columns(name, found) | {p_name: found.p_value}


def shuffled_columns(shuffled: Mapping[str, Sequence[Floats]] | None, places: Sequence[int]) -> Row:
    """How often labels shuffled among users of like volume rank as well."""
    if shuffled is None:
        return {"p_by_words": None, "p_by_weeks": None}
    return {
        f"p_by_{volume}": one_sided_p(np.mean([values[place] for place in places], axis=0))
        for volume, values in shuffled.items()
    }
