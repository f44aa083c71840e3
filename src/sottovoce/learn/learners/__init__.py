"""Linear classifiers from rados and from sums; the estimators need scikit-learn."""

from sottovoce.learn.learners.block_choosing import (
    BLOCK_PENALTIES,
    block_trials,
    local_fold_blocks,
    local_trial_errors,
)
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
from sottovoce.learn.learners.support import (
    KeptFeatures,
    all_kept,
    kept_from_fold_sums,
    kept_from_sums,
    local_fold_support,
    local_rare_support,
    local_support,
    merged_from_sums,
)

__all__ = [
    "BLOCK_PENALTIES",
    "PENALTIES",
    "Chosen",
    "Evaluation",
    "ExampleSums",
    "KeptFeatures",
    "LinearModel",
    "all_kept",
    "block_minimiser",
    "block_trials",
    "boosted",
    "boosting_rounds",
    "confidence_weights",
    "descended",
    "evaluation_from_sums",
    "fold_models",
    "kept_from_fold_sums",
    "kept_from_sums",
    "local_counts",
    "local_fold_blocks",
    "local_fold_errors",
    "local_fold_sums",
    "local_fold_support",
    "local_rare_support",
    "local_sums",
    "local_support",
    "local_trial_errors",
    "m_loss",
    "m_loss_gradient",
    "m_loss_minimiser",
    "merged_from_sums",
    "penalty_from_errors",
    "penalty_from_sums",
    "ridge_from_sums",
    "squared_error_from_sums",
]
