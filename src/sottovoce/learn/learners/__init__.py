"""Linear classifiers from rados and from sums; the estimators need scikit-learn."""

from sottovoce.learn.learners.boosting import boosted, boosting_rounds
from sottovoce.learn.learners.choosing import (
    PENALTIES,
    Chosen,
    fold_models,
    local_fold_errors,
    local_fold_sums,
    penalty_from_errors,
    penalty_from_sums,
)
from sottovoce.learn.learners.descent import descended
from sottovoce.learn.learners.evaluation import Evaluation, evaluation_from_sums, local_counts
from sottovoce.learn.learners.mloss import (
    block_minimiser,
    confidence_weights,
    m_loss,
    m_loss_gradient,
    m_loss_minimiser,
)
from sottovoce.learn.learners.ridge import LinearModel, ridge_from_sums, squared_error_from_sums
from sottovoce.learn.learners.statistics import ExampleSums, local_sums
from sottovoce.learn.learners.support import KeptFeatures, kept_from_sums, local_support

__all__ = [
    "PENALTIES",
    "Chosen",
    "Evaluation",
    "ExampleSums",
    "KeptFeatures",
    "LinearModel",
    "block_minimiser",
    "boosted",
    "boosting_rounds",
    "confidence_weights",
    "descended",
    "evaluation_from_sums",
    "fold_models",
    "kept_from_sums",
    "local_counts",
    "local_fold_errors",
    "local_fold_sums",
    "local_sums",
    "local_support",
    "m_loss",
    "m_loss_gradient",
    "m_loss_minimiser",
    "penalty_from_errors",
    "penalty_from_sums",
    "ridge_from_sums",
    "squared_error_from_sums",
]
