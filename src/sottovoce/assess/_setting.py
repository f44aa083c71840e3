"""What a ranking depends on besides the posts, the space and the catalogue."""

from dataclasses import dataclass

from sottovoce.errors import ParameterError, check_choice
from sottovoce.topics._space import Mode

MODES = ("corrected", "paper")


@dataclass(frozen=True)
class Setting:
    """How strengths become risks.

    Attributes:
        k: the share of a domain's topics a broad interest covers (Definition 7).
        m: how many time buckets a lasting interest covers (Definition 8).
        mode: ``paper`` computes what the paper prints; ``corrected`` what it must have meant.

    >>> Setting(k=0.5).m
    3
    """

    k: float = 0.3
    m: int = 3
    mode: Mode = "corrected"

    def __post_init__(self) -> None:
        # Written so that a NaN is refused too.
        if not 0 < self.k <= 1:
            raise ParameterError(f"k must be > 0 and <= 1, got {self.k}.")
        if self.m < 1:
            raise ParameterError(f"m must be >= 1, got {self.m}.")
        check_choice("mode", self.mode, MODES)
