"""The others: where a score, or a person's words, would stand among them."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.advisor.community_setting import Setting
from sottovoce.advisor.what_if_variants import Variants, state_of_variants
from sottovoce.assess.header import Header
from sottovoce.assess.state import State
from sottovoce.assess.word_use import WordUse

Scores = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Seats:
    """Scores and places of variants (rows) for topics (columns); a score is NaN without posts."""

    scores: Scores
    low: Places
    """The place, equal scores sharing the better one."""
    high: Places
    """How many users score at least as high, she included; or at most so many."""
    surely: Places
    """At least so many users score at least as high, she included."""
    users: Places
    """How many users there are for each topic, she included."""


class Crowd(Protocol):
    """Everybody but her."""

    def seats(self, variants: Variants) -> Seats:
        """Where each variant of her would stand, for each topic."""
        ...

    def others(self, variants: Variants) -> Sequence[Scores]:
        """For each topic the others' scores, ascending, beside the first of ``variants``."""
        ...


@dataclass(frozen=True, eq=False)
class KnownCrowd:
    """Others whose scores do not depend on her: every measure of a vector space."""

    header: Header
    setting: Setting
    topics: tuple[str, ...]
    scores: Mapping[str, Scores]
    """Ascending, by topic."""

    def seats(self, variants: Variants) -> Seats:
        """Her scores by one small state, the places by searching among the others."""
        hers = own_scores(self.header, self.setting, self.topics, variants)
        low, high = places_by_topic(hers, self.topics, self._places)
        users = [self.scores[topic].size + 1 for topic in self.topics]
        return Seats(hers, low, high, high, np.array(users))

    def others(self, variants: Variants) -> Sequence[Scores]:  # noqa: ARG002 - they do not depend on her
        """For each topic, ascending."""
        return [self.scores[topic] for topic in self.topics]

    def _places(self, topic: str, hers: Scores) -> tuple[Places, Places]:
        others = self.scores[topic]
        first, last = (np.searchsorted(others, hers, side) for side in ("right", "left"))
        return others.size + 1 - first, others.size + 1 - last


@dataclass(frozen=True, eq=False)
class ReactingCrowd:
    """Others whose scores depend on her: ENT and DIFF-PRIV ask how rare a word is among all."""

    state: State
    """Of the others only."""
    setting: Setting
    topics: tuple[str, ...]

    def seats(self, variants: Variants) -> Seats:
        """The whole community is scored anew for each variant."""
        shape = (variants.count, len(self.topics))
        hers, low = np.full(shape, np.nan), np.zeros(shape, np.int64)
        high = low.copy()
        for variant in np.flatnonzero(~variants.empty()).tolist():
            bits = np.bitwise_or.reduce(variants.posts.words[variants.owner == variant], axis=0)
            for column, scores in enumerate(self._scored(bits)):
                own = scores[-1]
                hers[variant, column] = own
                low[variant, column] = 1 + np.count_nonzero(scores > own)
                high[variant, column] = np.count_nonzero(scores >= own)
        return Seats(hers, low, high, high, np.full(len(self.topics), len(self.state) + 1))

    def others(self, variants: Variants) -> Sequence[Scores]:
        """For each topic, ascending, when she has the words of the first variant."""
        mine = variants.posts.words[variants.owner == 0]
        bits = np.bitwise_or.reduce(mine, axis=0)
        return [np.sort(scores[:-1]) for scores in self._scored(bits)]

    def _scored(self, bits: NDArray[np.uint8]) -> list[Scores]:
        """Everybody's scores, hers last, had she used these words."""
        use = WordUse(self.state.header.words)
        use.admit(len(self.state) + 1)
        use.add_bits(np.arange(len(self.state)), self.state.word_use().bits)
        use.bits[-1] = bits
        community = copy.copy(self.state)
        community.words = use
        score = self.setting.how().score
        return [score(community, topic, self.setting.risk) for topic in self.topics]


def places_by_topic(
    hers: Scores,
    topics: Sequence[str],
    places: Callable[[str, Scores], tuple[Places, Places]],
) -> tuple[Places, Places]:
    """The best and the worst place of each variant for each topic, of which ``places`` tells."""
    found = [places(topic, hers[:, column]) for column, topic in enumerate(topics)]
    low, high = (np.column_stack(each) for each in zip(*found, strict=True))
    return low, high


def own_scores(
    header: Header, setting: Setting, topics: Sequence[str], variants: Variants
) -> Scores:
    """Variants x topics by a measure of a vector space; NaN for a variant without posts."""
    state = state_of_variants(header, setting, variants)
    score = setting.how().score
    found = np.column_stack([score(state, topic, setting.risk) for topic in topics])
    found[variants.empty()] = np.nan
    return found
