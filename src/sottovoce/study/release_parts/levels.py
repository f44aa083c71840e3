"""Privacy levels as the paper states them and as they truly are."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

Accounting: TypeAlias = Literal["tight", "paper"]

NOTES = (
    (
        "The paper's per-entry budget M epsilon / K gives no (N, epsilon) but (N, M epsilon / K): "
        "10 times weaker than stated on its synthetic data, 68 times on its complaints."
    ),
    (
        "Cases of equal rate have equal true epsilon at every N: compare those only. In the text's "
        "synthetic figures both sides of the first comparison (epsilon 5) truly have rate 5; in "
        "the second (1/2) the compressed side has rate 5 and the uncompressed one 0.05."
    ),
    (
        'The text says that compressed methods "spend a tenth of the total privacy budget": that '
        "is K/M of the synthetic data. For the complaints, of which it speaks, K/M is 1/68."
    ),
    (
        "The text sets compressed N = 10 against uncompressed N = 1 at epsilon 5, and the other "
        "way round at epsilon 1/2; Table 1 has N = 1 at epsilon 5 and N = 10 at 1/2 throughout."
    ),
    (
        "As rates, (N = 10, epsilon = 5) and (N = 1, epsilon = 1/2) are one and the same release, "
        "yet the text prints two Jaccards for it (random 0.281 and 0.201)."
    ),
)


@dataclass(frozen=True)
class Level:
    """A stated (N, epsilon): limited-precision privacy of documents at L1 distance N."""

    epsilon: Fraction
    precision: int

    def rate(self, accounting: Accounting, words: int, columns: int) -> Fraction:
        """Nats per unit of L1: epsilon / N, times M / K when counted as the paper does."""
        weaker = Fraction(words, columns) if accounting == "paper" else Fraction(1)
        return weaker * self.epsilon / self.precision


WEAK, STRONG = Level(Fraction(5), 1), Level(Fraction(1, 2), 10)
MIDDLE = Level(Fraction(1, 2), 1)
