"""Risk measures: every method of the paper by its name (``_catalogue``), and its definitions."""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

__all__ = ["MEASURES", "PAPER_METHODS", "Measure", "chosen_measures", "known_measures"]

if TYPE_CHECKING:
    from sottovoce.assess.measures._catalogue import (
        MEASURES,
        PAPER_METHODS,
        Measure,
        chosen_measures,
        known_measures,
    )
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "MEASURES": "sottovoce.assess.measures._catalogue",
            "Measure": "sottovoce.assess.measures._catalogue",
            "PAPER_METHODS": "sottovoce.assess.measures._catalogue",
            "chosen_measures": "sottovoce.assess.measures._catalogue",
            "known_measures": "sottovoce.assess.measures._catalogue",
        },
    )
