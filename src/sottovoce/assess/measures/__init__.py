"""Risk measures: every method of the paper by its name (``_catalogue``), and its definitions."""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = ["MEASURES", "PAPER_METHODS", "Measure", "chosen_measures", "known_measures"]

if TYPE_CHECKING:
    from sottovoce.assess.measures.catalogue import (
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
            "MEASURES": "sottovoce.assess.measures.catalogue",
            "Measure": "sottovoce.assess.measures.catalogue",
            "PAPER_METHODS": "sottovoce.assess.measures.catalogue",
            "chosen_measures": "sottovoce.assess.measures.catalogue",
            "known_measures": "sottovoce.assess.measures.catalogue",
        },
    )
