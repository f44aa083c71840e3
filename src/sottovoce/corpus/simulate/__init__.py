"""Simulated communities with ground truth, and count data drawn from a known topic model."""

from sottovoce.corpus.simulate.community import CatalogueTopic, Community
from sottovoce.corpus.simulate.lda import LdaCounts, lda_counts
from sottovoce.corpus.simulate.parameters import (
    DIFFICULTIES,
    Difficulty,
    SimulationParameters,
    difficulty_named,
)
from sottovoce.corpus.simulate.writing import (
    CommunitySummary,
    simulate,
    write_community,
    write_files,
)

__all__ = [
    "DIFFICULTIES",
    "CatalogueTopic",
    "Community",
    "CommunitySummary",
    "Difficulty",
    "LdaCounts",
    "SimulationParameters",
    "difficulty_named",
    "lda_counts",
    "simulate",
    "write_community",
    "write_files",
]
