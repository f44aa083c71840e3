"""A simulated community on disk: four files, written all or none."""

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sottovoce.corpus.counts import count_batches
from sottovoce.corpus.simulate.community import CatalogueTopic, SimulatedCommunity, draw_community
from sottovoce.corpus.simulate.parameters import SimulationParameters, difficulty_named
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.files import output_folder, whole_file
from sottovoce.parsing import toml_table

POSTS_FILE = "posts.parquet"
TRUTH_FILE = "truth.parquet"
BACKGROUND_FILE = "background.parquet"
TOPICS_FILE = "topics.toml"


@dataclass(frozen=True)
class CommunitySummary:
    """What was written, in numbers; ``personas`` counts users by role over all topics."""

    folder: Path
    users: int
    weeks: int
    posts: int
    background_documents: int
    topics: int
    sensitive_topics: tuple[str, ...]
    personas: dict[str, int]


def simulate(
    parameters: SimulationParameters = SimulationParameters(),  # noqa: B008 - frozen
    *,
    folder: str | PathLike[str] | None = None,
    **changes: Any,  # noqa: ANN401 - each field of SimulationParameters has its type there
) -> SimulatedCommunity:
    """A simulated community with known personas; equal parameters give equal communities.

    What ``sottovoce simulate`` does. ``changes`` are fields of `SimulationParameters`: users,
    weeks, seed, difficulty (its name will do), control and more. With a ``folder`` it is written
    there too: posts.parquet, truth.parquet, background.parquet and topics.toml.

    >>> import sottovoce as sv
    >>> sv.simulate(users=60, weeks=2, seed=7, difficulty="easy", background_documents=10)
    SimulatedCommunity(users=60, posts=156, background_documents=10, topics=46)
    """
    if isinstance(named := changes.get("difficulty"), str):
        changes["difficulty"] = difficulty_named(named)
    community = draw_community(replace(parameters, **changes))
    if folder is not None:
        write_files(Path(folder), community)
    return community


def write_community(folder: Path, parameters: SimulationParameters) -> CommunitySummary:
    """Simulate a community and write it into ``folder``."""
    community = draw_community(parameters)
    write_files(folder, community)
    return _summary(folder, community)


def write_files(folder: Path, community: SimulatedCommunity) -> None:
    """Write the four files of a community.

    All are finished under temporary names before the first gets its final name.
    """
    output_folder(folder)
    with ExitStack() as staged:
        posts = staged.enter_context(whole_file(folder / POSTS_FILE))
        truth = staged.enter_context(whole_file(folder / TRUTH_FILE, private=True))
        background = staged.enter_context(whole_file(folder / BACKGROUND_FILE))
        topics = staged.enter_context(whole_file(folder / TOPICS_FILE))
        pq.write_table(community.posts, posts, compression="zstd")
        pq.write_table(community.truth, truth, compression="zstd")
        pq.write_table(community.background, background, compression="zstd")
        topics.write_text(topics_toml(community.topics), encoding="utf-8")


def topics_toml(topics: Iterable[CatalogueTopic]) -> str:
    """Return the catalogue as TOML: an array of tables ``topic``."""
    tables = [toml_table("[[topic]]", asdict(topic), word_a_line=True) for topic in topics]
    return "\n".join(tables)


def _summary(folder: Path, community: SimulatedCommunity) -> CommunitySummary:
    parameters = community.parameters
    topics = parameters.sensitive_topics
    roles = {role: count * len(topics) for role, count in parameters.role_counts.items()}
    return CommunitySummary(
        folder=folder,
        users=parameters.users,
        weeks=parameters.weeks,
        posts=community.posts.num_rows,
        background_documents=community.background.num_rows,
        topics=len(community.topics),
        sensitive_topics=topics,
        personas={**roles, "bystander": parameters.users - sum(roles.values())},
    )


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
