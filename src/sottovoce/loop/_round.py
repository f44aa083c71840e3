"""One community once around: assess, release at every setting, assess what was released.

How much of a ranking survives each release, how many of the afflicted are still found by the best
adversary, and one row a setting over all communities.

How well a release hides one passage, beside what its promise allows.

In some of the documents a passage of N counted words of a sensitive topic is put; these and the
same ones without it go through the very mechanism of the release. Whoever says "it is there" with
5% false alarms is right about the others with a probability of at most

    min(0.05 e^epsilon, 1 - 0.95 e^-epsilon),

whatever they know: that is (N, epsilon)-limited-precision privacy, read as a test. Two try: the
adversary by likelihood, and one who knows every other word of the document, whom nobody beats:

    ln P(z | with)/P(z | without) = r sum_w |z_w - c_w| - |z_w - c'_w|, at most r N = epsilon.

More than the bound, beyond chance, is a defect of the release and not of luck.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse, stats

from sottovoce.arrays import Floats
from sottovoce.assess.evaluation.metrics import (
    JudgedTopic,
    average_topics,
    metrics_by_topic,
    user_rows,
)
from sottovoce.loop._reading import Reading, log_ratios
from sottovoce.loop.adversary import Adversary, TopicScores, View
from sottovoce.loop.documents import PrivacySetting, UserDocuments
from sottovoce.loop.subject import Subject
from sottovoce.loop.usefulness import Task
from sottovoce.release.counts import Counts, checked_counts
from sottovoce.release.topics.evaluation import mean_interval
from sottovoce.report.result import Row

FALSE_ALARMS = 0.05
TRIALS = 400
_DEVIATIONS = 4.0


@dataclass(frozen=True)
class PassageTest:
    """The share of passages that are told, at 5% false alarms."""

    seen: float
    """By the adversary."""
    strongest: float
    """By whoever knows all the rest of the document."""
    bound: float
    """What the promise allows."""
    trials: int


def most_told(epsilon: float, false_alarms: float = FALSE_ALARMS) -> float:
    """What the promise allows: min(f e^epsilon, 1 - (1 - f) e^-epsilon)."""
    return min(
        false_alarms * math.exp(min(epsilon, 700.0)), 1 - (1 - false_alarms) * math.exp(-epsilon)
    )


def is_defect(tests: Sequence[PassageTest]) -> bool:
    """Whether more was told than the bound and four standard errors allow, over communities."""
    trials, bound = sum(test.trials for test in tests), tests[0].bound
    told = max(np.mean([test.seen for test in tests]), np.mean([test.strongest for test in tests]))
    own = math.sqrt(bound * (1 - bound) / trials)
    # The edge is estimated, too; what an error of it changes is at most the slope at the bound.
    slope = bound / FALSE_ALARMS
    edge = slope * math.sqrt(FALSE_ALARMS * (1 - FALSE_ALARMS) / trials)
    return bool(told > bound + _DEVIATIONS * (own + edge))


def passage_test(
    setting: PrivacySetting, documents: UserDocuments, reading: Reading, profiles: Floats
) -> PassageTest:
    """Plant passages of ``profiles`` (topics x words), release and look; the noise is fresh."""
    generator = np.random.default_rng(reading.seed)
    trials = min(TRIALS, documents.rows)
    plain = documents.counts[generator.choice(documents.rows, trials, replace=False)]
    asked = np.arange(trials) % len(profiles)
    passages = _draw_passages(profiles[asked], setting.precision, generator)
    planted = checked_counts(sparse.csr_array(plain + passages))
    both = replace(documents, counts=checked_counts(sparse.vstack([planted, plain], "csr")))
    cells = setting.draw_release(both, reading.frequencies, reading.seed).counts
    columns = reading.of_columns(profiles)
    told = log_ratios(cells, reading.law, reading.means, columns)
    seen = told[np.arange(2 * trials), np.tile(asked, 2)]
    compress = reading.word_map.compress
    known = _nearer(cells, compress(plain), compress(planted))
    return PassageTest(told_share(seen), told_share(known), _bound_of(setting), trials)


def document_test(
    setting: PrivacySetting, documents: UserDocuments, frequencies: Floats | None, seed: int
) -> PassageTest:
    """Release documents, and empty ones in their place; who knows what they say tells which.

    With at most N words in each, an empty document for a full one is a change of N words, so that
    the bound is that of one passage.
    """
    generator = np.random.default_rng(seed)
    filled = np.flatnonzero(np.diff(documents.counts.indptr))
    trials = min(TRIALS, filled.size)
    present = documents.counts[generator.choice(filled, trials, replace=False)]
    absent = checked_counts(sparse.csr_array(present.shape, dtype=np.int64))
    both = replace(documents, counts=checked_counts(sparse.vstack([present, absent], "csr")))
    drawn = setting.draw_release(both, frequencies, seed)
    compress = drawn.maps[0].compress
    told = told_share(_nearer(drawn.counts, compress(absent), compress(present)))
    return PassageTest(told, told, _bound_of(setting), trials)


def _bound_of(setting: PrivacySetting) -> float:
    return 1.0 if setting.guarantee is None else most_told(float(setting.guarantee.epsilon))


def _draw_passages(profiles: Floats, length: int, generator: np.random.Generator) -> Counts:
    """Words of each row's profile."""
    words = [generator.choice(row.size, length, p=row / row.sum()) for row in profiles]
    ones = np.ones(len(profiles) * length, np.int64)
    rows = np.repeat(np.arange(len(profiles)), length)
    return sparse.csr_array((ones, (rows, np.concatenate(words))), shape=profiles.shape)


def _nearer(cells: Counts, without: Counts, planted: Counts) -> Floats:
    """How much nearer each document is to its text with the passage; planted ones first."""
    twice = [sparse.csr_array(sparse.vstack([each, each])) for each in (without, planted)]
    far, near = (np.asarray(abs(cells - each).sum(axis=1), np.float64) for each in twice)
    return far - near


def told_share(scores: Floats) -> float:
    """Of the first half (with the passage) the share above the second's edge, ties by chance."""
    present, absent = np.split(scores, 2)
    edge = np.quantile(absent, 1 - FALSE_ALARMS, method="higher")
    above, at = np.mean(absent > edge), np.mean(absent == edge)
    lot = min(1.0, (FALSE_ALARMS - above) / at)
    return float(np.mean(present > edge) + lot * np.mean(present == edge))


SHARES = (1, 5, 10)
"""Per cent of the community."""


def r_precision(judged: Sequence[JudgedTopic], users: pa.Array, scores: TopicScores) -> float:
    """Of as many users as are afflicted, taken from the top, the share who are (micro-average)."""
    own = [scores[topic.name][user_rows(topic, users)] for topic in judged]
    return float(average_topics(metrics_by_topic(judged, own))["r_precision_micro"])


def chance(judged: Sequence[JudgedTopic]) -> float:
    """The R-precision of a random order, on average."""
    hits = sum(topic.sensitive.sum() ** 2 / len(topic.users) for topic in judged)
    return float(hits / sum(topic.sensitive.sum() for topic in judged))


def place_of_afflicted(
    judged: Sequence[JudgedTopic], users: pa.Array, scores: TopicScores
) -> float:
    """The median place of the afflicted, as a percentage of the community from the top."""
    places = [
        100 * mean_ranks(scores[topic.name])[user_rows(topic, users)][topic.sensitive] / len(users)
        for topic in judged
    ]
    return float(np.median(np.concatenate(places)))


def correlation(before: TopicScores, after: TopicScores) -> float:
    """Spearman's rho between two rankings of the same users, the mean over topics."""
    return float(np.mean([_rho(before[topic], after[topic]) for topic in before]))


def overlap(before: TopicScores, after: TopicScores, share: int) -> float:
    """Of those at the top before, the part at the top after; the mean over topics.

    Users who tie at the edge count by the chance that they are inside.
    """
    return float(np.mean([_share_kept(before[topic], after[topic], share) for topic in before]))


def surviving(before: TopicScores, after: TopicScores) -> Mapping[str, float]:
    """Everything about two rankings that needs no truth."""
    return {
        "rank_correlation": correlation(before, after),
        **{f"overlap_{share}": overlap(before, after, share) for share in SHARES},
    }


def mean_ranks(scores: Floats) -> Floats:
    """Places from 1, the highest score first; who ties shares the middle place."""
    return stats.rankdata(-scores, method="average")


def _rho(before: Floats, after: Floats) -> float:
    one, other = mean_ranks(before), mean_ranks(after)
    if not (np.ptp(one) and np.ptp(other)):
        return 0.0  # where everybody ties no order is left to agree with
    return float(np.corrcoef(one, other)[0, 1])


def _share_kept(before: Floats, after: Floats, share: int) -> float:
    size = max(1, round(before.size * share / 100))
    inside, still = _inside(before, size), _inside(after, size)
    return float((inside * still).sum() / size)


def _inside(scores: Floats, size: int) -> NDArray[np.float64]:
    """Each user's chance to stand within the first ``size`` places."""
    edge = np.partition(scores, scores.size - size)[scores.size - size]
    above, tied = scores > edge, scores == edge
    inside: Floats = above + tied * ((size - above.sum()) / tied.sum())
    return inside


Numbers = dict[str, float]


@dataclass(frozen=True)
class RoundOutcome:
    """What one release exposes to each adversary, and what it is good for."""

    exposure: Mapping[View, Numbers]
    useful: Numbers
    passage: PassageTest | None = None
    """How well one passage is hidden; None: nothing is."""


@dataclass(frozen=True, eq=False)
class Circle:
    """A community, the adversary who looks at it, and what its counts are used for."""

    subject: Subject
    documents: UserDocuments
    adversary: Adversary
    task: Task
    measure: str = "lda-dt"
    """The measure of the unprotected ranking."""

    def rank_posts(self) -> TopicScores:
        """The ranking by the posts themselves."""
        return self.adversary.on_posts(self.subject.posts, self.documents.users)[self.measure]

    def levels(self, before: TopicScores) -> Numbers:
        """What there is to compare with: the posts themselves, public facts, chance."""
        if not self.subject.judged:
            return dict(self.task.levels)
        judged, users = self.subject.judged, self.documents.users
        found = {
            "r_precision_posts": r_precision(judged, users, before),
            "r_precision_rows": r_precision(judged, users, self._row_counts()),
            "r_precision_chance": chance(judged),
            "place_posts": place_of_afflicted(judged, users, before),
        }
        return {**found, **self.task.levels}

    def run_setting(self, setting: PrivacySetting, before: TopicScores) -> RoundOutcome:
        """Release, assess what was released as every adversary does, and use it."""
        drawn = setting.draw_release(self.documents, self.subject.frequencies, self.subject.seed)
        reading = self.task.reading(drawn, setting.noise_rate)
        views = self.adversary.on_release(self.documents, reading)
        exposure = {view: self._exposure(before, scores) for view, scores in views.items()}
        passage = None
        if setting.guarantee is not None:
            profiles = self.adversary.sensitive_profiles(self.documents.words)
            passage = passage_test(setting, self.documents, reading, profiles)
        return RoundOutcome(exposure, self.task.usefulness(reading), passage)

    def _exposure(self, before: TopicScores, after: TopicScores) -> Numbers:
        found = dict(surviving(before, after))
        if judged := self.subject.judged:
            users = self.documents.users
            found["r_precision"] = r_precision(judged, users, after)
            found["place"] = place_of_afflicted(judged, users, after)
        return found

    def _row_counts(self) -> TopicScores:
        rows = self.documents.rows_by_user().astype(np.float64)
        return dict.fromkeys(self.adversary.topics, rows)


FOUND, KEPT = "r_precision", f"overlap_{SHARES[1]}"
"""What decides which adversary is the worst: with a truth, and without."""
_DRAWS = 200


@dataclass(frozen=True)
class Worst:
    """The adversary who does best, on average over communities: the one to reckon with."""

    view: View
    numbers: Mapping[str, Sequence[float]]
    """What they reach in each community."""


def worst_adversary(outcomes: Sequence[RoundOutcome]) -> Worst:
    """Chosen once for all communities, so that luck in one of them counts little."""
    views = outcomes[0].exposure
    decides = deciding(outcomes[0])
    best = max(views, key=lambda view: np.mean([each.exposure[view][decides] for each in outcomes]))
    names = outcomes[0].exposure[best]
    return Worst(best, {name: [each.exposure[best][name] for each in outcomes] for name in names})


def deciding(outcome: RoundOutcome) -> str:
    """The share of the afflicted who are found; where nobody knows them, of those found before."""
    return FOUND if FOUND in next(iter(outcome.exposure.values())) else KEPT


def setting_row(setting: PrivacySetting, outcomes: Sequence[RoundOutcome]) -> Row:
    """One setting: what it promises, what the worst adversary sees, what it is good for."""
    worst, decides = worst_adversary(outcomes), deciding(outcomes[0])
    guarantee = setting.guarantee
    row: Row = {
        "method": setting.method,
        "compression": setting.compression,
        "columns": setting.columns,
        "precision": None if guarantee is None else setting.precision,
        "epsilon": None if guarantee is None else str(setting.epsilon),
        "rate": setting.noise_rate,
        "guarantee": "none" if guarantee is None else str(guarantee),
        "worst_adversary": ", ".join(worst.view),
    }
    useful = {name: [each.useful[name] for each in outcomes] for name in outcomes[0].useful}
    for name, values in {**worst.numbers, **useful}.items():
        row |= summary(name, values)
    row |= _passage_row([each.passage for each in outcomes if each.passage is not None])
    for view, numbers in outcomes[0].exposure.items():
        reached = [each.exposure[view][decides] for each in outcomes]
        row[f"{decides}: {', '.join(view)}"] = float(np.mean(reached)) if numbers else None
    return row | {"seeds": len(outcomes)}


def _passage_row(tests: Sequence[PassageTest]) -> Row:
    """What one passage was told by, and what its promise allows; None without a promise."""
    if not tests:
        return dict.fromkeys(("passage_seen", "passage_strongest", "passage_bound", "defect"))
    return {
        "passage_seen": float(np.mean([test.seen for test in tests])),
        "passage_strongest": float(np.mean([test.strongest for test in tests])),
        "passage_bound": tests[0].bound,
        "defect": "above the bound" if is_defect(tests) else None,
    }


def summary(name: str, values: Sequence[float]) -> Row:
    """A mean and its interval; of one community there is none."""
    interval = mean_interval(values)
    if len(values) == 1:
        return {name: interval.mean}
    return {name: interval.mean, f"{name}_low": interval.low, f"{name}_high": interval.high}


def luckiest_chance(judged: Sequence[Sequence[JudgedTopic]], views: int) -> float:
    """What the best of ``views`` random orders reaches, on average, over these communities.

    The worst adversary is picked after the fact, so that even pure noise beats plain chance by
    this much.
    """
    generator = np.random.default_rng(0)
    best = [
        max(np.mean([_random_hits(own, generator) for own in judged]) for _ in range(views))
        for _ in range(_DRAWS)
    ]
    return float(np.mean(best))


def _random_hits(judged: Sequence[JudgedTopic], generator: np.random.Generator) -> float:
    sensitive = [int(topic.sensitive.sum()) for topic in judged]
    hits = [
        generator.hypergeometric(found, len(topic.users) - found, found)
        for found, topic in zip(sensitive, judged, strict=True)
    ]
    return float(sum(hits) / sum(sensitive))
