"""A measure: how users are scored from the state of a community, and what is said of it.

Scores that subtract or average strengths are put on a grid, so that rounding does not decide
between users who score alike.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sottovoce.assess.setting import Setting
from sottovoce.assess.state.words import WordUse
from sottovoce.compiled import kernel
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.assess.state.state import State

Scores = NDArray[np.float64]
Scoring = Callable[["State", str, Setting], Scores]
SeveralScoring = Callable[["State", Sequence[str], Setting], Scores]
Lifts = tuple[tuple[float, float], ...]
"""For the top 1%, 5% and 10% the lift, and the standard error of its logarithm.

``study assess-blogs --half test``: 880 bloggers, five topics, all posts of each; draws of people.
"""

BITS = 40
# Beyond it numbers are no closer to one another than the grid's.
_SPACED = 2.0 ** (52 - BITS)
_FINE, _COARSE = 2.0**BITS, 2.0**-BITS

_VOICE = "words that people use who speak of themselves"
SPACES = {
    "bow": "how much of a post is the topic's own words",
    "lda": "how close posts come to the topic, by a topic model",
    "w2v": "how close posts come to the topic, by word vectors",
    "voice": _VOICE,
    "voice-s": f"{_VOICE}, and whether posts say I or you",
}
"""What the strength of a post is in each vector space, in words."""


@dataclass(frozen=True)
class Measure:
    """How users are scored from the state of a community.

    Attributes:
        score: the scores of all users for a topic.
        space: the vector space whose strengths it needs; None: which user has used which word.
        buckets: it needs the strengths of the ``m`` best time buckets.
        mentions: who has neither used a salient word nor, in its space, a strength above 0 has
            given no evidence; where nobody has, nobody is in a band. Without it all have.
        word_buckets: it needs which words were used in which time bucket.
        several: the scores for some topics, a row each, where that takes fewer steps than
            ``score`` one by one; they must be the same.
        wording: what it looks at, for people.
        lifts: what its bands were worth in a test on bloggers; (): it was not tested.

    >>> Measure(lambda state, topic, setting: state.posts.astype(float)).buckets
    False
    """

    score: Scoring
    space: str | None = None
    buckets: bool = False
    mentions: bool = False
    word_buckets: bool = False
    several: SeveralScoring | None = None
    wording: str = ""
    lifts: Lifts = ()

    @property
    def is_voice(self) -> bool:
        """Whether strengths are evidence of words, not closeness to a topic."""
        return self.space is not None and self.space.startswith("voice")

    def scores(self, state: "State", topics: Sequence[str], setting: Setting) -> Scores:
        """Topics x users."""
        rows: Scores | list[Scores] = (
            [self.score(state, topic, setting) for topic in topics]
            if self.several is None
            else self.several(state, topics, setting)
        )
        if [np.shape(row) for row in rows] != [(len(state),)] * len(topics):
            raise ParameterError(
                f"a measure must give one score for each of the {len(state):,} users and each "
                "topic; mend the measure."
            )
        return np.asarray(rows)

    def evident_users(self, state: "State", topics: Sequence[str]) -> list[int]:
        """For each topic how many users have written anything that speaks for it."""
        if self.mentions and self.space is not None:
            columns = [state.column(topic) for topic in topics]
            strongest = state.strongest(self.space).T[columns]
            numbers: list[int] = np.count_nonzero(strongest > 0, axis=1).tolist()
            return numbers
        return [int(np.count_nonzero(self.evident(state, topic))) for topic in topics]

    def evident(self, state: "State", topic: str) -> NDArray[np.bool_]:
        """Which users have written anything that speaks for ``topic``, whatever their score.

        A score may be above 0 without it (ENT), or below 0 with it (breadth).
        """
        if not self.mentions:
            return np.ones(len(state), np.bool_)
        if self.space is None:
            return state.word_use().any_used(state.salient(topic))
        found: NDArray[np.bool_] = state.strongest(self.space)[:, state.column(topic)] > 0
        return found


def measure_words(
    risk: Callable[[WordUse, NDArray[np.int64]], Scores], wording: str, lifts: Lifts = ()
) -> Measure:
    """A measure of which salient words each user has used."""
    return Measure(partial(_score_words, risk), mentions=True, wording=wording, lifts=lifts)


def _score_words(
    risk: Callable[[WordUse, NDArray[np.int64]], Scores],
    state: "State",
    topic: str,
    _setting: Setting,
) -> Scores:
    return risk(state.word_use(), state.salient(topic))


def measure_space(
    scores: Callable[..., Scores],
    space: str,
    wording: str,
    lifts: Lifts = (),
    *,
    buckets: bool = False,
) -> Measure:
    """A measure of the strengths in a space; ``scores`` takes the space before all else."""
    several = partial(scores, space)
    return Measure(
        partial(_score_one, several),
        space,
        buckets,
        mentions=True,
        several=several,
        wording=SPACES[space] + wording,
        lifts=lifts,
    )


def _score_one(several: SeveralScoring, state: "State", topic: str, setting: Setting) -> Scores:
    scores: Scores = several(state, (topic,), setting)[0]
    return scores


def check_community(users: int) -> None:
    """Refuse a community in which there is nobody to compare with."""
    if users < 2:  # noqa: PLR2004 - a user and the others
        raise ParameterError(
            f"a community must have at least 2 users, got {users}; a rank needs others."
        )


def on_grid(scores: Scores) -> Scores:
    """The nearest multiples of 2^-40.

    Sums and differences of strengths that are equal on paper differ in their last bits, which
    would part ties in ranks and bands: sqrt(0.2) - sqrt(0.05) and sqrt(0.05) are one number. The
    grid is some thousand times coarser than these errors, so that of some thousand such ties one
    may still be parted, and far finer than any difference that means something. Infinities and
    numbers of 2^12 and more stay as they are.
    """
    placed = np.empty(scores.shape)
    _place(np.ascontiguousarray(scores).reshape(-1), placed.reshape(-1))
    return placed


@kernel
def _place(scores: Scores, placed: Scores) -> None:
    """One long step instead of eight, as rankings on several threads take turns between steps."""
    for user in range(scores.size):
        # Times a power of two is exact.
        nearest = np.rint(scores[user] * _FINE) * _COARSE
        placed[user] = nearest if abs(scores[user]) < _SPACED else scores[user]
