"""Whose posts go round the loop, and what an adversary and a holder publicly know.

A simulated community, or a user's own: posts with their topics, and perhaps truth, background texts
and models. Its word counts are released as documents, a row for each user, or user and week.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.assess.evaluation.metrics import JudgedTopic, judged_topics
from sottovoce.assess.request import Models, Topics, read_models, read_topics
from sottovoce.corpus import schema
from sottovoce.corpus.counts import count_batches
from sottovoce.corpus.read.corpus import Source, open_documents, open_posts, read_truth
from sottovoce.corpus.read.guessed import warned_reading
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.corpus.simulate.community import SimulatedCommunity
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import InputError
from sottovoce.loop.adversary import Knowledge, Training, fit_knowledge, train_knowledge
from sottovoce.topics import Catalogue, Space, Topic, shipped_catalogue

DEFAULT = "default"
UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class StudyCommunity:
    """Posts, and what is known of those who wrote them."""

    level: str
    """The difficulty, ``control``, or the file's name."""
    posts: pa.Table
    judged: tuple[JudgedTopic, ...]
    personas: tuple[NDArray[np.str_], ...]
    """For each judged topic, the persona of each of its users."""


def simulated_community(community: SimulatedCommunity, level: str) -> StudyCommunity:
    """A simulated community as a study sees it."""
    return StudyCommunity(
        level, community.posts, judged_topics(community.truth), name_personas(community.truth)
    )


def simulated_catalogue(community: SimulatedCommunity) -> Catalogue:
    """The topics of the simulated world, as an adversary knows them."""
    return Catalogue(
        tuple(
            Topic(topic.name, topic.words, topic.domain, topic.sensitive)
            for topic in community.topics
        )
    )


def name_personas(truth: pa.Table) -> tuple[NDArray[np.str_], ...]:
    filled = pc.fill_null(truth["persona"], UNKNOWN)
    names = pc.unique(truth["topic"]).to_pylist()
    return tuple(
        np.array(filled.filter(pc.equal(truth["topic"], name)).to_pylist(), dtype=np.str_)
        for name in names
    )


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
    >>> from sottovoce.loop.adversary import Training
    >>> community = sv.simulate(users=60, weeks=2, background_documents=300)
    >>> training = Training(topics=40, iterations=5, burn_in=2)
    >>> subject = simulated_subject(community, training)
    >>> subject.posts.num_rows == community.posts.num_rows
    True
    """
    catalogue = simulated_catalogue(community)
    seed = community.parameters.seed
    texts = community.background["text"]
    knowledge = train_knowledge(texts.to_pylist(), catalogue, training, seed, ("lda",))
    words = public_words(catalogue)
    judged = select_judged(simulated_community(community, DEFAULT).judged, knowledge)
    frequencies = word_frequencies(texts, words)
    return Subject(community.posts, knowledge, catalogue, words, frequencies, judged, seed)


def select_judged(judged: Sequence[JudgedTopic], knowledge: Knowledge) -> tuple[JudgedTopic, ...]:
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


POSTS, TOPICS = "posts.parquet", "topics.toml"
TRUTH, BACKGROUND = "truth.parquet", "background.parquet"
TRAINING = Training(topics=100, iterations=100, burn_in=25)


def read_subject(
    posts: Source,
    *,
    topics: Topics | None = None,
    truth: Source | None = None,
    background: Source | None = None,
    model: Models | None = None,
    reading: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
    seed: int = 0,
) -> Subject:
    """The community of a folder, or of posts with what is named beside them."""
    if isinstance(posts, str | PathLike):
        folder = Path(posts)
        if folder.is_dir():
            topics = folder / TOPICS if topics is None else topics
            truth = _if_there(folder / TRUTH) if truth is None else truth
            background = _if_there(folder / BACKGROUND) if background is None else background
            posts = folder / POSTS
        if not Path(posts).exists():
            raise InputError(f"cannot read {posts}: no such file.")
    catalogue = shipped_catalogue() if topics is None else read_topics(topics)
    words = public_words(catalogue)
    options = warned_reading(posts, schema.POSTS, reading, stacklevel=4)
    table = open_posts(posts, options=options).read_all()
    texts = None if background is None else open_documents(background).read_all()["text"]
    knowledge = _knowledge(read_models(model), texts, catalogue, seed)
    frequencies = None if texts is None else word_frequencies(texts, words)
    judged = () if truth is None else judged_topics(read_truth(truth))
    asked = select_judged(judged, knowledge)
    return Subject(table, knowledge, catalogue, words, frequencies, asked, seed)


def _knowledge(
    models: Sequence[Space], texts: pa.ChunkedArray | None, catalogue: Catalogue, seed: int
) -> Knowledge:
    if models or texts is None:
        return fit_knowledge(models, catalogue)
    return train_knowledge(texts.to_pylist(), catalogue, TRAINING, seed, ("lda",))


def _if_there(path: Path) -> Path | None:
    return path if path.exists() else None
