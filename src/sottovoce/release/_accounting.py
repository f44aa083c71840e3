"""What noise a stated guarantee gets, and what that noise truly promises.

Limited-Precision Release, Theorem 1, and what is true of it instead.
Tight: A maps M words to K columns, one 1 per row, so ||(y - y')A||_1 <= ||y - y'||_1, and noise at
r = epsilon / N on the columns is (N, epsilon)-limited-precision private.
Paper (section 4): each column gets the budget epsilon' = M epsilon / K, stated as epsilon. The true
guarantee is (N, M epsilon / K): 10 times weaker than stated on the paper's synthetic data, 68 times
on its complaints. Only for reproduction; ledgers and cards take `true`.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from sottovoce.errors import ParameterError
from sottovoce.privacy._guarantee import LimitedPrecision

Accounting: TypeAlias = Literal["tight", "paper"]


@dataclass(frozen=True)
class Accounted:
    """A stated guarantee and the true one; they are equal but in paper accounting."""

    stated: LimitedPrecision
    true: LimitedPrecision

    @property
    def noise_rate(self) -> Fraction:
        """The rate of the noise on every column."""
        return self.true.rate


def account(
    stated: LimitedPrecision, accounting: Accounting, *, words: int, columns: int
) -> Accounted:
    """The truth about ``stated`` when ``words`` words are compressed to ``columns`` columns."""
    if not 1 <= columns <= words:
        raise ParameterError(f"columns must lie between 1 and the {words} words, got {columns}.")
    if accounting == "tight":
        return Accounted(stated, stated)
    if accounting != "paper":
        raise ParameterError("accounting must be 'tight' or 'paper'.")
    epsilon = stated.epsilon * Fraction(words, columns)
    return Accounted(stated, LimitedPrecision(stated.n, epsilon, stated.unit))
