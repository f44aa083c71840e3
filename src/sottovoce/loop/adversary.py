"""What an adversary knows, and whom they find in a release.

The strong ones read it as whoever it is made for does: what a cell says of its count, scored as
posts are; the likelihood of a person's cells if they concern a topic (`_reading`), with the
topic's words from public knowledge or learnt from the release.

The simple ones score word counts as they would score posts. They take a published cell as it is,
or through the law of the noise: z = c + Z with P(Z = z) proportional to alpha^|z|, alpha =
exp(-rate). They take counts of a column to be geometric, P(c) proportional to q^c, with the mean
that the published column has (noise has mean 0, so that is an unbiased estimate), and compute
E[c | z].
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.assess.measures.measure import Measure
from sottovoce.assess.scores import Scoring
from sottovoce.assess.setting import Setting
from sottovoce.assess.state.state import State
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import NothingFitsError, ParameterError
from sottovoce.loop._reading import Reading, ratios_of, recurring_interest, summed_interest
from sottovoce.loop.documents import WEEK, UserDocuments
from sottovoce.release.counts import Counts
from sottovoce.topics import (
    Catalogue,
    LdaParameters,
    SkipGramParameters,
    Space,
    Topic,
    train_lda,
    train_skip_gram,
)
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.match import match_model
from sottovoce.topics.space import PostScorer


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Models, and the topics they are asked about."""

    spaces: tuple[Space, ...]
    catalogue: Catalogue
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Training:
    """How large the models are, and how long they are trained.

    >>> Training(topics=50).words()
    'LDA of 50 topics, 150 iterations; skip-gram of 500 dimensions, 10 epochs'
    """

    topics: int = 100
    iterations: int = 150
    burn_in: int = 50
    dimensions: int = 500
    epochs: int = 10

    def words(self) -> str:
        """In words, for notes."""
        return (
            f"LDA of {self.topics} topics, {self.iterations} iterations; skip-gram of "
            f"{self.dimensions} dimensions, {self.epochs} epochs"
        )


def train_knowledge(
    texts: Sequence[str],
    catalogue: Catalogue,
    training: Training,
    seed: int,
    spaces: Sequence[str] = ("w2v", "lda"),
) -> Knowledge:
    """Learn ``spaces`` from background texts; one worker, so that a seed gives one result."""
    models: list[Space] = []
    if "w2v" in spaces:
        vectors = SkipGramParameters(
            dimensions=training.dimensions, epochs=training.epochs, seed=seed, workers=1
        )
        models.append(train_skip_gram(texts, vectors))
    if "lda" in spaces:
        latent = LdaParameters(
            topics=training.topics,
            iterations=training.iterations,
            burn_in=training.burn_in,
            seed=seed,
            workers=1,
        )
        models.append(train_lda(texts, latent))
    return fit_knowledge(models, catalogue)


def fit_knowledge(spaces: Sequence[Space], catalogue: Catalogue) -> Knowledge:
    """Match the catalogue to the latent model, if there is one and nobody has matched it yet.

    Only topics of a sensitive topic's domain are kept: no measure looks at any other.
    """
    if not catalogue.sensitive:
        raise ParameterError("the catalogue must have at least 1 sensitive topic, got none.")
    notes: tuple[str, ...] = ()
    latent = [space for space in spaces if isinstance(space, LdaModel)]
    if latent and catalogue.model != latent[0].fingerprint:
        matching = match_model(catalogue, latent[0])
        if not any(topic.sensitive and topic.dimensions for topic in matching.catalogue):
            raise NothingFitsError("no sensitive topic of the catalogue is in the latent model.")
        catalogue = matching.without_unmatched()
        notes = tuple(
            f"Nothing in the latent model fits the topic {each.topic!r}; it is left out."
            for each in matching.unmatched
        )
    return Knowledge(tuple(spaces), keep_domains(catalogue), notes)


def keep_domains(catalogue: Catalogue) -> Catalogue:
    """The topics that share a domain with a sensitive one."""
    domains = {topic.domain for topic in catalogue.sensitive}
    kept = tuple(topic for topic in catalogue if topic.domain in domains)
    return Catalogue(kept, catalogue.model)


_PRIOR = 0.1


def public_profiles(knowledge: Knowledge, words: tuple[str, ...]) -> Floats:
    """Topics x words: the catalogue's words evenly, and half of it the latent model's, if any."""
    even = np.stack([_even(topic, words) for topic in knowledge.catalogue])
    latent = [space for space in knowledge.spaces if isinstance(space, LdaModel)]
    if not latent:
        return even
    learnt = _of_model(latent[0], knowledge.catalogue, words)
    known = learnt.sum(axis=1, keepdims=True) > 0
    return np.asarray(np.where(known, (even + learnt) / 2, even))


def learnt_profiles(topics: Floats, knowledge: Knowledge, words: tuple[str, ...]) -> Floats:
    """The same from ``topics`` (x words) of a release; public ones where none of them fits."""
    vocabulary = Vocabulary.public(words, origin="a public list")
    columns = np.ascontiguousarray(topics.T / topics.sum(axis=1), dtype=np.float32)
    model = LdaModel(columns, np.full(len(topics), _PRIOR), vocabulary, TokenRules())
    plain = Catalogue(
        tuple(
            Topic(topic.name, topic.words, topic.domain, topic.sensitive)
            for topic in knowledge.catalogue
        )
    )
    learnt = _of_model(model, match_model(plain, model).catalogue, words)
    known = learnt.sum(axis=1, keepdims=True) > 0
    return np.asarray(np.where(known, learnt, public_profiles(knowledge, words)))


def _even(topic: Topic, words: tuple[str, ...]) -> Floats:
    own = np.isin(words, topic.words).astype(np.float64)
    return np.asarray(own / max(1.0, own.sum()))


def _of_model(model: LdaModel, catalogue: Catalogue, words: tuple[str, ...]) -> Floats:
    """What the dimensions of each topic give ``words``; nothing where there is no dimension."""
    column = model.vocabulary.column
    places = np.array([column.get(word, -1) for word in words])
    found = np.zeros((len(catalogue), len(words)))
    for row, topic in enumerate(catalogue):
        shares = model.phi[:, list(topic.dimensions)].sum(axis=1, dtype=np.float64)
        found[row] = np.where(places >= 0, shares[places], 0.0)
        found[row] /= max(found[row].sum(), np.finfo(float).tiny)
    return found


_LEAST_MEAN = 1e-6
_NEAR_ONE = 1e-6


def posterior_counts(published: Counts, rate: float) -> sparse.csr_array:
    """E[c | z] less E[c | 0], in every published cell: what the cell tells beyond an empty one.

    An empty cell says the same of everybody, so that only the difference can single anyone out;
    and the matrix stays as sparse as the release.
    """
    means = np.maximum(np.asarray(published.sum(axis=0)) / published.shape[0], _LEAST_MEAN)
    told = expected_count(published.data, np.exp(-rate), (means / (1 + means))[published.indices])
    empty = expected_count(np.zeros(means.size, np.int64), np.exp(-rate), means / (1 + means))
    gained = np.maximum(told - empty[published.indices], 0.0)
    # Copied: dropping zeros moves the places of the other cells, and the release stays as it is.
    places = published.indices.copy(), published.indptr.copy()
    counts = sparse.csr_array((gained, *places), shape=published.shape)
    counts.eliminate_zeros()
    return counts


def expected_count(z: NDArray[np.int64], alpha: float, q: Floats) -> Floats:
    """E[c | z] for a count of law (1 - q) q^c under two-sided geometric noise."""
    places = np.maximum(z, 0).astype(np.float64)
    below = q / alpha
    # Of the two orders of summation the one whose terms fall is exact to rounding.
    return np.where(
        below <= 1, _from_zero(places, below, q * alpha), _from_z(places, below, q * alpha)
    )


def _from_zero(z: Floats, ratio: Floats, tail: Floats) -> Floats:
    """Terms ratio^c up to z, then ratio^z tail^j: all relative to c = 0."""
    x = _off_one(np.minimum(ratio, 1.0))
    last = x**z
    weight = (1 - last * x) / (1 - x)
    first = x * (1 - (z + 1) * last + z * last * x) / (1 - x) ** 2
    beyond = last * tail / (1 - tail)
    return (first + beyond * (z + 1 / (1 - tail))) / (weight + beyond)


def _from_z(z: Floats, ratio: Floats, tail: Floats) -> Floats:
    """Terms (1/ratio)^j for c = z - j, then tail^j: all relative to c = z."""
    x = _off_one(1 / np.maximum(ratio, 1.0))
    last = x**z
    weight = (1 - last * x) / (1 - x)
    short = x * (1 - (z + 1) * last + z * last * x) / (1 - x) ** 2
    beyond = tail / (1 - tail)
    return (z * weight - short + beyond * (z + 1 / (1 - tail))) / (weight + beyond)


def _off_one(x: Floats) -> Floats:
    return np.minimum(x, 1 - _NEAR_ONE)


TALLY = "tally"
"""Neither space nor bucket: how often a user's documents have the topic's words, in all."""
PUBLISHED, NOISE_AWARE = "as published", "noise-aware"
"""The simple readings, of clipped counts and of geometric ones."""
EXPECTED, LIKELIHOOD, LEARNT = "expected counts", "likelihood", "topics of the release"
"""The readings that friends of the release have, too."""
SUM, RECURRING = "sum", "recurring"
"""Likelihood ratios of a person's documents: added up, or weighed as an interest that recurs."""

TopicScores = Mapping[str, Floats]
"""By topic, a score for each user."""
View = tuple[str, str]
"""How they read the counts, and the measure they rank by."""


def is_simple(view: View) -> bool:
    """Whether it does without what the law of the noise says of each cell's count."""
    return view[0] in (PUBLISHED, NOISE_AWARE)


@dataclass(frozen=True, eq=False)
class Adversary:
    """Background knowledge, and the measures they rank by."""

    knowledge: Knowledge
    measures: tuple[str, ...]
    setting: Setting = field(default_factory=Setting)

    @cached_property
    def topics(self) -> tuple[str, ...]:
        """The sensitive ones."""
        return tuple(topic.name for topic in self.knowledge.catalogue.sensitive)

    def on_posts(self, posts: pa.Table, users: pa.Array) -> Mapping[str, TopicScores]:
        """Scores by measure from the posts themselves, nothing being released."""
        state = self._scoring.state_of(posts.to_batches())
        scores = self._scores(state)
        # Users come in the order in which posts name them, in both.
        if not state.users.names().cast(users.type).equals(users):
            raise AssertionError("users of posts and of documents must come in one order")
        return scores

    def on_release(self, documents: UserDocuments, reading: Reading) -> Mapping[View, TopicScores]:
        """Scores by the view they take of the counts, and the measure."""
        return self._simple(documents, reading) | self._strong(documents, reading)

    def _simple(self, documents: UserDocuments, reading: Reading) -> dict[View, TopicScores]:
        found = self._score_view(documents, PUBLISHED, _clip_counts(reading.cells) @ reading.spread)
        found[NOISE_AWARE, TALLY] = self._tally_topics(documents, reading)
        if reading.rate is not None:
            told = posterior_counts(reading.cells, reading.rate)
            found |= self._score_view(documents, NOISE_AWARE, told @ reading.spread)
        return found

    def _strong(self, documents: UserDocuments, reading: Reading) -> dict[View, TopicScores]:
        found = {}
        if reading.rate is not None:
            found = self._score_view(documents, EXPECTED, reading.expected_counts)
        known = ratios_of(reading, public_profiles(self.knowledge, documents.words))
        own = learnt_profiles(reading.topics, self.knowledge, documents.words)
        people = documents.owners, len(documents.users)
        found[LIKELIHOOD, SUM] = self._by_topic(summed_interest(known, *people))
        for view, ratios in ((LIKELIHOOD, known), (LEARNT, ratios_of(reading, own))):
            odds = recurring_interest(ratios, *people, self._domains)
            found[view, RECURRING] = self._by_topic(odds)
        return found

    def sensitive_profiles(self, words: tuple[str, ...]) -> Floats:
        """Sensitive topics x ``words``, by public knowledge; those without a word are left out."""
        known = public_profiles(self.knowledge, words)
        sensitive = [topic.sensitive for topic in self.knowledge.catalogue]
        return np.asarray(known[np.asarray(sensitive) & (known.sum(axis=1) > 0)])

    def _by_topic(self, scores: Floats) -> TopicScores:
        names = self.knowledge.catalogue.names
        return {topic: scores[:, names.index(topic)] for topic in self.topics}

    @property
    def _domains(self) -> list[str]:
        return [topic.domain for topic in self.knowledge.catalogue]

    def _score_view(
        self, documents: UserDocuments, view: str, counts: sparse.csr_array
    ) -> dict[View, TopicScores]:
        state = State(self._scoring.header)
        rows = state.rows(documents.users.take(pa.array(documents.owners)))
        state.count_posts(rows)
        for name, scorer in self._scoring.scorers.items():
            own = sparse.csr_array(counts @ selection(documents.words, scorer))
            state.spaces[name].add_posts(rows, documents.buckets, scorer.strengths(own))
        return {(view, measure): scores for measure, scores in self._scores(state).items()}

    def _tally_topics(self, documents: UserDocuments, reading: Reading) -> TopicScores:
        """Signed sums: noise has mean 0, so they estimate without bias how often words occur."""
        by_user = documents.summed_by_user(reading.cells).astype(np.float64) @ reading.spread
        column = {word: place for place, word in enumerate(documents.words)}
        return {
            topic.name: np.asarray(
                by_user[:, [column[word] for word in topic.words if word in column]].sum(axis=1)
            )
            for topic in self.knowledge.catalogue.sensitive
        }

    def _scores(self, state: State) -> dict[str, TopicScores]:
        return {
            name: {topic: measure.score(state, topic, self.setting) for topic in self.topics}
            for name, measure in self._plan[0].items()
        }

    @property
    def _scoring(self) -> Scoring:
        return self._plan[1]

    @cached_property
    def _plan(self) -> tuple[dict[str, Measure], Scoring]:
        return plan_scoring(
            self.knowledge.catalogue,
            self.knowledge.spaces,
            self.measures,
            bucket=WEEK,
            kept=max(self.setting.m, 3),
        )


def selection(words: Sequence[str], scorer: PostScorer) -> sparse.csr_array:
    """The matrix that carries counts of ``words`` into the columns of a scorer."""
    column = scorer.vocabulary.column
    known = [(row, column[word]) for row, word in enumerate(words) if word in column]
    rows, columns = np.array(known, np.int64).reshape(-1, 2).T
    shape = (len(words), len(scorer.vocabulary))
    return sparse.csr_array((np.ones(len(known)), (rows, columns)), shape=shape)


def _clip_counts(counts: Counts) -> sparse.csr_array:
    positive = counts.astype(np.float64)
    np.maximum(positive.data, 0, out=positive.data)
    positive.eliminate_zeros()
    return positive
