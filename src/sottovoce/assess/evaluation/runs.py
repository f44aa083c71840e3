"""All measures of a community judged together, beside what each of them has to beat.

The baselines are chance, ENT, and the volume of what people write.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sottovoce._notebook import html_table
from sottovoce.arrays import Floats, Integers
from sottovoce.assess.evaluation.metrics import (
    JudgedTopic,
    Scores,
    average_topics,
    constant_scores,
    judged_topics,
    metrics_by_topic,
    read_ranks,
    scores_by_measure,
    user_rows,
)
from sottovoce.assess.evaluation.significance import (
    REPLICATES,
    Difference,
    Interval,
    PairedTest,
    StratifiedTest,
    bootstrap_metrics,
    holm,
    paired_difference,
    paired_test,
    percentile_interval,
    stratified_test,
    user_hits,
    volume_strata,
)
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.assess.request import Topics, read_topics
from sottovoce.assess.setting import Setting
from sottovoce.corpus.read.corpus import Corpus, Source, open_posts, read_truth
from sottovoce.errors import InputError
from sottovoce.files import FilePath
from sottovoce.topics.catalogue import Catalogue

RANDOM = "random"
POSTS = "posts"
WORDS = "words"
ENT = "ent"
BASELINES = (RANDOM, POSTS, WORDS, ENT)


@dataclass(frozen=True)
class Volumes:
    """How many posts and words (runs between spaces) each user wrote."""

    posts: Mapping[str, int]
    words: Mapping[str, int]


def count_volumes(posts: Corpus) -> Volumes:
    """Count the posts and words of every user in one pass."""
    parts = [
        pa.table({"user": batch["user"], "words": _words(batch["text"])})
        .group_by("user")
        .aggregate([("words", "count"), ("words", "sum")])
        for batch in posts
    ]
    if not parts:
        return Volumes({}, {})
    total = (
        pa.concat_tables(parts)
        .group_by("user")
        .aggregate([("words_count", "sum"), ("words_sum", "sum")])
    )
    users = total["user"].to_pylist()
    counts = zip(users, total["words_count_sum"].to_pylist(), strict=True)
    return Volumes(dict(counts), dict(zip(users, total["words_sum_sum"].to_pylist(), strict=True)))


def _words(texts: pa.Array) -> pa.Array:
    return pc.count_substring_regex(texts, r"\S+")


def volume_scores(judged: Sequence[JudgedTopic], volumes: Mapping[str, int]) -> Scores:
    """Rank by volume; a judged user without a post is refused."""
    names = pa.array(volumes.keys(), pa.string())
    amounts = np.array(list(volumes.values()), dtype=np.float64)
    return tuple(amounts[user_rows(topic, names)] for topic in judged)


def entropy_scores(judged: Sequence[JudgedTopic], posts: Corpus, catalogue: Catalogue) -> Scores:
    """The ENT baseline (R-Susceptibility, Definition 1) from posts and the topics' words."""
    measures, scoring = plan_scoring(catalogue, (), (ENT,))
    state = scoring.state_of(posts)
    names = state.users.names().cast(pa.string())
    return tuple(
        measures[ENT].score(state, topic.name, Setting())[user_rows(topic, names)]
        for topic in judged
    )


def baseline_scores(judged: Sequence[JudgedTopic], volumes: Volumes | None) -> dict[str, Scores]:
    """The baselines that need no measure: random, and with volumes the posts and words."""
    found: dict[str, Scores] = {RANDOM: constant_scores(judged)}
    if volumes is not None:
        found[POSTS] = volume_scores(judged, volumes.posts)
        found[WORDS] = volume_scores(judged, volumes.words)
    return found


@dataclass(frozen=True)
class Evaluated:
    """One measure: its metrics with 95% intervals, and per topic its R-precision."""

    measure: str
    baseline: bool
    metrics: Mapping[str, Interval]
    r_precision_by_topic: Mapping[str, float]
    volume: StratifiedTest | None
    """Its MAP against labels shuffled among users of like volume."""


@dataclass(frozen=True)
class Comparison:
    """A measure against a baseline."""

    measure: str
    baseline: str
    hits: PairedTest
    p_holm: float
    """The permutation test's p-value, adjusted for the measures compared with this baseline."""
    map: Difference
    ndcg: Difference


@dataclass(frozen=True)
class Evaluation:
    """Measures and baselines, in the order given, baselines last."""

    topics: tuple[str, ...]
    judged: int
    """Pairs of user and topic."""
    sensitive: int
    measures: tuple[Evaluated, ...]
    comparisons: tuple[Comparison, ...]

    def record(self) -> dict[str, Any]:
        """Everything, as JSON has it: an infinite t, of differences all alike, is None."""
        content = asdict(self)
        for compared in content["comparisons"]:
            if math.isinf(compared["hits"]["t"]):
                compared["hits"]["t"] = None
        return content

    def _repr_html_(self) -> str:
        return html_table(
            [
                {"measure": each.measure, **{name: str(own) for name, own in each.metrics.items()}}
                for each in self.measures
            ],
            f"{self.sensitive} sensitive of {self.judged} pairs of user and topic",
        )


def evaluate_ranks(
    ranks: FilePath | pa.Table,
    truth: Source,
    *,
    posts: Source | None = None,
    topics: Topics | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Evaluation:
    """Judge rankings against what is known of people: what ``sottovoce evaluate`` does.

    >>> import sottovoce as sv
    >>> community = sv.simulate(users=60, weeks=2, background_documents=1)
    >>> ranking = sv.assess_posts(community.posts, topics=community.topics, measures="bow-t")
    >>> found = evaluate_ranks(ranking.table, community.truth, replicates=20)
    >>> [each.measure for each in found.measures]
    ['bow-t', 'random']

    Args:
        ranks: ``ranks.parquet``, or the ``table`` of a `Ranking`.
        truth: user, topic, sensitive and grade, in a file or a frame.
        posts: for the baselines of volume and the test by it.
        topics: the catalogue, for the ENT baseline where the ranks lack it.
        replicates: bootstrap draws behind an interval.
        seed: of bootstrap and permutations.
    """
    ranked = ranks if isinstance(ranks, pa.Table) else read_ranks(Path(ranks))
    judged = judged_topics(read_truth(truth))
    runs = scores_by_measure(ranked, judged)
    opened = None if posts is None else open_posts(posts)
    volumes = None if opened is None else count_volumes(opened)
    if opened is not None and topics is not None and ENT not in runs:
        runs = {**runs, ENT: entropy_scores(judged, opened, read_topics(topics))}
    return evaluate(judged, runs, volumes, replicates=replicates, seed=seed)


def evaluate(
    judged: Sequence[JudgedTopic],
    runs: Mapping[str, Scores],
    volumes: Volumes | None = None,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Evaluation:
    """Judge every measure of ``runs`` and the baselines: random, and posts and words by volume.

    A truth that has sensitive users alone is refused: whoever is ranked, and by whatever, is right.
    """
    if judged and all(topic.sensitive.all() for topic in judged):
        raise InputError(
            "the truth must also have users who are not sensitive, got only sensitive ones: every "
            "ranking would be right. Add the others of the same community, with sensitive = false."
        )
    everything = _with_baselines(judged, runs, volumes)
    drawn = bootstrap_metrics(judged, everything, replicates=replicates, seed=seed)
    strata = _strata(everything)
    measures = tuple(
        _evaluate_measure(judged, measure, scores, drawn[measure], strata, seed)
        for measure, scores in everything.items()
    )
    return Evaluation(
        topics=tuple(topic.name for topic in judged),
        judged=sum(len(topic.users) for topic in judged),
        sensitive=sum(int(topic.sensitive.sum()) for topic in judged),
        measures=measures,
        comparisons=_comparisons(judged, everything, drawn, seed),
    )


def _with_baselines(
    judged: Sequence[JudgedTopic], runs: Mapping[str, Scores], volumes: Volumes | None
) -> dict[str, Scores]:
    if not judged or not runs:
        raise InputError("an evaluation needs at least 1 judged topic and 1 measure.")
    own = baseline_scores(judged, volumes)
    taken = own.keys() & runs.keys()
    if taken:
        raise InputError(f"a measure must not be named like a baseline, got {min(taken)!r}.")
    first = {name: scores for name, scores in runs.items() if name not in BASELINES}
    return {**first, **own, **{name: runs[name] for name in runs if name in BASELINES}}


def _strata(runs: Mapping[str, Scores]) -> Sequence[Integers] | None:
    return [volume_strata(words) for words in runs[WORDS]] if WORDS in runs else None


def _evaluate_measure(
    judged: Sequence[JudgedTopic],
    measure: str,
    scores: Scores,
    drawn: Mapping[str, Floats],
    strata: Sequence[Integers] | None,
    seed: int,
) -> Evaluated:
    by_topic = metrics_by_topic(judged, scores)
    return Evaluated(
        measure=measure,
        baseline=measure in BASELINES,
        metrics={
            name: percentile_interval(float(value), drawn[name])
            for name, value in average_topics(by_topic).items()
        },
        r_precision_by_topic={
            topic.name: float(own.r_precision) for topic, own in zip(judged, by_topic, strict=True)
        },
        volume=None if strata is None else stratified_test(judged, scores, strata, seed=seed),
    )


def _comparisons(
    judged: Sequence[JudgedTopic],
    runs: Mapping[str, Scores],
    drawn: Mapping[str, Mapping[str, Floats]],
    seed: int,
) -> tuple[Comparison, ...]:
    hits = {name: user_hits(judged, scores) for name, scores in runs.items()}
    values = {
        name: average_topics(metrics_by_topic(judged, scores)) for name, scores in runs.items()
    }
    measures = [name for name in runs if name not in BASELINES]
    found = []
    for baseline in (name for name in runs if name in BASELINES):
        tests = [paired_test(hits[name], hits[baseline], seed=seed) for name in measures]
        adjusted = holm([test.p_permutation for test in tests])
        for name, test, p_holm in zip(measures, tests, adjusted, strict=True):
            differences = {
                metric: paired_difference(
                    float(values[name][metric] - values[baseline][metric]),
                    drawn[name][metric],
                    drawn[baseline][metric],
                )
                for metric in ("map", "ndcg")
            }
            found.append(Comparison(name, baseline, test, p_holm, **differences))
    return tuple(found)
