"""The parts of a score that looks at which words were used: ENT and DIFF-PRIV."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.assess.explanation import WordShare
from sottovoce.assess.her_posts import HerPosts
from sottovoce.assess.measures.catalogue import Measure
from sottovoce.assess.scoring import Scoring
from sottovoce.assess.setting import Setting
from sottovoce.assess.state import State
from sottovoce.assess.word_use import WordUse


class WordParts:
    """What one user's posts and words do for her score by a measure of word use."""

    def __init__(
        self,
        state: State,
        scoring: Scoring,
        her: HerPosts,
        topic: str,
        measure: Measure,
        setting: Setting,
        row: int,
    ) -> None:
        self._state, self._topic, self._row = state, topic, row
        self._measure, self._setting = measure, setting
        scorer = scoring.words
        self._terms = scorer.vocabulary.terms
        texts = her.table["text"].combine_chunks()
        # One line of bits for each post, as if each had a writer of its own.
        self._bits = WordUse.of_incidence(scoring.counts(scorer, texts)).bits
        self._posts = len(self._bits)
        self._score = self._score_with(np.bitwise_or.reduce(self._bits), self._posts)

    def interest(self, _row: int) -> None:
        """These measures know no strength, breadth or persistence."""
        return

    def strengths(self) -> None:
        """These measures know no strength of a post."""
        return

    def adds(self, posts: NDArray[np.int64]) -> NDArray[np.float64]:
        """By how much her score would fall without each of ``posts``."""
        without = (np.bitwise_or.reduce(np.delete(self._bits, post, axis=0)) for post in posts)
        return np.array([self._fall(bits, self._posts - 1) for bits in without])

    def words(self, most: int) -> tuple[WordShare, ...]:
        """By how much her score would fall had she never used each word of the topic."""
        hers = np.bitwise_or.reduce(self._bits)
        shares = []
        for word in self._state.salient(self._topic).tolist():
            bits = hers.copy()
            bits[word // 8] &= ~np.uint8(1 << word % 8)
            if bits[word // 8] != hers[word // 8]:
                shares.append(WordShare(self._terms[word], self._fall(bits, self._posts)))
        return tuple(sorted(shares, key=lambda share: -share.adds)[:most])

    def _fall(self, bits: NDArray[np.uint8], posts: int) -> float:
        score = self._score_with(bits, posts)
        # Infinity less infinity is no change.
        return 0.0 if score == self._score else self._score - score

    def _score_with(self, bits: NDArray[np.uint8], posts: int) -> float:
        """Her score in the same community, had she used these words in so many posts."""
        community = self._state.supposing(self._row, bits, posts)
        return float(self._measure.score(community, self._topic, self._setting)[self._row])
