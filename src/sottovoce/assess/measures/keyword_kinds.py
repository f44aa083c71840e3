"""Keyword kinds: how many different words of the topic a user has used.

Not the paper's: it is what a reader of a topic's word list would count first.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sottovoce.assess.measures.measure import Measure, Scores, measure_words, on_grid
from sottovoce.assess.measures.persistence import time_aware_risk
from sottovoce.assess.setting import Setting
from sottovoce.assess.state.words import WordUse, sum_of_used

if TYPE_CHECKING:
    from sottovoce.assess.state.state import State


def keyword_kinds(use: WordUse, words: NDArray[np.int64]) -> Scores:
    """How many different salient words each user has used, however often and whoever else does."""
    return sum_of_used(use.bits, words, np.ones(words.size, np.int64)).astype(np.float64)


def lasting_keyword_kinds(state: "State", topic: str, setting: Setting) -> Scores:
    """The paper's persistence, with a bucket's number of different words as its strength."""
    kept = state.word_buckets_kept()
    return on_grid(time_aware_risk(kept.best(state.salient(topic), setting.m, len(state))))


_WORDING = "how many different words of the topic you use"
KEYWORD_KINDS = measure_words(keyword_kinds, _WORDING, ((19, 0.47), (6.6, 0.22), (4, 0.15)))
KEYWORD_KINDS_T = Measure(
    lasting_keyword_kinds,
    mentions=True,
    word_buckets=True,
    wording=f"{_WORDING}, over several weeks",
    lifts=((12, 0.46), (5.8, 0.20), (5, 0.14)),
)
