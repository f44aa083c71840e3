"""One topic model and held-out short posts, split into what is observed and what is scored."""

import itertools
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.compiled import available_cores
from sottovoce.corpus.reading import open_documents
from sottovoce.corpus.simulate import SimulationParameters, simulate
from sottovoce.data import DataAbsentError, data_file
from sottovoce.topics.background import WordChoice, background_counts
from sottovoce.topics.imports.tomotopy_models import from_tomotopy
from sottovoce.topics.lda.model import LdaModel

if TYPE_CHECKING:
    import pyarrow as pa
    import tomotopy

TOPICS = 200
ITERATIONS = 150
SHORTEST, LONGEST = 8, 24
HELD_OUT = 0.2
SEED = 1


@dataclass(frozen=True)
class HeldOut:
    """What every peer gets."""

    case: str
    trained: "tomotopy.LDAModel"
    model: LdaModel
    """The same model as a value of ours."""
    observed: sparse.csr_array
    scored: sparse.csr_array

    @property
    def posts(self) -> int:
        """The number of posts."""
        return int(self.observed.shape[0])

    def nats(self, theta: NDArray[np.float64]) -> float:
        """The mean of -ln p(word) over the scored words, p = theta phi."""
        total = 0.0
        phi = self.model.phi.astype(np.float64)
        for post, shares in enumerate(theta):
            cells = slice(self.scored.indptr[post], self.scored.indptr[post + 1])
            chance = phi[self.scored.indices[cells]] @ shares
            total -= float(self.scored.data[cells] @ np.log(chance))
        return total / float(self.scored.sum())

    def words_of(self, counts: sparse.csr_array) -> list[list[str]]:
        """The words of each post, as often as they occur."""
        terms = self.model.vocabulary.terms
        words = np.repeat(counts.indices, counts.data)
        ends = np.cumsum([0, *counts.sum(axis=1).tolist()])
        return [
            [terms[word] for word in words[begin:end]] for begin, end in itertools.pairwise(ends)
        ]


def held_out_posts(posts: int) -> HeldOut:
    """Train on four fifths of the background, and cut posts from the rest."""
    name, texts = _background()
    words = WordChoice()
    vocabulary = words.chosen(texts, public=True)
    counts, vocabulary = background_counts(texts, vocabulary, words.rules)
    generator = np.random.default_rng(SEED)
    held = generator.random(counts.shape[0]) < HELD_OUT
    trained = _trained(counts[~held], vocabulary.terms)
    model = from_tomotopy(trained, words.rules)
    columns = [vocabulary.column[term] for term in model.vocabulary.terms]
    observed, scored = _split(sparse.csr_array(counts[held][:, columns]), posts, generator)
    case = (
        f"{name}, {model.dimensions} topics, {observed.shape[0]:,} posts of {SHORTEST}-{LONGEST} "
        "words"
    )
    return HeldOut(case, trained, model, observed, scored)


def _background() -> tuple[str, list[str]]:
    try:
        documents = open_documents(data_file("background.parquet"))
    except DataAbsentError:
        background: pa.Table = simulate(SimulationParameters(users=100, weeks=2)).background
        return "simulated background", background["text"].to_pylist()
    texts: list[str] = documents.read_all()["text"].to_pylist()
    return "background.parquet", texts


def _trained(counts: sparse.csr_array, terms: tuple[str, ...]) -> "tomotopy.LDAModel":
    import tomotopy  # noqa: PLC0415 - an optional dependency

    model = tomotopy.LDAModel(k=TOPICS, seed=SEED)
    model.burn_in = ITERATIONS // 4
    for row in range(counts.shape[0]):
        cells = slice(counts.indptr[row], counts.indptr[row + 1])
        words = np.repeat(counts.indices[cells], counts.data[cells])
        if words.size:
            model.add_doc([terms[word] for word in words])
    with warnings.catch_warnings():
        # Several workers give no one result; every peer gets the one that came out.
        warnings.simplefilter("ignore", RuntimeWarning)
        model.train(ITERATIONS, workers=available_cores(), show_progress=False)
    return model


def _split(
    texts: sparse.csr_array, posts: int, generator: np.random.Generator
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Posts of random words of the texts, in two halves; texts come again if there are too few."""
    long_enough = np.flatnonzero(texts.sum(axis=1) >= SHORTEST)
    observed, scored = [], []
    for text in np.resize(long_enough, posts):
        cells = slice(texts.indptr[text], texts.indptr[text + 1])
        words = generator.permutation(np.repeat(texts.indices[cells], texts.data[cells]))
        words = words[: generator.integers(SHORTEST, LONGEST + 1)]
        observed.append(words[: words.size // 2])
        scored.append(words[words.size // 2 :])
    width = int(texts.shape[1])
    return _counted(observed, width), _counted(scored, width)


def _counted(posts: list[NDArray[np.int32]], width: int) -> sparse.csr_array:
    rows = np.repeat(np.arange(len(posts)), [words.size for words in posts])
    ones = np.ones(rows.size, np.int64)
    cells = (ones, (rows, np.concatenate(posts)))
    return sparse.csr_array(sparse.coo_array(cells, shape=(len(posts), width)))
