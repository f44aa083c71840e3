"""Scores of private releases, gathered over seeds."""

from collections.abc import Sequence

from sottovoce.release.counts import Counts, Floats
from sottovoce.release.evaluation import (
    chance_jaccard,
    corpus_shape,
    latent_semantics,
    match_topics,
    mean_interval,
    topic_coherence,
    topic_exclusivity,
    unigram_jaccard,
)
from sottovoce.study.result import Row


def topic_scores(private: Floats, true: Floats, counts: Counts) -> dict[str, float]:
    """Jaccard, exclusivity and coherence of the private topics; ``counts`` are the true text's."""
    return {
        "jaccard": match_topics(private, true).mean,
        "exclusivity": topic_exclusivity(private),
        "coherence": topic_coherence(private, counts),
    }


def shape_scores(private: Counts) -> dict[str, float]:
    """Sparsity and mean document length."""
    shape = corpus_shape(private)
    return {"sparsity": shape.sparsity, "mean_length": shape.mean_length}


def semantic_scores(
    private: Counts, true: Counts, labels: Sequence[str], *, dimensions: int, seed: int
) -> dict[str, float]:
    """LSA reconstruction error and classification accuracy, with the accuracy of a constant."""
    scores = latent_semantics(private, true, labels, dimensions=dimensions, seed=seed)
    return {
        "lsa_error": scores.error,
        "accuracy": scores.accuracy,
        "accuracy_majority": scores.majority,
    }


def level_scores(true: Floats, counts: Counts) -> dict[str, float]:
    """The Jaccards that say nothing: of random topics, and of the most frequent words alone."""
    frequencies = counts.sum(axis=0).astype(float)
    return {
        "jaccard_chance": chance_jaccard(true.shape[1], true.shape[0]),
        "jaccard_unigram": unigram_jaccard(true, frequencies),
    }


def over_seeds(runs: Sequence[dict[str, float]]) -> Row:
    """Mean and 95% interval of each score: `score`, `score_low`, `score_high`."""
    row: Row = {}
    for name in runs[0]:
        interval = mean_interval([run[name] for run in runs])
        row |= {name: interval.mean, f"{name}_low": interval.low, f"{name}_high": interval.high}
    return row | {"seeds": len(runs)}
