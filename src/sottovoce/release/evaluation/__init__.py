"""How useful a release still is: topics, latent semantics, classification, sparsity."""

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

__all__ = [
    "CorpusShape",
    "LatentSemantics",
    "MeanInterval",
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
