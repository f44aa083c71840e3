"""Decompressed counts follow the multinomial law, on both of its code paths."""

import numpy as np
import pytest
from scipy import sparse, stats

from sottovoce.arrays import Floats, Integers
from sottovoce.release.compression.decompress import DRAWS_PER_WORD, multinomial_counts
from sottovoce.release.compression.word_map import WordMap

MAP = WordMap(np.array([0, 1, 0, 0, 1, 0]), 2)
SHARES = np.array([0.1, 0.3, 0.2, 0.45, 0.7, 0.25])
SIGNIFICANCE = 1e-4


def p_value(count: int, documents: int, claimed: Floats) -> float:
    """Chi-square of the words drawn from column 0 against ``claimed`` shares."""
    compressed = sparse.csr_array(np.tile(np.array([[count, 3]]), (documents, 1)))
    drawn = multinomial_counts(compressed, MAP, SHARES, np.random.default_rng(11))
    totals = np.asarray(drawn.sum(axis=0)).ravel()[MAP.column == 0]
    expected = totals.sum() * claimed[MAP.column == 0]
    return float(stats.chisquare(totals, expected).pvalue)


@pytest.mark.parametrize(("count", "documents"), [(4, 20_000), (100 * DRAWS_PER_WORD, 100)])
def test_shares_are_those_of_the_prior_and_two_percent_off_is_seen(
    count: int, documents: int
) -> None:
    assert p_value(count, documents, SHARES) > SIGNIFICANCE
    off = SHARES + np.array([0.02, 0, 0, -0.02, 0, 0])
    assert p_value(count, documents, off) < SIGNIFICANCE


@pytest.mark.parametrize("count", [4, 100 * DRAWS_PER_WORD])
def test_spread_is_multinomial_and_a_shared_draw_is_seen(count: int) -> None:
    """Variance n p (1 - p) per document; planted fault: one draw used for two documents."""
    documents = 8_000
    compressed = sparse.csr_array(np.tile(np.array([[count, 0]]), (documents, 1)))
    drawn = multinomial_counts(compressed, MAP, SHARES, np.random.default_rng(5)).toarray()[:, 3]
    law = count * 0.45 * 0.55

    def statistic(sample: Integers) -> float:
        pairs = sample.reshape(-1, 2).sum(axis=1)
        return float(abs(pairs.var() / (2 * law) - 1) / np.sqrt(2 / pairs.size))

    assert statistic(drawn) < 4.5
    assert statistic(np.repeat(drawn[::2], 2)) > 4.5
