"""Public score buckets: which one a score falls into is worked out where the score is."""

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

from sottovoce.errors import ParameterError

BUCKETS = 20
FEWEST_BUCKETS, MOST_BUCKETS = 2, 200
_SPACES = {"bow": (0.0, 1.0), "lda": (0.0, 1.0), "voice": (0.0, 1.0), "w2v": (-1.0, 1.0)}


@dataclass(frozen=True)
class Buckets:
    """Buckets between ``edges``: bucket j holds the scores from edge j - 1 on, and below edge j.

    The lowest bucket is open below and the highest above, so that every score has one, an infinite
    one too. The more exposed a person is, the higher their bucket.
    """

    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        check_number(len(self.edges) + 1)
        if not all(map(math.isfinite, self.edges)):
            raise ParameterError("the edges of buckets must be finite numbers.")
        if any(below >= above for below, above in pairwise(self.edges)):
            raise ParameterError("the edges of buckets must increase.")

    @classmethod
    def even(cls, low: float, high: float, number: int = BUCKETS) -> "Buckets":
        """``number`` buckets of one width between ``low`` and ``high``."""
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ParameterError(f"a range of scores must go up, got {low:g} to {high:g}.")
        check_number(number)
        return cls(tuple(low + (high - low) * j / number for j in range(1, number)))

    @property
    def number(self) -> int:
        """How many buckets there are."""
        return len(self.edges) + 1

    def of(self, score: float) -> int:
        """The bucket of ``score``, from 0."""
        if math.isnan(score):
            raise ParameterError("a score must be a number, got none.")
        return bisect_right(self.edges, score)


def check_number(buckets: int) -> None:
    """Refuse a number of buckets that no server has."""
    if not FEWEST_BUCKETS <= buckets <= MOST_BUCKETS:
        raise ParameterError(
            f"there must be {FEWEST_BUCKETS} to {MOST_BUCKETS} buckets, got {buckets}."
        )


def score_range(measure: str) -> tuple[float, float]:
    """Between which bounds the scores of ``measure`` lie.

    Strengths are cosines; breadth of interest, another cosine, is taken off in -D and -DT.
    """
    space, _, variant = measure.partition("-")
    if space not in _SPACES or variant not in {"", "d", "t", "dt"}:
        raise ParameterError(
            f"the measure {measure!r} has no bounds that are known beforehand; give a range, or "
            f"one of {', '.join(_SPACES)}, each also with -d, -t or -dt."
        )
    low, high = _SPACES[space]
    return (low - high, high - low) if variant.startswith("d") else (low, high)
