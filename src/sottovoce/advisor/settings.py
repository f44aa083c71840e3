"""What a person may set: how they are scored, and when they want to be told."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sottovoce.assess.alerts import HYSTERESIS
from sottovoce.assess.measures.catalogue import MEASURES, RECOMMENDED
from sottovoce.assess.measures.measure import Measure
from sottovoce.assess.ranking import BANDS
from sottovoce.assess.setting import Bucket
from sottovoce.assess.setting import Setting as Risk
from sottovoce.errors import ParameterError
from sottovoce.topics.space import Mode

_WHOLE = 100
BEST = "recommended"
OWN_AMONG_SIMULATED = "bow-t"
"""Of real posts among made-up people, unless they choose: a model of made-up texts misleads."""


@dataclass(frozen=True)
class AdvisorSetting:
    """How scores are made, and which bands raise an alert.

    Attributes:
        measure: its name, such as ``bow-t``; ``Community.measures`` lists those at hand, of which
            ``recommended`` takes the first that is recommended.
        k: the share of a domain's topics that a broad interest covers (Definition 7).
        m: how many time buckets a lasting interest covers (Definition 8).
        bucket: the time bucket, ``1w``, ``10d`` or ``1mo``.
        thresholds: percentages p; they are alerted when they enter or leave the top p%.
        hysteresis: they leave the top p% only when more than p (1 + h)% stand as high as they do.
        mode: ``corrected``, or ``paper`` for the formulas as printed.
    """

    measure: str = BEST
    k: float = 0.3
    m: int = 3
    bucket: str = "1w"
    thresholds: tuple[int, ...] = BANDS
    hysteresis: float = HYSTERESIS
    mode: Mode = "corrected"

    def __post_init__(self) -> None:
        if self.measure not in MEASURES and self.measure != BEST:
            raise ParameterError(f"measure must be one of {', '.join(MEASURES)}, got another.")
        _ = self.risk, self.buckets
        if not self.thresholds:
            raise ParameterError("thresholds must be at least 1, got none.")
        for percent in self.thresholds:
            if not 0 < percent < _WHOLE:
                raise ParameterError(f"a threshold must be > 0 and < 100 percent, got {percent}.")
        # Written so that a NaN is refused too.
        if not 0 <= self.hysteresis < float("inf"):
            raise ParameterError(f"hysteresis must be >= 0, got {self.hysteresis}.")

    def choose_measure(self, measures: Sequence[str]) -> "AdvisorSetting":
        """The same with a measure of its own: where it asks for the recommended one, that."""
        if self.measure != BEST or not measures:
            return self
        lasting = [name for name in measures if name.endswith("-t")]
        found = [*(name for name in RECOMMENDED if name in measures), *lasting, *measures]
        return replace(self, measure=found[0])

    @property
    def risk(self) -> Risk:
        """As the measures take it."""
        return Risk(self.k, self.m, self.mode)

    @property
    def buckets(self) -> Bucket:
        """The length of time by which posts are grouped."""
        return Bucket.parse(self.bucket)

    def how(self) -> Measure:
        """The measure itself."""
        return MEASURES[self.measure]
