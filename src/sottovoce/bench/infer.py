"""Topics of held-out short posts under one phi: ours, scikit-learn, gensim, tomotopy; one thread.

Half the words of each post are observed; the other half is scored under theta of the first
(document completion). Each peer runs with the settings that suit it best: of several, those whose
likelihood is within 0.001 nats of its best, the fastest of them.
"""

import importlib.util
import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.bench.infer_data import HeldOut, held_out_posts
from sottovoce.bench.rows import BenchRow, bench_row, best_time, best_times
from sottovoce.compiled import available_cores

Floats = NDArray[np.float64]
Infer = Callable[[], Floats]

TOLERANCE = 0.001
TURNS_S = 30.0
ITERATIONS = (1, 2, 3, 5, 10, 100)
GIBBS_ITERATIONS = (10, 30, 100)
# scikit-learn has one prior weight for all topics; its scale is tried too.
PRIOR_SCALES = (1.0, 3.0)
ONE, TWO = "ours, one thread", "ours, two threads"


class Chosen(NamedTuple):
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
    speeds = {name: held.posts / seconds for name, seconds in times.items()}
    return _rows(held, nats, chosen, speeds)


def _rows(
    held: HeldOut, nats: float, chosen: Mapping[str, Chosen | None], speeds: Mapping[str, float]
) -> list[BenchRow]:
    rows = []
    for peer, best in chosen.items():
        case = held.case if best is None else f"{held.case}; {best.settings}"
        theirs = None if best is None else best.nats
        rows.append(bench_row("infer", case, "posts/s", speeds[ONE], peer, speeds.get(peer)))
        rows.append(bench_row("infer", case, "nats/word", nats, peer, theirs, less_is_better=True))
    if TWO in speeds:
        rows.append(
            bench_row(
                "infer", f"{held.case}; two threads", "posts/s", speeds[TWO], ONE, speeds[ONE]
            )
        )
    return rows


def _best(held: HeldOut, tried: Mapping[str, Infer] | None) -> Chosen | None:
    """The fastest settings among those that predict about as well as the best."""
    if tried is None:
        return None
    runs = {settings: best_time(infer, 1) for settings, infer in tried.items()}
    nats = {settings: held.nats(theta) for settings, (_, theta) in runs.items()}
    good = [name for name in tried if nats[name] <= min(nats.values()) + TOLERANCE]
    fastest = min(good, key=lambda name: runs[name][0])
    return Chosen(fastest, tried[fastest], nats[fastest])


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
    makers = {"sklearn": _sklearn, "tomotopy": _tomotopy, "gensim": _gensim}
    names = {
        "sklearn": "scikit-learn LatentDirichletAllocation",
        "tomotopy": "tomotopy infer",
        "gensim": "gensim LdaModel.inference",
    }
    return {
        names[module]: None if importlib.util.find_spec(module) is None else maker(held)
        for module, maker in makers.items()
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
