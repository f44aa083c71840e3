"""How far mere counting finds the afflicted: the only yardstick used to choose difficulties."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sottovoce.corpus.counts import count_batches
from sottovoce.corpus.simulate.community import SimulatedCommunity
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules


@dataclass(frozen=True)
class CountingBaselines:
    """R-precision for the afflicted, averaged over sensitive topics, by what is counted."""

    chance: float
    posts: float
    words: float
    salient_words: float


def counting_baselines(community: SimulatedCommunity) -> CountingBaselines:
    """Rank users by number of posts, of words, and of salient words of the topic."""
    flags = afflicted_by_topic(community)
    posts = np.broadcast_to(posts_by_user(community), flags.shape)
    words = np.broadcast_to(words_by_user(community), flags.shape)
    salient = salient_words_by_user(community)
    return CountingBaselines(
        chance=float(flags.mean()),
        posts=_mean_r_precision(posts, flags),
        words=_mean_r_precision(words, flags),
        salient_words=_mean_r_precision(salient, flags),
    )


def r_precision(scores: NDArray[np.float64], relevant: NDArray[np.bool_]) -> float:
    """Precision at r, r = number of relevant entries; expected over orders of ties.

    0 where nothing is relevant.
    """
    r = int(relevant.sum())
    if r == 0:
        return 0.0
    threshold = np.sort(scores)[-r]
    above, tied = scores > threshold, scores == threshold
    share = (r - above.sum()) / tied.sum()
    return float((relevant[above].sum() + share * relevant[tied].sum()) / r)


def afflicted_by_topic(community: SimulatedCommunity) -> NDArray[np.bool_]:
    """Return sensitive topics x users: who is afflicted by what."""
    flags = np.asarray(community.truth["sensitive"])
    return flags.reshape(community.parameters.users, -1).T


def posts_by_user(community: SimulatedCommunity) -> NDArray[np.float64]:
    """Count the posts of every user."""
    return _sum_by_user(community, np.ones(community.posts.num_rows))


def words_by_user(community: SimulatedCommunity) -> NDArray[np.float64]:
    """Count the words of every user."""
    spaces = pc.count_substring(community.posts["text"], " ")
    return _sum_by_user(community, np.asarray(spaces) + 1)


def salient_words_by_user(community: SimulatedCommunity) -> NDArray[np.float64]:
    """Return sensitive topics x users: how often each used a salient word or phrase."""
    words = {topic.name: topic.words for topic in community.topics}
    texts = community.posts["text"]
    counts = [occurrences(texts, words[name]) for name in community.parameters.sensitive_topics]
    return np.stack([_sum_by_user(community, count) for count in counts])


def occurrences(texts: pa.ChunkedArray, terms: tuple[str, ...]) -> NDArray[np.float64]:
    """Count, for every text, all occurrences of any of ``terms``: words, or two in a row."""
    matrices = count_batches(texts.chunks, Vocabulary.public(terms), TokenRules(bigrams=True))
    return np.concatenate([matrix.sum(axis=1) for matrix in matrices]).astype(np.float64)


def _sum_by_user(community: SimulatedCommunity, values: NDArray[np.float64]) -> NDArray[np.float64]:
    ids = community.truth["user"].unique()
    user = np.asarray(pc.index_in(community.posts["user"], value_set=ids))
    return np.bincount(user, values, len(ids)).astype(np.float64)


def _mean_r_precision(scores: NDArray[np.float64], relevant: NDArray[np.bool_]) -> float:
    return float(np.mean([r_precision(*pair) for pair in zip(scores, relevant, strict=True)]))
