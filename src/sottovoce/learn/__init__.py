"""One classifier across several holders of private text: state machines without I/O.

Names here are loaded when they are first used: parts of the package need no extra.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sottovoce.learn._examples import LeakError
    from sottovoce.learn._leakage import DroppedFeaturesWarning, PaperModeWarning
    from sottovoce.learn._query_budget import QueryBudgetError
    from sottovoce.learn._run.evaluate import JointEvaluation
    from sottovoce.learn._text_classifier import FederatedTextClassifier
    from sottovoce.learn._train import train
    from sottovoce.learn._trained import TrainedClassifier
    from sottovoce.learn._wire._refusals import TooFewPartiesError
    from sottovoce.learn._wire.machine import Leakage
    from sottovoce.learn._wire.stages import AbortedError
    from sottovoce.learn.estimators import (
        MLossClassifier,
        RadoBoostClassifier,
        RadoDescentClassifier,
        SummedRidgeClassifier,
    )


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
    "AbortedError": "sottovoce.learn._wire.stages",
    "DroppedFeaturesWarning": "sottovoce.learn._leakage",
    "FederatedTextClassifier": "sottovoce.learn._text_classifier",
    "JointEvaluation": "sottovoce.learn._run.evaluate",
    "LeakError": "sottovoce.learn._examples",
    "Leakage": "sottovoce.learn._wire.machine",
    "MLossClassifier": "sottovoce.learn.estimators",
    "PaperModeWarning": "sottovoce.learn._leakage",
    "QueryBudgetError": "sottovoce.learn._query_budget",
    "RadoBoostClassifier": "sottovoce.learn.estimators",
    "RadoDescentClassifier": "sottovoce.learn.estimators",
    "SummedRidgeClassifier": "sottovoce.learn.estimators",
    "TooFewPartiesError": "sottovoce.learn._wire._refusals",
    "TrainedClassifier": "sottovoce.learn._trained",
    "train": "sottovoce.learn._train",
}


def __getattr__(name: str) -> object:
    """A public name, loaded when asked for."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(_WHERE[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
