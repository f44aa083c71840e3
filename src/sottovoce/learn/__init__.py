"""Learn: one classifier across several holders of private text, each of whom keeps it.

Begin with `train`: one call, which gives back a `TrainedClassifier`. Parties are state machines
without I/O, so that the same ones run in this process and, through `sottovoce.federation`, on
machines of their own.

Where to read on, from the call inwards:

- The calls: `_train`, `_trained`, `_text_classifier` with scikit-learn's conventions, and
  `_estimators`, the learners on one's own rows; `_count_together`, which counts words under noise.
- From what a holder has to rows: `_holders`, `_labels`, `documents`, `_features`,
  `_local_data`.
- From rows to a classifier: `_examples`, `_support` (which features may be opened), `_ridge`, and
  `_rados` for sums of examples under random signs.
- A whole run: `_training_terms`, then `_run`, whose parties talk through `_wire`.
- The two trust modes, each saying who sees what: `open` and `hidden`; and `count`, where a noised
  sum hides whole documents.
- Beneath them: secure sums (`_sums`), Paillier (`_paillier`, its key files under a passphrase by
  `_encrypted_files`), solves that nobody sees (`_solve`), and comparisons of encrypted numbers
  (`_arithmetic`).
- `_attacks`: what our own attacks read from sums that are opened, by `audit_training`.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "AbortedError",
    "DroppedFeaturesWarning",
    "FederatedTextClassifier",
    "JointEvaluation",
    "LeakError",
    "Leakage",
    "MLossClassifier",
    "QueryBudgetError",
    "RadoBoostClassifier",
    "RadoDescentClassifier",
    "SummedRidgeClassifier",
    "TooFewPartiesError",
    "TrainedClassifier",
    "audit_training",
    "train",
]

if TYPE_CHECKING:
    from sottovoce.errors import (
        AbortedError,
        DroppedFeaturesWarning,
        LeakError,
        QueryBudgetError,
        TooFewPartiesError,
    )
    from sottovoce.learn._text_classifier import FederatedTextClassifier
    from sottovoce.learn._train import train
    from sottovoce.learn._trained import TrainedClassifier
    from sottovoce.learn.attacks.training import audit_training
    from sottovoce.learn.estimators import (
        MLossClassifier,
        RadoBoostClassifier,
        RadoDescentClassifier,
        SummedRidgeClassifier,
    )
    from sottovoce.learn.run.evaluate import JointEvaluation
    from sottovoce.learn.wire.message import Leakage
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "AbortedError": "sottovoce.errors",
            "DroppedFeaturesWarning": "sottovoce.errors",
            "FederatedTextClassifier": "sottovoce.learn._text_classifier",
            "JointEvaluation": "sottovoce.learn.run.evaluate",
            "LeakError": "sottovoce.errors",
            "Leakage": "sottovoce.learn.wire.message",
            "MLossClassifier": "sottovoce.learn.estimators",
            "QueryBudgetError": "sottovoce.errors",
            "RadoBoostClassifier": "sottovoce.learn.estimators",
            "RadoDescentClassifier": "sottovoce.learn.estimators",
            "SummedRidgeClassifier": "sottovoce.learn.estimators",
            "TooFewPartiesError": "sottovoce.errors",
            "TrainedClassifier": "sottovoce.learn._trained",
            "audit_training": "sottovoce.learn.attacks.training",
            "train": "sottovoce.learn._train",
        },
        extra="learn",
    )
