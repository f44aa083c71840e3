"""One classifier across several holders of private text: state machines without I/O.

Names here are loaded when they are first used: parts of the package need no extra.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sottovoce.learn.examples import LeakError
    from sottovoce.learn.learners.estimators import (
        MLossClassifier,
        RadoBoostClassifier,
        RadoDescentClassifier,
        SummedRidgeClassifier,
    )
    from sottovoce.learn.party.leakage import Leakage
    from sottovoce.learn.party.refusals import TooFewPartiesError
    from sottovoce.learn.protocols.budget import QueryBudgetError
    from sottovoce.learn.protocols.modes import DroppedFeaturesWarning, PaperModeWarning
    from sottovoce.learn.protocols.stages import AbortedError
    from sottovoce.learn.protocols.trained import TrainedClassifier
    from sottovoce.learn.protocols.training import train
    from sottovoce.learn.runs.evaluating import JointEvaluation
    from sottovoce.learn.text_classifier import FederatedTextClassifier

__all__ = [
    "AbortedError",
    "DroppedFeaturesWarning",
    "FederatedTextClassifier",
    "JointEvaluation",
    "LeakError",
    "Leakage",
    "MLossClassifier",
    "PaperModeWarning",
    "QueryBudgetError",
    "RadoBoostClassifier",
    "RadoDescentClassifier",
    "SummedRidgeClassifier",
    "TooFewPartiesError",
    "TrainedClassifier",
    "train",
]
_WHERE = {
    "AbortedError": "sottovoce.learn.protocols.stages",
    "DroppedFeaturesWarning": "sottovoce.learn.protocols.modes",
    "FederatedTextClassifier": "sottovoce.learn.text_classifier",
    "JointEvaluation": "sottovoce.learn.runs.evaluating",
    "LeakError": "sottovoce.learn.examples",
    "Leakage": "sottovoce.learn.party.leakage",
    "MLossClassifier": "sottovoce.learn.learners.estimators",
    "PaperModeWarning": "sottovoce.learn.protocols.modes",
    "QueryBudgetError": "sottovoce.learn.protocols.budget",
    "RadoBoostClassifier": "sottovoce.learn.learners.estimators",
    "RadoDescentClassifier": "sottovoce.learn.learners.estimators",
    "SummedRidgeClassifier": "sottovoce.learn.learners.estimators",
    "TooFewPartiesError": "sottovoce.learn.party.refusals",
    "TrainedClassifier": "sottovoce.learn.protocols.trained",
    "train": "sottovoce.learn.protocols.training",
}


def __getattr__(name: str) -> object:
    """A public name, loaded when asked for."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(_WHERE[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
