"""Training by tomotopy's collapsed Gibbs sampler, in steps that can be interrupted.

tomotopy's files, which checkpoints are, hold pickles: they are read without the power to run code.
"""

import io
import pickle
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.compiled import available_cores
from sottovoce.errors import MissingExtraError, ModelFileError, ParameterError
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.model_file import Origin
from sottovoce.topics.training import (
    Checkpoint,
    Progress,
    Texts,
    WordChoice,
    background_counts,
    corpus_facts,
    training_request,
)

if TYPE_CHECKING:
    import tomotopy


_ONE_AT_A_TIME = Lock()
MOST_TOPICS = 500
# Between two steps an interrupt is noticed and progress is shown.
_STEP = 5


@dataclass(frozen=True)
class LdaParameters:
    """What training is told.

    >>> LdaParameters(topics=50).iterations
    500
    """

    topics: int = 200
    iterations: int = 500
    seed: int = 1
    alpha: float = 0.1
    """Where the prior weights start; each is then fitted on its own."""
    eta: float = 0.01
    burn_in: int | None = None
    """Iterations before the prior weights are fitted; by default 50, or a quarter if less."""
    workers: int | None = None
    """Threads, by default one for each core; only 1 gives one result for one seed."""

    def __post_init__(self) -> None:
        if not 2 <= self.topics <= MOST_TOPICS:  # noqa: PLR2004 - one topic is none
            raise ParameterError(f"topics must be from 2 to {MOST_TOPICS}, got {self.topics}.")
        for name in ("iterations", "alpha", "eta", "workers"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ParameterError(f"{name} must be > 0, got {value}.")
        for name in ("seed", "burn_in"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ParameterError(f"{name} must be >= 0, got {value}.")
        if self.burn_in is None:
            object.__setattr__(self, "burn_in", min(50, self.iterations // 4))


def train_lda(
    texts: Texts,
    parameters: LdaParameters | None = None,
    *,
    words: WordChoice | None = None,
    public: bool = True,
    checkpoint: Checkpoint | None = None,
    progress: Progress | None = None,
) -> LdaModel:
    """A topic model of background texts; prior weights are asymmetric and fitted.

    Texts are public knowledge unless ``public`` is False; then the model's files are their owner's.

    >>> from sottovoce.topics import WordChoice
    >>> texts = ["debt loan bank credit", "baby birth womb midwife"] * 20
    >>> asked = LdaParameters(topics=2, iterations=10, workers=1)
    >>> train_lda(texts, asked, words=WordChoice(min_texts=1)).phi.shape
    (8, 2)
    """
    parameters, words = parameters or LdaParameters(), words or WordChoice()
    facts = corpus_facts(texts)
    vocabulary = words.choose_words(texts, public=public)
    request = training_request(asdict(parameters), facts, vocabulary, words.rules)
    counts, vocabulary = background_counts(texts, vocabulary, words.rules)
    sampler = _Sampler(parameters, request, checkpoint)
    sampler.start(counts)
    sampler.run(progress or (lambda _done, _all: None))
    phi, alpha = sampler.result(len(vocabulary))
    origin = Origin(facts, asdict(parameters), sampler.libraries, public)
    return LdaModel(phi, alpha, vocabulary, words.rules, origin)


class _Sampler:
    """tomotopy's model, from its start or a checkpoint to its end."""

    def __init__(
        self, parameters: LdaParameters, request: str, checkpoint: Checkpoint | None
    ) -> None:
        self._parameters = parameters
        self._request = request
        self._checkpoint = checkpoint
        self._tomotopy = _tomotopy()
        self._done = 0

    @property
    def libraries(self) -> dict[str, str]:
        return {"tomotopy": str(self._tomotopy.__version__)}

    def start(self, counts: sparse.csr_array) -> None:
        found = None if self._checkpoint is None else self._checkpoint.find(self._request)
        if found is None:
            self._model = self._fresh(counts)
        else:
            self._done, path = found
            self._model = load_tomotopy(path)

    def run(self, progress: Progress) -> None:
        goal = self._parameters.iterations
        progress(self._done, goal)
        while self._done < goal:
            step = self._next_stop() - self._done
            self._train(step)
            self._done += step
            if self._checkpoint and self._done % self._checkpoint.every == 0 and self._done < goal:
                self._checkpoint.write(self._request, self._done, self._save)
            progress(self._done, goal)

    def result(self, words: int) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        columns = [int(name) for name in self._model.used_vocabs]
        phi = np.zeros((words, self._parameters.topics), np.float32)
        for topic in range(self._parameters.topics):
            phi[columns, topic] = self._model.get_topic_word_dist(topic)
        return phi, np.asarray(self._model.alpha, np.float64)

    def _next_stop(self) -> int:
        """The end of this step: never beyond a checkpoint or the end."""
        stops = [self._done + _STEP, self._parameters.iterations]
        if self._checkpoint:
            every = self._checkpoint.every
            stops.append((self._done // every + 1) * every)
        return min(stops)

    def _fresh(self, counts: sparse.csr_array) -> "tomotopy.LDAModel":
        given = self._parameters
        model = self._tomotopy.LDAModel(
            k=given.topics, alpha=given.alpha, eta=given.eta, seed=given.seed
        )
        model.burn_in = given.burn_in
        for tokens in _documents(counts):
            model.add_doc(tokens)
        return model

    def _train(self, iterations: int) -> None:
        workers = self._parameters.workers or available_cores()
        with warnings.catch_warnings():
            # What it warns of, that several workers give no one result, our parameters say too.
            warnings.simplefilter("ignore", RuntimeWarning)
            self._model.train(iterations, workers=workers, show_progress=False)

    def _save(self, path: Path) -> None:
        self._model.save(str(path), full=True)


def load_tomotopy(path: Path) -> "tomotopy.LDAModel":
    """A tomotopy model from its own file, whose pickled part may hold plain values only."""
    with only_plain_pickles():
        return _tomotopy().LDAModel.load(str(path))


def _documents(counts: sparse.csr_array) -> Iterator[list[str]]:
    """The words of each text that has any, as the numbers of their columns."""
    names = [str(word) for word in range(counts.shape[1])]
    for row in range(counts.shape[0]):
        cells = slice(counts.indptr[row], counts.indptr[row + 1])
        tokens = np.repeat(counts.indices[cells], counts.data[cells])
        if tokens.size:
            yield [names[word] for word in tokens.tolist()]


def _tomotopy() -> "tomotopy":
    try:
        import tomotopy  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise MissingExtraError("tomotopy", "topics") from error
    return tomotopy


class _PlainUnpickler(pickle.Unpickler):
    """Numbers, strings and containers only: naming any class or function is refused."""

    def find_class(self, module_name: str, _global_name: str, /) -> NoReturn:
        raise ModelFileError(
            f"the file's pickle names something of module {module_name!r}, so it could run code; "
            "only plain values are read."
        )


@contextmanager
def only_plain_pickles() -> Iterator[None]:
    """While this lasts, ``pickle.loads`` reads plain values only.

    tomotopy's compiled loader looks that function up when it reads the parameters in its files.
    """
    with _ONE_AT_A_TIME:
        before = pickle.loads
        pickle.loads = lambda data, /, **_options: _PlainUnpickler(io.BytesIO(data)).load()
        try:
            yield
        finally:
            pickle.loads = before
