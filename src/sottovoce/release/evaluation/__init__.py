"""How useful a release still is: topics, latent semantics, classification, sparsity.

The baselines are what the paper compares a release with.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "CorpusShape",
    "LaplaceBaseline",
    "LatentSemantics",
    "LocalGeometricBaseline",
    "MeanInterval",
    "ProjectionBaseline",
    "TopicMatch",
    "chance_jaccard",
    "corpus_shape",
    "fit_topics",
    "latent_semantics",
    "match_topics",
    "mean_interval",
    "top_words",
    "topic_coherence",
    "topic_exclusivity",
    "unigram_jaccard",
]

if TYPE_CHECKING:
    from sottovoce.release.baselines import (
        LaplaceBaseline,
        LocalGeometricBaseline,
        ProjectionBaseline,
    )
    from sottovoce.release.evaluation.counts import (
        CorpusShape,
        LatentSemantics,
        corpus_shape,
        latent_semantics,
    )
    from sottovoce.release.evaluation.intervals import MeanInterval, mean_interval
    from sottovoce.release.evaluation.topics import (
        TopicMatch,
        chance_jaccard,
        fit_topics,
        match_topics,
        top_words,
        topic_coherence,
        topic_exclusivity,
        unigram_jaccard,
    )
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "CorpusShape": "sottovoce.release.evaluation.counts",
            "LatentSemantics": "sottovoce.release.evaluation.counts",
            "MeanInterval": "sottovoce.release.evaluation.intervals",
            "LaplaceBaseline": "sottovoce.release.baselines",
            "LocalGeometricBaseline": "sottovoce.release.baselines",
            "ProjectionBaseline": "sottovoce.release.baselines",
            "TopicMatch": "sottovoce.release.evaluation.topics",
            "chance_jaccard": "sottovoce.release.evaluation.topics",
            "corpus_shape": "sottovoce.release.evaluation.counts",
            "fit_topics": "sottovoce.release.evaluation.topics",
            "latent_semantics": "sottovoce.release.evaluation.counts",
            "match_topics": "sottovoce.release.evaluation.topics",
            "mean_interval": "sottovoce.release.evaluation.intervals",
            "top_words": "sottovoce.release.evaluation.topics",
            "topic_coherence": "sottovoce.release.evaluation.topics",
            "topic_exclusivity": "sottovoce.release.evaluation.topics",
            "unigram_jaccard": "sottovoce.release.evaluation.topics",
        },
        extra="release",
    )
