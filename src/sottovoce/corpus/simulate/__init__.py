"""Simulated communities with ground truth, and count data drawn from a known topic model.

Begin with `_community`: users (`_people`) get posts with a time and a subject (`_plan`, `_posts`),
which are then worded (`_text`). `_write` has `simulate` and the four files. `_lda` draws counts and
`_query_log` a log of any length for measuring time and memory.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "DIFFICULTIES",
    "CatalogueTopic",
    "CommunitySummary",
    "Difficulty",
    "LdaCounts",
    "SimulatedCommunity",
    "SimulationParameters",
    "difficulty_named",
    "lda_counts",
    "simulate",
    "write_community",
    "write_files",
]

if TYPE_CHECKING:
    from sottovoce.corpus.simulate._lda import LdaCounts, lda_counts
    from sottovoce.corpus.simulate._write import (
        CommunitySummary,
        simulate,
        write_community,
        write_files,
    )
    from sottovoce.corpus.simulate.community import CatalogueTopic, SimulatedCommunity
    from sottovoce.corpus.simulate.parameters import (
        DIFFICULTIES,
        Difficulty,
        SimulationParameters,
        difficulty_named,
    )
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "DIFFICULTIES": "sottovoce.corpus.simulate.parameters",
            "CatalogueTopic": "sottovoce.corpus.simulate.community",
            "CommunitySummary": "sottovoce.corpus.simulate._write",
            "Difficulty": "sottovoce.corpus.simulate.parameters",
            "LdaCounts": "sottovoce.corpus.simulate._lda",
            "SimulatedCommunity": "sottovoce.corpus.simulate.community",
            "SimulationParameters": "sottovoce.corpus.simulate.parameters",
            "difficulty_named": "sottovoce.corpus.simulate.parameters",
            "lda_counts": "sottovoce.corpus.simulate._lda",
            "simulate": "sottovoce.corpus.simulate._write",
            "write_community": "sottovoce.corpus.simulate._write",
            "write_files": "sottovoce.corpus.simulate._write",
        },
    )
