"""Count data drawn from latent Dirichlet allocation, with the model that it was drawn from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

ROWS_AT_ONCE = 8192


@dataclass(frozen=True)
class LdaCounts:
    """``counts`` is documents x words; the rows of the other two are distributions."""

    counts: sparse.csr_array
    topic_words: NDArray[np.float64]
    document_topics: NDArray[np.float64]


def lda_counts(
    documents: int = 1000,
    *,
    topics: int = 10,
    vocabulary: int = 100,
    alpha: float = 0.1,
    beta: float = 0.1,
    mean_length: float = 100.0,
    seed: int = 0,
) -> LdaCounts:
    """Draw word counts of ``documents`` from plain LDA.

    phi_t ~ Dirichlet(beta), theta_d ~ Dirichlet(alpha), length_d ~ Poisson(mean_length), and
    given these the words of a document are independent: its counts are
    Multinomial(length_d, theta_d phi).
    """
    model_rng, length_rng, word_rng = (
        np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(3)
    )
    topic_words = model_rng.dirichlet(np.full(vocabulary, beta), topics)
    document_topics = model_rng.dirichlet(np.full(topics, alpha), documents)
    lengths = length_rng.poisson(mean_length, documents)
    blocks = [
        _draw_counts(lengths[rows], document_topics[rows] @ topic_words, word_rng)
        for rows in (slice(at, at + ROWS_AT_ONCE) for at in range(0, documents, ROWS_AT_ONCE))
    ]
    return LdaCounts(sparse.vstack(blocks, format="csr"), topic_words, document_topics)


def _draw_counts(
    lengths: NDArray[np.int64], shares: NDArray[np.float64], rng: np.random.Generator
) -> sparse.csr_array:
    normal = shares / shares.sum(axis=1, keepdims=True)
    return sparse.csr_array(rng.multinomial(lengths, normal).astype(np.int32))
