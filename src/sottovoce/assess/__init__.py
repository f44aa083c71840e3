"""Assess: who in a community stands out on a sensitive topic, as a rational adversary sees it."""

from sottovoce.assess.api import score
from sottovoce.assess.buckets import Bucket
from sottovoce.assess.measures import MEASURES, PAPER_METHODS, Measure, known_measures
from sottovoce.assess.ranking import BANDS, RANKS, Ranking, rank
from sottovoce.assess.sampling import sample_users
from sottovoce.assess.scoring import Scoring
from sottovoce.assess.setting import Setting
from sottovoce.assess.state import State, merge, merge_all
from sottovoce.assess.state_file import load_state, save_state

__all__ = [
    "BANDS",
    "MEASURES",
    "PAPER_METHODS",
    "RANKS",
    "Bucket",
    "Measure",
    "Ranking",
    "Scoring",
    "Setting",
    "State",
    "known_measures",
    "load_state",
    "merge",
    "merge_all",
    "rank",
    "sample_users",
    "save_state",
    "score",
]
