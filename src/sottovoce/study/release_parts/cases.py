"""One case of a study: a method at a stated privacy level, in one accounting."""

from dataclasses import dataclass
from fractions import Fraction

from sottovoce.study.release_parts.levels import Accounting, Level
from sottovoce.study.result import Row

ACCOUNTINGS: tuple[Accounting, ...] = ("tight", "paper")
TRUE_TEXT: Row = {
    "method": "true text",
    "accounting": None,
    "stated_epsilon": None,
    "precision": None,
    "true_epsilon": None,
    "rate": None,
}


@dataclass(frozen=True)
class Case:
    """A method, what is said of its privacy, and who says it."""

    method: str
    level: Level
    accounting: Accounting

    def rate(self, words: int, columns: int) -> Fraction:
        """The true total rate, the same for every method of one level and accounting."""
        return self.level.rate(self.accounting, words, columns)

    def labels(self, rate: Fraction) -> Row:
        """The stated privacy beside the true one; without compression nothing is misstated."""
        true_epsilon = rate * self.level.precision
        stated = true_epsilon if self.method == "none" else self.level.epsilon
        return {
            "method": self.method,
            "accounting": self.accounting,
            "stated_epsilon": float(stated),
            "precision": self.level.precision,
            "true_epsilon": float(true_epsilon),
            "rate": float(rate),
        }
