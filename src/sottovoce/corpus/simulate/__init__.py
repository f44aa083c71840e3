"""Simulated communities with ground truth, and count data drawn from a known topic model."""

from sottovoce.corpus.simulate._community import CatalogueTopic, SimulatedCommunity
from sottovoce.corpus.simulate._lda import LdaCounts, lda_counts
from sottovoce.corpus.simulate._parameters import (
    DIFFICULTIES,
    Difficulty,
    SimulationParameters,
    difficulty_named,
)
from sottovoce.corpus.simulate._write import (
    CommunitySummary,
    simulate,
    write_community,
    write_files,
)

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
