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
    tokens = PostTokens.of(community.posts["text"])
    words = {topic.name: topic.words for topic in community.topics}
    counts = [tokens.count(words[name]) for name in community.parameters.sensitive_topics]
    return np.stack([_sum_by_user(community, count) for count in counts])


@dataclass(frozen=True)
class PostTokens:
    """Lower-case words without marks, end to end, as numbers; a bar ends each post."""

    number: dict[str, int]
    words: NDArray[np.int64]
    post: NDArray[np.int64]
    posts: int

    @classmethod
    def of(cls, texts: pa.ChunkedArray) -> "PostTokens":
        plain = pc.replace_substring_regex(pc.utf8_lower(texts), "[,.!?]", "")
        lists = pc.split_pattern(pc.binary_join_element_wise(plain, "|", " "), " ")
        post = np.repeat(np.arange(len(texts)), np.asarray(pc.list_value_length(lists)))
        coded = pc.list_flatten(lists).combine_chunks().dictionary_encode()
        number = {word: place for place, word in enumerate(coded.dictionary.to_pylist())}
        return cls(number, np.asarray(coded.indices).astype(np.int64), post, len(texts))

    def count(self, phrases: tuple[str, ...]) -> NDArray[np.float64]:
        """Count, for every post, all occurrences of any of ``phrases``."""
        total = np.zeros(self.posts)
        for phrase in phrases:
            total += np.bincount(self.post[self._places(phrase.split())], minlength=self.posts)
        return total

    def _places(self, phrase: list[str]) -> NDArray[np.int64]:
        first, *others = (self.number.get(word, -1) for word in phrase)
        places = np.flatnonzero(self.words == first)
        for distance, word in enumerate(others, start=1):
            # A post ends with a bar, so no phrase runs over its end; the last bar needs the clip.
            places = places[self.words.take(places + distance, mode="clip") == word]
        return places


def _sum_by_user(community: Community, values: NDArray[np.float64]) -> NDArray[np.float64]:
    ids = community.truth["user"].unique()
    user = np.asarray(pc.index_in(community.posts["user"], value_set=ids))
    return np.bincount(user, values, len(ids)).astype(np.float64)


def _mean_r_precision(scores: NDArray[np.float64], relevant: NDArray[np.bool_]) -> float:
    return float(np.mean([r_precision(*pair) for pair in zip(scores, relevant, strict=True)]))
