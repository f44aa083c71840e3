"""Is one measure's R-precision above another's by more than the choice of users explains?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from sottovoce.assess.evaluation.judged import JudgedTopic, Scores, places_of_users
from sottovoce.assess.evaluation.r_precision import hits_of_sensitive_users
from sottovoce.assess.evaluation.ties import Floats, tie_order
from sottovoce.errors import InputError

PERMUTATIONS = 10_000
# Up to this many users on whom two measures differ, all sign changes are tried.
EXACT_UP_TO = 16
# Sums of the same numbers in another order differ by rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class PairedTest:
    """The mean difference of per-user hits and its two-sided p-values."""

    difference: float
    t: float
    p_t: float
    p_permutation: float


def user_hits(judged: Sequence[JudgedTopic], scores: Scores) -> Floats:
    """The hits of every sensitive user, expected over ties; their mean is R-precision (micro).

    R-Susceptibility, Section 5.1.6: its "individual test samples". A user who is sensitive in
    several topics is one sample, as her hits depend on one another. Users who are not sensitive
    never hit, whatever the measure, so they are left out.
    """
    pairs = zip(judged, scores, strict=True)
    hits = np.concatenate(
        [hits_of_sensitive_users(tie_order(own), topic.sensitive) for topic, own in pairs]
    )
    places = zip(places_of_users(judged), judged, strict=True)
    person = np.concatenate([own[topic.sensitive] for own, topic in places])
    samples, sample = np.unique(person, return_inverse=True)
    totals = np.bincount(sample, hits) * (len(samples) / len(hits))
    return totals.astype(np.float64)


def paired_test(ours: Floats, theirs: Floats, *, seed: int = 0) -> PairedTest:
    """The paper's paired t-test (Section 5.1.6), and a permutation test beside it."""
    if len(ours) != len(theirs):
        raise InputError(f"paired hits must be equally many, got {len(ours)} and {len(theirs)}.")
    differences = ours - theirs
    t, p_value = paired_t(differences)
    return PairedTest(float(differences.mean()), t, p_value, sign_flip_p(differences, seed=seed))


def paired_t(differences: Floats) -> tuple[float, float]:
    """Student's t of the mean difference, and its two-sided p-value.

    Equal measures have t = 0 and p = 1; so has a single user, of whom nothing can be said.
    """
    count = len(differences)
    if count < 2 or not differences.any():  # noqa: PLR2004 - a variance needs two
        return 0.0, 1.0
    error = float(differences.std(ddof=1)) / np.sqrt(count)
    if error <= ROUNDING * abs(float(differences.mean())):
        return float(np.copysign(np.inf, differences.mean())), 0.0
    t = float(differences.mean()) / float(error)
    return t, float(2.0 * special.stdtr(count - 1, -abs(t)))


def sign_flip_p(differences: Floats, *, seed: int = 0) -> float:
    """How often swapping the two measures, user by user at random, differs as much (two-sided).

    Exact where the measures differ on few users, else by 10,000 random swaps.
    """
    changed = differences[differences != 0.0]
    observed = abs(float(changed.sum())) * (1.0 - ROUNDING)
    if len(changed) <= EXACT_UP_TO:
        return float((np.abs(_all_signed_sums(changed)) >= observed).mean())
    rng = np.random.default_rng(seed)
    extreme = sum(
        int((np.abs(_random_signs(len(changed), rng) @ changed) >= observed).sum())
        for _ in range(PERMUTATIONS // 1000)
    )
    return (extreme + 1) / (PERMUTATIONS + 1)


def _all_signed_sums(values: Floats) -> Floats:
    sums: Floats = np.zeros(1)
    for value in values.tolist():
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _random_signs(count: int, rng: np.random.Generator) -> Floats:
    return rng.integers(0, 2, (1000, count)).astype(np.float64) * 2.0 - 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values of several tests (S. Holm, Scandinavian Journal of Statistics, 1979).

    The i-th smallest of n is multiplied by n - i + 1, and none is below a smaller one.
    """
    order = np.argsort(p_values, kind="stable")
    ordered = np.asarray(p_values, dtype=np.float64)[order]
    raised = np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))
    adjusted = np.empty(len(ordered))
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted.tolist()
