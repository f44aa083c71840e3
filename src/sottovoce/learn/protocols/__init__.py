"""Training and classification across peers, in named trust modes."""

from sottovoce.learn.protocols.budget import QueryBudget, QueryBudgetError
from sottovoce.learn.protocols.modes import DroppedFeaturesWarning, PaperModeWarning, mode_leakage
from sottovoce.learn.protocols.stages import AbortedError
from sottovoce.learn.protocols.terms import ALLOW_RARE, Mode, Recipe, TrainingTerms

__all__ = [
    "ALLOW_RARE",
    "AbortedError",
    "DroppedFeaturesWarning",
    "Mode",
    "PaperModeWarning",
    "QueryBudget",
    "QueryBudgetError",
    "Recipe",
    "TrainingTerms",
    "mode_leakage",
]
