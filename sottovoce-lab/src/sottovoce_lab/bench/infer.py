"""Topics of held-out short posts under one phi: ours, scikit-learn, gensim, tomotopy; one thread.

Half the words of each post are observed; the other half is scored under theta of the first
(document completion). Each peer runs with the settings that suit it best: of several, those whose
likelihood is within 0.001 nats of its best, the fastest of them.
"""

import importlib.util
import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.compiled import available_cores
from sottovoce.corpus.read.corpus import open_documents
from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import simulate
from sottovoce.topics.imports.libraries import from_tomotopy
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.training import WordChoice, background_counts
from sottovoce_lab._data import DataAbsentError, data_file
from sottovoce_lab.bench.rows import BenchRow, bench_row, best_time, best_times, train_tomotopy

if TYPE_CHECKING:
    import pyarrow as pa
    import tomotopy


TOPICS = 200
TRAINING_ITERATIONS = 150
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


Infer = Callable[[], Floats]

TOLERANCE = 0.001
TURNS_S = 30.0
ITERATIONS = (1, 2, 3, 5, 10, 100)
GIBBS_ITERATIONS = (10, 30, 100)
# scikit-learn has one prior weight for all topics; its scale is tried too.
PRIOR_SCALES = (1.0, 3.0)
ONE, TWO = "ours, one thread", "ours, two threads"


class TunedPeer(NamedTuple):
    """A peer's best settings and what they predict."""

    settings: str
    infer: Infer
    nats: float


def bench_infer(posts: int) -> list[BenchRow]:
    """Posts per second, and nats per held-out word, beside each peer."""
    held = held_out_posts(posts)
    infer = partial(held.model.infer, held.observed, threads=1)
    nats = held.nats(infer())
    with _one_thread():
        chosen = {peer: _best(held, tried) for peer, tried in _peers(held).items()}
        works: dict[str, Callable[[], object]] = {ONE: infer}
        if available_cores() > 1:
            works[TWO] = partial(held.model.infer, held.observed, threads=2)
        works |= {peer: best.infer for peer, best in chosen.items() if best is not None}
        times = best_times(works, seconds=TURNS_S)
    speeds = {name: held.observed.shape[0] / seconds for name, seconds in times.items()}
    return _rows(held, nats, chosen, speeds)


def _rows(
    held: HeldOut, nats: float, chosen: Mapping[str, TunedPeer | None], speeds: Mapping[str, float]
) -> list[BenchRow]:
    rows = []
    for peer, best in chosen.items():
        case = held.case if best is None else f"{held.case}; {best.settings}"
        theirs = None if best is None else best.nats
        rows.append(bench_row("infer", case, "posts/s", speeds[ONE], peer, speeds.get(peer)))
        rows.append(bench_row("infer", case, "nats/word", nats, peer, theirs, less_is_better=True))
    if TWO in speeds:
        case = f"{held.case}; two threads"
        rows.append(bench_row("infer", case, "posts/s", speeds[TWO], ONE, speeds[ONE]))
    return rows


def _best(held: HeldOut, tried: Mapping[str, Infer] | None) -> TunedPeer | None:
    """The fastest settings among those that predict about as well as the best."""
    if tried is None:
        return None
    runs = {settings: best_time(infer, 1) for settings, infer in tried.items()}
    nats = {settings: held.nats(theta) for settings, (_, theta) in runs.items()}
    good = [name for name in tried if nats[name] <= min(nats.values()) + TOLERANCE]
    fastest = min(good, key=lambda name: runs[name][0])
    return TunedPeer(fastest, tried[fastest], nats[fastest])


@contextmanager
def _one_thread() -> Iterator[None]:
    """Peers multiply matrices on one thread, where the library that sees to that is installed."""
    if importlib.util.find_spec("threadpoolctl") is None:
        yield
        return
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - an optional dependency

    with threadpool_limits(1):
        yield


def _peers(held: HeldOut) -> dict[str, Mapping[str, Infer] | None]:
    makers = {
        "scikit-learn LatentDirichletAllocation": ("sklearn", _sklearn),
        "tomotopy infer": ("tomotopy", _tomotopy),
        "gensim LdaModel.inference": ("gensim", _gensim),
    }
    return {
        name: None if importlib.util.find_spec(module) is None else maker(held)
        for name, (module, maker) in makers.items()
    }


def _sklearn(held: HeldOut) -> dict[str, Infer]:
    posts = sparse.csr_matrix(held.observed)
    mean = float(held.model.alpha.mean())
    return {
        f"max_doc_update_iter={count}, prior x{scale:g}": partial(
            _sklearn_model(held, count, scale * mean).transform, posts
        )
        for count in ITERATIONS
        for scale in PRIOR_SCALES
    }


def _sklearn_model(held: HeldOut, iterations: int, prior: float) -> Any:  # noqa: ANN401 - a peer's
    from sklearn.decomposition import LatentDirichletAllocation  # noqa: PLC0415 - a peer

    phi = np.ascontiguousarray(held.model.phi.T, np.float64)
    model = LatentDirichletAllocation(
        len(phi), doc_topic_prior=prior, max_doc_update_iter=iterations
    )
    model.components_ = model.exp_dirichlet_component_ = phi
    model.doc_topic_prior_, model.n_features_in_ = prior, phi.shape[1]
    return model


def _gensim(held: HeldOut) -> dict[str, Infer]:
    from gensim.models import LdaModel  # noqa: PLC0415 - a peer

    model = LdaModel(
        id2word=dict(enumerate(held.model.vocabulary.terms)),
        num_topics=held.model.dimensions,
        alpha=held.model.alpha,
        dtype=np.float64,
    )
    model.expElogbeta = np.ascontiguousarray(held.model.phi.T, np.float64)
    posts = _pairs(held.observed)

    def infer(iterations: int) -> Floats:
        model.iterations = iterations
        gamma: Floats = model.inference(posts)[0]
        theta: Floats = gamma / gamma.sum(axis=1, keepdims=True)
        return theta

    return {f"iterations={count}": partial(infer, count) for count in ITERATIONS}


def _pairs(counts: sparse.csr_array) -> list[list[tuple[int, int]]]:
    cells = list(zip(counts.indices.tolist(), counts.data.tolist(), strict=True))
    ends = counts.indptr.tolist()
    return [cells[begin:end] for begin, end in itertools.pairwise(ends)]


def _tomotopy(held: HeldOut) -> dict[str, Infer]:
    words = held.words_of(held.observed)

    def infer(iterations: int) -> Floats:
        # An inferred document starts from its result, so each run makes its own: 1% of the time.
        documents = [held.trained.make_doc(each) for each in words]
        theta, _ = held.trained.infer(documents, iterations=iterations, workers=1, together=True)
        return np.array(theta)

    return {f"iterations={count}, together": partial(infer, count) for count in GIBBS_ITERATIONS}


def held_out_posts(posts: int) -> HeldOut:
    """Train on four fifths of the background, and cut posts from the rest."""
    name, texts = _background()
    words = WordChoice()
    vocabulary = words.choose_words(texts, public=True)
    counts, vocabulary = background_counts(texts, vocabulary, words.rules)
    generator = np.random.default_rng(SEED)
    held = generator.random(counts.shape[0]) < HELD_OUT
    trained = _train_peer(counts[~held], vocabulary.terms)
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


def _train_peer(counts: sparse.csr_array, terms: tuple[str, ...]) -> "tomotopy.LDAModel":
    import tomotopy  # noqa: PLC0415 - an optional dependency

    model = tomotopy.LDAModel(k=TOPICS, seed=SEED)
    model.burn_in = TRAINING_ITERATIONS // 4
    train_tomotopy(model, counts, terms, iterations=TRAINING_ITERATIONS, workers=available_cores())
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
    return _count_posts(observed, width), _count_posts(scored, width)


def _count_posts(posts: list[NDArray[np.int32]], width: int) -> sparse.csr_array:
    rows = np.repeat(np.arange(len(posts)), [words.size for words in posts])
    ones = np.ones(rows.size, np.int64)
    cells = (ones, (rows, np.concatenate(posts)))
    return sparse.csr_array(sparse.coo_array(cells, shape=(len(posts), width)))
