"""How sure sums of a release are: whether intervals hold the truth, and how far sums are from it.

The error of word totals is the sum of all words' errors, as a share of all words used. Its baseline
is what clipped counts sum to, and what one would guess without reading: every word equally often.
"""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis.moments import Moments, released_moments
from sottovoce.release.analysis.totals import noise_reach, normal_quantile
from sottovoce.release.counts import Counts
from sottovoce.report.result import Row
from sottovoce_lab.release.analyse_rows import CHOSEN, AnalyseSetting, compared_rows, reader_row
from sottovoce_lab.release.analyse_topics import add_noise
from sottovoce_lab.release.parts import Parameters, PartStore, Values, by_reader
from sottovoce_lab.release.pinned import PinnedCorpus

LEVEL = 0.95
TOTALS, PAIRS = "intervals of word totals", "intervals of pairs"
CLIPPED, EVEN = "clipped sums", "all words alike"


def summed_rows(
    corpus: PinnedCorpus, rates: Sequence[float], seeds: int, store: PartStore
) -> list[Row]:
    """Coverage of totals and pairs, and the error of totals, at every rate."""
    truth = released_moments(corpus.counts, NoiseLaw(_CLEAR))
    return [row for rate in rates for row in _rate_rows(corpus, truth, rate, seeds, store)]


# No noise to speak of: sums of the counts themselves.
_CLEAR = 60.0


def _rate_rows(
    corpus: PinnedCorpus, truth: Moments, rate: float, seeds: int, store: PartStore
) -> list[Row]:
    documents, words = corpus.counts.shape
    known: Parameters = {
        "reader": "sums", "data": corpus.name, "documents": documents, "words": words, "rate": rate
    }  # fmt: skip
    parts = store.values_by_seed(known, seeds, partial(summed_values, corpus.counts, truth, rate))
    setting = partial(AnalyseSetting, data=corpus.name, documents=documents, words=words, rate=rate)
    rows = [
        reader_row(setting(score="coverage"), name, values, predicted=LEVEL)
        for name, values in by_reader(parts, "coverage").items()
    ]
    expected = math.sqrt(2 / math.pi * documents * NoiseLaw(rate).variance)
    predicted = expected * words / float(truth.totals.sum())
    errors = by_reader(parts, "error")
    compared = compared_rows(setting(score="error"), errors, reference=0.0, predicted=predicted)
    return rows + compared


def summed_values(counts: Counts, truth: Moments, rate: float, seed: int) -> Values:
    """Of one release."""
    released = add_noise(counts, rate, seed)
    moments = released_moments(released, NoiseLaw(rate))
    clipped = np.asarray(released.maximum(0).sum(axis=0), np.float64)
    even = np.full(truth.totals.size, truth.totals.mean())
    read = {CHOSEN: moments.totals, CLIPPED: clipped, EVEN: even}
    return {
        "coverage": {TOTALS: _totals_held(moments, truth), PAIRS: _pairs_held(moments, truth)},
        "error": {name: _error(totals, truth.totals) for name, totals in read.items()},
    }


def _totals_held(moments: Moments, truth: Moments) -> float:
    reach = noise_reach(moments.law, moments.documents, LEVEL)
    return float(np.mean(np.abs(moments.totals - truth.totals) <= reach))


def _pairs_held(moments: Moments, truth: Moments) -> float:
    above = np.triu_indices(moments.totals.size, 1)
    apart = np.abs(moments.pairs - truth.pairs)[above]
    reach = normal_quantile(LEVEL) * np.sqrt(moments.pair_variances()[above])
    return float(np.mean(apart <= reach))


def _error(found: Floats, true: Floats) -> float:
    return float(np.abs(found - true).sum() / true.sum())
