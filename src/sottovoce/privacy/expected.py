"""What noise at a rate will do, for dry runs and cards; figures to read, not on the noise path."""

from fractions import Fraction

from sottovoce.privacy._enclosure import exp_minus
from sottovoce.privacy._laws import Gap
from sottovoce.privacy.exact import Exact, float_up, positive

_BITS = 128


def noise_deviation(rate: Exact) -> float:
    """The standard deviation of a count's noise: sigma^2 = 2 alpha / (1 - alpha)^2."""
    alpha = Fraction(exp_minus(positive(rate, "rate"), _BITS).high, 1 << _BITS)
    return float(float_up(2 * alpha / (1 - alpha) ** 2) ** 0.5)


def zero_cell_chance(rate: Exact, threshold: int | None = None) -> float:
    """How likely a zero cell comes out: 2 alpha/(1 + alpha), or alpha^t/(1 + alpha) from t on."""
    return float_up(Fraction(Gap(positive(rate, "rate"), threshold).chance(_BITS).high, 1 << _BITS))


def expected_nonzeros(cells: int, stored: int, rate: Exact, threshold: int | None = None) -> int:
    """About how many cells a sparse release of ``cells`` with ``stored`` non-zeros will have.

    Shows ``stored``: for the eyes of whoever holds the corpus.
    """
    return stored + round((cells - stored) * zero_cell_chance(rate, threshold))
