"""How useful a release still is: topics, latent semantics, classification, sparsity."""

from sottovoce.release.evaluation.coherence import topic_coherence
from sottovoce.release.evaluation.exclusivity import topic_exclusivity
from sottovoce.release.evaluation.jaccard import (
    TopicMatch,
    chance_jaccard,
    match_topics,
    top_words,
    unigram_jaccard,
)
from sottovoce.release.evaluation.lda import fit_topics
from sottovoce.release.evaluation.semantics import LatentSemantics, latent_semantics
from sottovoce.release.evaluation.shape import CorpusShape, corpus_shape
from sottovoce.release.intervals import Interval, mean_interval

__all__ = [
    "CorpusShape",
    "Interval",
    "LatentSemantics",
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
