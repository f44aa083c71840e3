"""How useful a release still is: topics, latent semantics, classification, sparsity.

The baselines are what the paper compares a release with.
"""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

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
    from sottovoce.release._baselines import (
        LaplaceBaseline,
        LocalGeometricBaseline,
        ProjectionBaseline,
    )
    from sottovoce.release.evaluation._counts import (
        CorpusShape,
        LatentSemantics,
        corpus_shape,
        latent_semantics,
    )
    from sottovoce.release.evaluation._intervals import MeanInterval, mean_interval
    from sottovoce.release.evaluation._topics import (
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
            "CorpusShape": "sottovoce.release.evaluation._counts",
            "LatentSemantics": "sottovoce.release.evaluation._counts",
            "MeanInterval": "sottovoce.release.evaluation._intervals",
            "LaplaceBaseline": "sottovoce.release._baselines",
            "LocalGeometricBaseline": "sottovoce.release._baselines",
            "ProjectionBaseline": "sottovoce.release._baselines",
            "TopicMatch": "sottovoce.release.evaluation._topics",
            "chance_jaccard": "sottovoce.release.evaluation._topics",
            "corpus_shape": "sottovoce.release.evaluation._counts",
            "fit_topics": "sottovoce.release.evaluation._topics",
            "latent_semantics": "sottovoce.release.evaluation._counts",
            "match_topics": "sottovoce.release.evaluation._topics",
            "mean_interval": "sottovoce.release.evaluation._intervals",
            "top_words": "sottovoce.release.evaluation._topics",
            "topic_coherence": "sottovoce.release.evaluation._topics",
            "topic_exclusivity": "sottovoce.release.evaluation._topics",
            "unigram_jaccard": "sottovoce.release.evaluation._topics",
        },
        extra="release",
    )
