"""The five numbers of tables 4 and 5, for one measure over all its topics."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from sottovoce.assess.evaluation.average_precision import average_precision
from sottovoce.assess.evaluation.judged import JudgedTopic, Scores
from sottovoce.assess.evaluation.ndcg import ndcg
from sottovoce.assess.evaluation.precision import precision_at
from sottovoce.assess.evaluation.r_precision import expected_hits
from sottovoce.assess.evaluation.ties import Floats, TiedRanking, tied_ranking

METRICS = ("r_precision_micro", "r_precision_macro", "precision_at_5", "map", "ndcg")


@dataclass(frozen=True, eq=False)
class TopicMetrics:
    """One topic's metrics; arrays where the ranking has repetitions."""

    hits: Floats
    sensitive: Floats
    precision_at_5: Floats
    average_precision: Floats
    ndcg: Floats

    @property
    def r_precision(self) -> Floats:
        """Precision at the number of sensitive users."""
        return self.hits / self.sensitive

    @classmethod
    def joined(cls, parts: Sequence["TopicMetrics"]) -> "TopicMetrics":
        """Repetitions one after the other."""
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def topic_metrics(ranking: TiedRanking, ideal: TiedRanking) -> TopicMetrics:
    """All metrics of one ranking; ``ideal`` ranks the same users by grade."""
    return TopicMetrics(
        hits=expected_hits(ranking),
        sensitive=ranking.relevant.sum(axis=-1),
        precision_at_5=precision_at(ranking, 5),
        average_precision=average_precision(ranking),
        ndcg=ndcg(ranking, ideal),
    )


def metrics_by_topic(judged: Sequence[JudgedTopic], scores: Scores) -> list[TopicMetrics]:
    """The metrics of each topic of one measure."""
    return [
        topic_metrics(
            tied_ranking(own, topic.sensitive, topic.grades),
            tied_ranking(topic.grades, topic.sensitive, topic.grades),
        )
        for topic, own in zip(judged, scores, strict=True)
    ]


def averaged(topics: Sequence[TopicMetrics]) -> Mapping[str, Floats]:
    """Over topics: R-precision by users (micro) and by topics (macro), the others by topics."""
    hits, sensitive = _stacked(t.hits for t in topics), _stacked(t.sensitive for t in topics)
    return {
        "r_precision_micro": hits.sum(axis=0) / sensitive.sum(axis=0),
        "r_precision_macro": (hits / sensitive).mean(axis=0),
        "precision_at_5": _stacked(t.precision_at_5 for t in topics).mean(axis=0),
        "map": _stacked(t.average_precision for t in topics).mean(axis=0),
        "ndcg": _stacked(t.ndcg for t in topics).mean(axis=0),
    }


def _stacked(values: Iterable[Floats]) -> Floats:
    return np.stack(list(values))
