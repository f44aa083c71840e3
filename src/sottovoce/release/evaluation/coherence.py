"""Topic coherence (Mimno et al. 2011): do a topic's top words occur in the same documents?"""

import numpy as np

from sottovoce.errors import CorpusError
from sottovoce.release.counts import Counts, Floats, checked_width
from sottovoce.release.evaluation.topics import TOP, top_words


def topic_coherence(phi: Floats, counts: Counts, top: int = TOP) -> float:
    """Mean over topics and pairs l < m of log((D(v_m, v_l) + 1) / D(v_l)).

    D counts the documents of ``counts`` (true text) with the word or both words; v_l is the more
    probable of the two. Pairs whose v_l is in no document say nothing and are left out.
    """
    words = top_words(phi, top)
    checked_width(counts, phi.shape[1], what="word of the topics")
    return float(np.nanmean([_pair_scores(topic, counts) for topic in words]))


def _pair_scores(topic: "np.ndarray[tuple[int], np.dtype[np.int64]]", counts: Counts) -> Floats:
    present = (counts[:, topic] > 0).astype(np.int64)
    together = (present.T @ present).toarray()
    documents = np.diag(together).astype(np.float64)
    if not documents.any():
        raise CorpusError("coherence needs documents with the topics' words; none has any.")
    conditional = np.full(together.shape, np.nan)
    known = documents > 0
    conditional[:, known] = np.log((together[:, known] + 1) / documents[known])
    return conditional[np.tril_indices(len(topic), -1)]
