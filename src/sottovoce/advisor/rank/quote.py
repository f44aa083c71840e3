"""What a report would be, before it is one: what a person is told and agrees to."""

import hashlib
from dataclasses import astuple, dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Quote:
    """A report that could be sent now.

    Attributes:
        version: of the server's description.
        mode: ``noise`` or ``shares``.
        topic: what it is about.
        period: the period that runs.
        period_s: how long a period lasts, in seconds.
        bucket: the bucket that would be reported, from 0: that of her score, or of the report
            that she made in this period already.
        buckets: how many there are.
        epsilon: what a report that is not paid for yet costs.
        paid: whether it costs nothing any more.
        repeated: whether she reported in this period already; then it is the same report again.
        left: what is left of her budget before it.
        budget: the whole of it.
    """

    version: str
    mode: str
    topic: str
    period: int
    period_s: int
    bucket: int
    buckets: int
    epsilon: Fraction
    paid: bool
    repeated: bool
    left: Fraction
    budget: Fraction

    @property
    def cost(self) -> Fraction:
        """What it would take of her budget."""
        return Fraction(0) if self.paid else self.epsilon

    @property
    def affordable(self) -> bool:
        """Whether her budget allows it."""
        return self.cost <= self.left

    @property
    def mark(self) -> str:
        """What tells this quote from any other, so that she gets what she agreed to."""
        return hashlib.sha256(repr(astuple(self)).encode()).hexdigest()
