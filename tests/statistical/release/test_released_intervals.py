"""Intervals of word totals and pairs hold what they are about as often as they say.

Each is a statement about the noise for documents as they are: the documents stay, and the noise is
drawn many times.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from sottovoce.arrays import Flags, Floats, Integers
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis.moments import Moments, released_moments
from sottovoce.release.analysis.summary import pair_totals
from sottovoce.release.analysis.totals import (
    column_names,
    level_at_once,
    noise_reach,
    normal_quantile,
    telling_words,
    word_totals,
)

DOCUMENTS, WORDS, DRAWS = 3500, 20, 80
LOW, HIGH = 0.94, 0.96


def documents(seed: int = 5) -> Integers:
    """Counts in which words come in bursts, frequent and rare ones."""
    generator = np.random.default_rng(seed)
    means = 3.0 / np.arange(1, WORDS + 1)
    bursts = generator.gamma(0.3, 1 / 0.3, (DOCUMENTS, WORDS))
    return generator.poisson(means * bursts)


def noisy(counts: Integers, law: NoiseLaw, generator: np.random.Generator) -> Moments:
    up, down = (generator.geometric(1 - law.alpha, counts.shape) for _ in range(2))
    return released_moments(sparse.csr_array(counts + up - down), law)


def covered_totals(law: NoiseLaw, planted: float = 1.0) -> float:
    """Of sums of noise alone, drawn as such: a sum of geometric draws is negative binomial."""
    generator = np.random.default_rng(2)
    up, down = (generator.negative_binomial(DOCUMENTS, 1 - law.alpha, 40_000) for _ in range(2))
    return float(np.mean(np.abs(up - down) <= planted * noise_reach(law, DOCUMENTS, 0.95)))


def covered_pairs(law: NoiseLaw) -> dict[str, float]:
    """How often intervals of pairs held the truth, and what wrong variances would give."""
    counts, generator = documents(), np.random.default_rng(11)
    together = counts.T @ counts
    np.fill_diagonal(together, np.diagonal(together) - counts.sum(axis=0))
    above = np.triu_indices(WORDS, 1)
    quantile = normal_quantile(0.95)
    held: dict[str, list[Flags]] = {}
    for _ in range(DRAWS):
        found = noisy(counts, law, generator)
        missed = np.abs(found.pairs - together)
        # Word totals in place of the sums of squares.
        wrong = replace(found, squares=found.totals)
        kinds = {
            "different": (missed <= quantile * _errors(found))[above],
            "planted": (missed <= quantile * _errors(wrong))[above],
            "own": np.diagonal(missed <= quantile * _errors(found)),
        }
        for kind, holds in kinds.items():
            held.setdefault(kind, []).append(holds)
    return {kind: float(np.mean(holds)) for kind, holds in held.items()}


def _errors(moments: Moments) -> Floats:
    return np.sqrt(moments.pair_variances())


@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0, 2.0, 5.0])
def test_intervals_of_totals_hold_the_truth_as_often_as_they_say(rate: float) -> None:
    law = NoiseLaw(rate)
    # A reach is a whole number, the least that holds often enough: one less does not.
    step = 1 / noise_reach(law, DOCUMENTS, 0.95)
    assert covered_totals(law) > LOW
    assert covered_totals(law, planted=1 - step) < 0.953
    assert not LOW < covered_totals(law, planted=1.2) < HIGH
    assert not LOW < covered_totals(law, planted=0.8) < HIGH


@pytest.mark.parametrize("rate", [0.5, 1.0, 2.0, 5.0])
def test_intervals_of_pairs_hold_the_truth_as_often_as_they_say(rate: float) -> None:
    found = covered_pairs(NoiseLaw(rate))
    assert LOW < found["different"] < HIGH
    assert not LOW < found["planted"] < HIGH
    # Ten times fewer of them: their share varies more.
    assert LOW - 0.01 < found["own"] < HIGH + 0.01


def test_intervals_of_the_largest_totals_hold_the_truth_all_at_once() -> None:
    """Of 300 words that are used alike, the 20 that noise made the largest; and what was wrong."""
    law, words, draws = NoiseLaw(1.0), 300, 150
    generator = np.random.default_rng(3)
    names = column_names([f"w{at}" for at in range(words)], None)
    held, alone, order = 0, 0, 0
    for _ in range(draws):
        up, down = (generator.geometric(1 - law.alpha, (40, words)) for _ in range(2))
        found = word_totals(sparse.csr_array(up - down + 1), law, names, 0.95)
        best = found.rows(20)
        held += all(row["low"] <= 40 <= row["high"] for row in best)
        alone += all(abs(row["total"] - 40) <= noise_reach(law, 40, 0.95) for row in best)
        order += best[0]["low"] > found.rows()[-1]["high"]
    assert held / draws >= 0.93
    assert alone / draws < 0.05
    assert order / draws <= 0.07


@pytest.mark.parametrize("rate", [3.0, 5.0])
def test_intervals_of_the_pairs_that_stand_out_hold_all_at_once(rate: float) -> None:
    """Where noise is rare, sums of its products are far from normal."""
    law, words, draws = NoiseLaw(rate), 120, 60
    generator = np.random.default_rng(7)
    counts = generator.poisson(1 / np.arange(1, words + 1), (200, words))
    together, names = counts.T @ counts, [str(at) for at in range(words)]
    normal = normal_quantile(level_at_once(0.95, words * (words - 1) // 2))
    held = planted = 0
    for _ in range(draws):
        found = pair_totals(
            noisy(counts, law, generator), names, level=0.95, most=30, order="surprise"
        )
        missed = [
            (abs(row["together"] - together[int(row["first"]), int(row["second"])]), row)
            for row in found.rows()
        ]
        held += all(miss <= row["high"] - row["together"] for miss, row in missed)
        planted += all(miss <= normal * row["error"] for miss, row in missed)
    assert held / draws >= 0.93
    assert planted / draws < 0.93


def test_intervals_of_words_that_tell_small_labels_apart_hold_all_at_once() -> None:
    law, draws = NoiseLaw(4.0), 100
    generator = np.random.default_rng(8)
    counts = generator.poisson(0.1, (100, 60))
    labels = np.array(["few"] * 5 + ["many"] * 95)
    truth = {each: counts[labels == each].mean(axis=0) - counts.mean(axis=0) for each in labels}
    names, held = column_names([str(at) for at in range(60)], None), 0
    for _ in range(draws):
        up, down = (generator.geometric(1 - law.alpha, counts.shape) for _ in range(2))
        rows = sparse.csr_array(counts + up - down)
        found = telling_words(rows, labels, law, names, 0.95).rows()
        held += all(
            row["low"] <= truth[row["label"]][int(row["word"])] <= row["high"] for row in found
        )
    assert held / draws >= 0.93
