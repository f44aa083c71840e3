"""How well a ranking finds the sensitive users: metrics, intervals, tests and baselines."""

from sottovoce.assess.evaluation.average_precision import average_precision
from sottovoce.assess.evaluation.baselines import (
    Volumes,
    baseline_scores,
    count_volumes,
    entropy_scores,
    volume_scores,
)
from sottovoce.assess.evaluation.bootstrap import (
    Difference,
    Interval,
    bootstrap_metrics,
    paired_difference,
    percentile_interval,
)
from sottovoce.assess.evaluation.evaluate import Comparison, Evaluated, Evaluation, evaluate
from sottovoce.assess.evaluation.judged import (
    JudgedTopic,
    Scores,
    constant_scores,
    judged_topics,
    scores_by_measure,
    user_rows,
)
from sottovoce.assess.evaluation.metrics import (
    METRICS,
    TopicMetrics,
    averaged,
    metrics_by_topic,
    topic_metrics,
)
from sottovoce.assess.evaluation.ndcg import ndcg
from sottovoce.assess.evaluation.paired_tests import (
    PairedTest,
    holm,
    paired_t,
    paired_test,
    sign_flip_p,
    user_hits,
)
from sottovoce.assess.evaluation.precision import precision_at
from sottovoce.assess.evaluation.r_precision import (
    expected_hits,
    hits_of_sensitive_users,
    r_precision,
)
from sottovoce.assess.evaluation.strata import StratifiedTest, stratified_test, volume_strata
from sottovoce.assess.evaluation.ties import TiedRanking, TieOrder, tie_order, tied_ranking

__all__ = [
    "METRICS",
    "Comparison",
    "Difference",
    "Evaluated",
    "Evaluation",
    "Interval",
    "JudgedTopic",
    "PairedTest",
    "Scores",
    "StratifiedTest",
    "TieOrder",
    "TiedRanking",
    "TopicMetrics",
    "Volumes",
    "average_precision",
    "averaged",
    "baseline_scores",
    "bootstrap_metrics",
    "constant_scores",
    "count_volumes",
    "entropy_scores",
    "evaluate",
    "expected_hits",
    "hits_of_sensitive_users",
    "holm",
    "judged_topics",
    "metrics_by_topic",
    "ndcg",
    "paired_difference",
    "paired_t",
    "paired_test",
    "percentile_interval",
    "precision_at",
    "r_precision",
    "scores_by_measure",
    "sign_flip_p",
    "stratified_test",
    "tie_order",
    "tied_ranking",
    "topic_metrics",
    "user_hits",
    "user_rows",
    "volume_scores",
    "volume_strata",
]
