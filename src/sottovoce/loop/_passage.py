"""How well a release hides one passage, beside what its promise allows.

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
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.loop._evidence import log_ratios
from sottovoce.loop._reading import Reading
from sottovoce.loop._settings import PrivacySetting
from sottovoce.loop.subject import UserDocuments
from sottovoce.release.counts import Counts, checked_counts

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
    passages = _passages(profiles[asked], setting.precision, generator)
    planted = checked_counts(sparse.csr_array(plain + passages))
    both = replace(documents, counts=checked_counts(sparse.vstack([planted, plain], "csr")))
    cells = setting.drawn(both, reading.frequencies, reading.seed).counts
    columns = reading.of_columns(profiles)
    told = log_ratios(cells, reading.law, reading.means, columns)
    seen = told[np.arange(2 * trials), np.tile(asked, 2)]
    compress = reading.word_map.compress
    known = _nearer(cells, compress(plain), compress(planted))
    promise = setting.guarantee
    bound = 1.0 if promise is None else most_told(float(promise.epsilon))
    return PassageTest(told_share(seen), told_share(known), bound, trials)


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
    drawn = setting.drawn(both, frequencies, seed)
    compress = drawn.maps[0].compress
    told = told_share(_nearer(drawn.counts, compress(absent), compress(present)))
    promise = setting.guarantee
    bound = 1.0 if promise is None else most_told(float(promise.epsilon))
    return PassageTest(told, told, bound, trials)


def _passages(profiles: Floats, length: int, generator: np.random.Generator) -> Counts:
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
