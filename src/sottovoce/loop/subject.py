"""Whose posts go round the loop, and what an adversary and a holder publicly know.

A simulated community, or a user's own: posts with their topics, and perhaps truth, background texts
and models. Its word counts are released as documents, a row for each user, or user and week.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from os import PathLike
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.assess.assess import Models, Topics, catalogue_of, models_of
from sottovoce.assess.evaluation import JudgedTopic, judged_topics
from sottovoce.assess.evaluation.judged import read_judgements
from sottovoce.assess.setting import Bucket
from sottovoce.corpus import schema
from sottovoce.corpus.counts import count_batches
from sottovoce.corpus.read import ReadOptions, open_documents, open_posts, read_truth
from sottovoce.corpus.read.corpus import Source
from sottovoce.corpus.read.kept_reading import warned_reading
from sottovoce.corpus.simulate import SimulatedCommunity
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import CorpusError, InputError, check_choice
from sottovoce.loop.communities import DEFAULT, simulated_catalogue, simulated_community
from sottovoce.loop.knowledge import Knowledge, Training, fitted, train_knowledge
from sottovoce.release.counts import Counts, checked_counts
from sottovoce.topics import Catalogue, Space, shipped_catalogue

MOST_WORDS = 1000


@dataclass(frozen=True, eq=False)
class Subject:
    """A community as the loop takes it."""

    posts: pa.Table
    knowledge: Knowledge
    catalogue: Catalogue
    """All its topics; the adversary's knowledge may have fewer."""
    words: tuple[str, ...]
    """That are counted and released: a public list."""
    frequencies: Floats | None = None
    """How often the words occur in public texts; None: nobody knows."""
    judged: tuple[JudgedTopic, ...] = ()
    """Who is afflicted, where that is known."""
    seed: int = 0


def simulated_subject(community: SimulatedCommunity, training: Training) -> Subject:
    """A simulated community, with an adversary who has learnt from its background.

    >>> import sottovoce as sv
    >>> community = sv.simulate(users=60, weeks=2, background_documents=300)
    >>> training = sv.loop.Training(topics=40, iterations=5, burn_in=2)
    >>> subject = simulated_subject(community, training)
    >>> subject.posts.num_rows == community.posts.num_rows
    True
    """
    catalogue = simulated_catalogue(community)
    seed = community.parameters.seed
    texts = community.background["text"]
    knowledge = train_knowledge(texts.to_pylist(), catalogue, training, seed, ("lda",))
    words = public_words(catalogue)
    judged = asked_of(simulated_community(community, DEFAULT).judged, knowledge)
    frequencies = word_frequencies(texts, words)
    return Subject(community.posts, knowledge, catalogue, words, frequencies, judged, seed)


def asked_of(judged: Sequence[JudgedTopic], knowledge: Knowledge) -> tuple[JudgedTopic, ...]:
    """The judged topics that the adversary can ask about."""
    asked = {topic.name for topic in knowledge.catalogue.sensitive}
    return tuple(topic for topic in judged if topic.name in asked)


def public_words(catalogue: Catalogue, most: int = MOST_WORDS) -> tuple[str, ...]:
    """The catalogue's single words: public, since the catalogue is.

    Of a large catalogue the first words of every topic, ``most`` in all: readers of a release take
    time with the cube of its words, and lists name the most telling ones first.
    """
    single = [[word for word in topic.words if " " not in word] for topic in catalogue]
    words = dict.fromkeys(word for topic in single for word in topic)
    if len(words) <= most:
        return tuple(words)
    in_turn = (word for line in zip_longest(*single) for word in line if word is not None)
    first = set(list(dict.fromkeys(in_turn))[:most])
    return tuple(word for word in words if word in first)


def word_frequencies(texts: pa.ChunkedArray, words: Sequence[str]) -> Floats:
    """How often each word occurs in public texts; one more, so that none has nothing."""
    counted = count_batches(texts.chunks, Vocabulary.public(words, origin="a public list"))
    occurrences: Floats = np.sum([np.asarray(each.sum(axis=0)) for each in counted], axis=0)
    return occurrences + 1.0


POSTS, TOPICS, TRUTH, BACKGROUND = (
    "posts.parquet",
    "topics.toml",
    "truth.parquet",
    "background.parquet",
)
TRAINING = Training(topics=100, iterations=100, burn_in=25)


@dataclass(frozen=True, eq=False)
class SubjectSources:
    """Where a community and what is publicly known of it come from: files, or what they hold."""

    posts: Source
    topics: Topics
    truth: Source | None = None
    background: Source | None = None
    model: Models | None = None

    @classmethod
    def found(
        cls,
        posts: Source,
        *,
        topics: Topics | None = None,
        truth: Source | None = None,
        background: Source | None = None,
        model: Models | None = None,
    ) -> "SubjectSources":
        """The files of a folder, or posts with what is named beside them."""
        if isinstance(posts, str | PathLike):
            folder = Path(posts)
            if folder.is_dir():
                topics = folder / TOPICS if topics is None else topics
                truth = _if_there(folder / TRUTH) if truth is None else truth
                background = _if_there(folder / BACKGROUND) if background is None else background
                posts = folder / POSTS
            if not Path(posts).exists():
                raise InputError(f"cannot read {posts}: no such file.")
        chosen = shipped_catalogue() if topics is None else topics
        return cls(posts, chosen, truth, background, model)


def subject_of(sources: SubjectSources, reading: ReadOptions, seed: int) -> Subject:
    """The community of some sources, with what an adversary may know of its topics."""
    catalogue = catalogue_of(sources.topics)
    words = public_words(catalogue)
    options = warned_reading(sources.posts, schema.POSTS, reading, stacklevel=4)
    posts = open_posts(sources.posts, options=options).read_all()
    texts = None
    if sources.background is not None:
        texts = open_documents(sources.background).read_all()["text"]
    knowledge = _knowledge(models_of(sources.model), texts, catalogue, seed)
    frequencies = None if texts is None else word_frequencies(texts, words)
    judged = asked_of(_judged(sources.truth), knowledge)
    return Subject(posts, knowledge, catalogue, words, frequencies, judged, seed)


def _knowledge(
    models: Sequence[Space], texts: pa.ChunkedArray | None, catalogue: Catalogue, seed: int
) -> Knowledge:
    if models or texts is None:
        return fitted(models, catalogue)
    return train_knowledge(texts.to_pylist(), catalogue, TRAINING, seed, ("lda",))


def _judged(truth: Source | None) -> tuple[JudgedTopic, ...]:
    if truth is None:
        return ()
    if isinstance(truth, str | PathLike):
        return judged_topics(read_judgements(Path(truth)))
    return judged_topics(read_truth(truth))


def _if_there(path: Path) -> Path | None:
    return path if path.exists() else None


Shape: TypeAlias = Literal["user", "week"]
SHAPES: tuple[Shape, ...] = ("user", "week")
WEEK = Bucket(1, "w")


@dataclass(frozen=True, eq=False)
class UserDocuments:
    """A row a user, or a user and week; whose row it is and of when are public facts."""

    users: pa.Array
    """Everybody with a post, each once."""
    owners: NDArray[np.int64]
    """The place in ``users`` of each row's writer."""
    buckets: NDArray[np.int32]
    """The week of each row; 0 where a row is all that somebody has written."""
    counts: Counts
    words: tuple[str, ...]
    """Of the columns; public."""

    @property
    def rows(self) -> int:
        """How many documents."""
        return len(self.owners)

    def rows_by_user(self) -> NDArray[np.int64]:
        """How many documents each user has: public in any release of this shape."""
        return np.bincount(self.owners, minlength=len(self.users))

    def summed_by_user(self, cells: sparse.csr_array) -> sparse.csr_array:
        """A row a user: the sum of ``cells`` over their documents."""
        return sparse.csr_array(_gathering(self.owners, len(self.users)) @ cells)


def documents_of(posts: pa.Table, words: Sequence[str], shape: Shape) -> UserDocuments:
    """Count ``words`` in the posts of each user, or of each user and week."""
    check_choice("shape", shape, SHAPES)
    if not posts.num_rows:
        raise CorpusError("the loop needs posts, got none.")
    users, keys, row = _documents_of_posts(posts, shape)
    counted = _counted(posts["text"], words)
    counts = checked_counts(sparse.csr_array(_gathering(row, len(keys)) @ counted))
    return UserDocuments(users, keys[:, 0], keys[:, 1].astype(np.int32), counts, tuple(words))


def texts_of(posts: pa.Table, shape: Shape) -> tuple[str, ...]:
    """What stands in each of the documents of `documents_of`, in their order."""
    _, keys, row = _documents_of_posts(posts, shape)
    parts: list[list[str]] = [[] for _ in keys]
    for place, text in zip(row.tolist(), posts["text"].to_pylist(), strict=True):
        parts[place].append(text)
    return tuple(map("\n".join, parts))


def _documents_of_posts(
    posts: pa.Table, shape: Shape
) -> tuple[pa.Array, NDArray[np.int64], NDArray[np.int64]]:
    """All users; the user and week of each document; the document of each post."""
    encoded = pc.dictionary_encode(posts["user"].combine_chunks())
    writers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    weeks = WEEK.numbers(posts["time"].combine_chunks()).astype(np.int64)
    if shape == "user":
        weeks = np.zeros_like(weeks)
    keys, row = np.unique(np.stack([writers, weeks], axis=1), axis=0, return_inverse=True)
    return encoded.dictionary, keys, row.ravel()


def _counted(texts: pa.ChunkedArray, words: Sequence[str]) -> sparse.csr_array:
    vocabulary = Vocabulary.public(words, origin="a public list")
    return sparse.csr_array(sparse.vstack(list(count_batches(texts.chunks, vocabulary))))


def _gathering(places: NDArray[np.int64], size: int) -> sparse.csr_array:
    """The matrix that adds row i to row ``places[i]``."""
    ones = np.ones(len(places), np.int64)
    columns = np.arange(len(places))
    return sparse.csr_array((ones, (places, columns)), shape=(size, len(places)))
