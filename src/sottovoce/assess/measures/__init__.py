"""Risk measures: one file for each definition, and every method of the paper by its name."""

from sottovoce.assess.measures._catalogue import (
    MEASURES,
    PAPER_METHODS,
    Measure,
    chosen_measures,
    known_measures,
)

__all__ = ["MEASURES", "PAPER_METHODS", "Measure", "chosen_measures", "known_measures"]
