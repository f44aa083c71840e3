"""Learn: one classifier across several holders of private text, each of whom keeps it.

Begin with `train`: one call, which gives back a `TrainedClassifier`. Parties are state machines
without I/O, so that the same ones run in this process and, through `sottovoce.federation`, on
machines of their own.

Where to read on, from the call inwards:

- The calls: `_train`, `_trained`, `_text_classifier` with scikit-learn's conventions, and
  `estimators`, the learners on one's own rows; `count_together`, which counts words under noise.
- From what a holder has to rows: `_holders`, `_examples`, `documents`, `features`.
- From rows to a classifier: `support` (which features may be opened), `ridge`, and `rados` for sums
  of examples under random signs.
- A whole run: `training_terms`, then `run`, whose parties talk through `wire`.
- The two trust modes, each saying who sees what, in `modes`; and `count`, where a noised sum hides
  whole documents.
- Beneath them: secure sums (`sums`), Paillier (`paillier`), and solves that nobody sees (`solve`).
- `attacks`: what our own attacks read from sums that are opened, by `audit_training`.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

if TYPE_CHECKING:
    from sottovoce.errors import AbortedError as AbortedError
    from sottovoce.errors import DroppedFeaturesWarning as DroppedFeaturesWarning
    from sottovoce.errors import LeakError as LeakError
    from sottovoce.errors import QueryBudgetError as QueryBudgetError
    from sottovoce.errors import TooFewPartiesError as TooFewPartiesError
    from sottovoce.learn._text_classifier import FederatedTextClassifier as FederatedTextClassifier
    from sottovoce.learn._train import train as train
    from sottovoce.learn._trained import TrainedClassifier as TrainedClassifier
    from sottovoce.learn.attacks.audit import audit_training as audit_training
    from sottovoce.learn.count.reading import counted_topics as counted_topics
    from sottovoce.learn.estimators import MLossClassifier as MLossClassifier
    from sottovoce.learn.estimators import RadoBoostClassifier as RadoBoostClassifier
    from sottovoce.learn.estimators import RadoDescentClassifier as RadoDescentClassifier
    from sottovoce.learn.estimators import SummedRidgeClassifier as SummedRidgeClassifier
    from sottovoce.learn.run.evaluate import JointEvaluation as JointEvaluation
    from sottovoce.learn.wire.message import Leakage as Leakage
else:
    __getattr__, __dir__ = attach(__name__, extra="learn")
