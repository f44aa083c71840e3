"""Where a person stands for one topic, as an adversary who ranks the community sees it."""

from dataclasses import dataclass

BANDS = (1, 5, 10, 25, 50)
"""Top 1% to 50%: the bands in which a standing is told."""
REST = "lower half"
_WHOLE = 100


@dataclass(frozen=True)
class Uncertainty:
    """How far her place rests on single posts.

    Let s be her score and s(i) her score without post i, both exact, over her n posts. ``low`` and
    ``high`` are the best and the worst place, ties included, among s and all s(i): "had any one of
    your posts not been written, you would stand between". ``score_low`` and ``score_high`` are the
    least and the largest of s and all s(i). ``score_error`` is the jackknife's standard error,
    sqrt((n-1)/n sum_i (s(i) - mean)^2); 0 for who has one post, which says nothing. A maximum is
    not smooth, so this is a scale, not an interval with a coverage. Where the community is known by
    a histogram only, ``low`` and ``high`` also hold what the histogram leaves open.
    """

    low: int
    high: int
    score_low: float
    score_high: float
    score_error: float
    posts: int


@dataclass(frozen=True)
class Standing:
    """A score for one topic and the place it gives; None throughout for who has no post left.

    ``low`` is her place when all are ordered by decreasing score, equal scores sharing the better
    one (R-Susceptibility, section 2.4); ``high`` is the last place of those who score as she does:
    so many users score at least as high, she included. From a histogram they bound these.
    """

    topic: str
    domain: str
    measure: str
    users: int
    score: float | None = None
    low: int | None = None
    high: int | None = None
    surely: int | None = None
    """At least so many users score as high as she does; ``high`` where the community is known."""
    strength: float | None = None
    """None where the measure looks at words, not at closeness; so are the next two."""
    breadth: float | None = None
    persistence: float | None = None
    uncertainty: Uncertainty | None = None

    @property
    def present(self) -> bool:
        """Whether she has any post."""
        return self.score is not None

    @property
    def band(self) -> str:
        """The narrowest band that surely holds her: ``top 5%``, or ``lower half``."""
        return band_of(self.high, self.users)

    @property
    def best_band(self) -> str:
        """The narrowest band that may hold her; it differs from ``band`` for a histogram only."""
        return band_of(self.surely, self.users)

    @property
    def percent(self) -> float | None:
        """The share of users who score at least as high as she does, in percent."""
        return None if self.high is None else _WHOLE * self.high / self.users

    @property
    def unsure(self) -> bool:
        """Whether several bands may hold her; then ``band`` is the widest of them."""
        return self.best_band != self.band

    def may_be_within(self, percent: int) -> bool:
        """Whether she is in the top ``percent`` as far as is known: `within`, or it is open."""
        least = self.high if self.surely is None else self.surely
        return least is not None and least * _WHOLE <= percent * self.users

    def within(self, percent: int) -> bool:
        """Whether she is in the top ``percent``: at most so many score as high as she does."""
        return self.high is not None and self.high * _WHOLE <= percent * self.users


def band_of(at_least: int | None, users: int) -> str:
    """The narrowest band of who has ``at_least`` users scoring as high, she included."""
    if at_least is not None:
        for percent in BANDS:
            if at_least * _WHOLE <= percent * users:
                return f"top {percent}%"
    return REST
