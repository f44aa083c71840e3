"""How far mere counting finds the afflicted: the only yardstick used to choose difficulties."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sottovoce.corpus.simulate.community import Community


@dataclass(frozen=True)
class CountingBaselines:
    """R-precision for the afflicted, averaged over sensitive topics, by what is counted."""

    chance: float
    posts: float
    words: float
    salient_words: float


def counting_baselines(community: Community) -> CountingBaselines:
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
    """Precision at r, r = number of relevant entries; expected value over orders of ties."""
    r = int(relevant.sum())
    threshold = np.sort(scores)[-r]
    above, tied = scores > threshold, scores == threshold
    share = (r - above.sum()) / tied.sum()
    return float((relevant[above].sum() + share * relevant[tied].sum()) / r)


def afflicted_by_topic(community: Community) -> NDArray[np.bool_]:
    """Return sensitive topics x users: who is afflicted by what."""
    flags = np.asarray(community.truth["sensitive"])
    return flags.reshape(community.parameters.users, -1).T


def posts_by_user(community: Community) -> NDArray[np.float64]:
    """Count the posts of every user."""
    return _sum_by_user(community, np.ones(community.posts.num_rows))


def words_by_user(community: Community) -> NDArray[np.float64]:
    """Count the words of every user."""
    spaces = pc.count_substring(community.posts["text"], " ")
    return _sum_by_user(community, np.asarray(spaces) + 1)


def salient_words_by_user(community: Community) -> NDArray[np.float64]:
    """Return sensitive topics x users: how often each used a salient word or phrase."""
    names = community.parameters.sensitive_topics
    words = {topic.name: topic.words for topic in community.topics}
    texts = _spaced(community.posts["text"])
    return np.stack([_sum_by_user(community, _count_any(texts, words[name])) for name in names])


def _count_any(texts: pa.ChunkedArray, words: tuple[str, ...]) -> NDArray[np.float64]:
    total = np.zeros(len(texts))
    for word in words:
        total += np.asarray(pc.count_substring(texts, f" {word.replace(' ', '  ')} "))
    return total


def _spaced(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Lower case without marks, two spaces between words: neighbours share no space."""
    plain = pc.replace_substring_regex(pc.utf8_lower(texts), "[,.!?]", "")
    return pc.binary_join_element_wise(" ", pc.replace_substring(plain, " ", "  "), " ", "")


def _sum_by_user(community: Community, values: NDArray[np.float64]) -> NDArray[np.float64]:
    ids = community.truth["user"].unique()
    user = np.asarray(pc.index_in(community.posts["user"], value_set=ids))
    return np.bincount(user, values, len(ids))


def _mean_r_precision(scores: NDArray[np.float64], relevant: NDArray[np.bool_]) -> float:
    return float(np.mean([r_precision(*pair) for pair in zip(scores, relevant, strict=True)]))
