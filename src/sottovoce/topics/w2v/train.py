"""Training by gensim's skip-gram with negative sampling, in steps that can be interrupted."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.compiled import available_cores
from sottovoce.corpus.counts import term_statistics
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.codes import tokenize
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import CorpusError, MissingExtraError, ModelFileError, ParameterError
from sottovoce.topics.model_file import CorpusFacts, Origin
from sottovoce.topics.training import (
    Checkpoint,
    Progress,
    Texts,
    WordChoice,
    corpus_facts,
    text_arrays,
    training_request,
)
from sottovoce.topics.w2v.model import SkipGramModel

if TYPE_CHECKING:
    import gensim


MOST_DIMENSIONS = 4096


@dataclass(frozen=True)
class SkipGramParameters:
    """What training is told.

    >>> SkipGramParameters(dimensions=50).epochs
    5
    """

    dimensions: int = 500
    epochs: int = 5
    window: int = 5
    negative: int = 5
    rate: float = 0.025
    """The first learning rate; it falls to ``last_rate`` in even steps."""
    last_rate: float = 0.0001
    sample: float = 1e-3
    seed: int = 1
    step_texts: int = 10_000
    """Texts between two moments at which training can be interrupted."""
    workers: int | None = None
    """Threads, by default one for each core; only 1 gives one result for one seed."""

    def __post_init__(self) -> None:
        if not 1 <= self.dimensions <= MOST_DIMENSIONS:
            raise ParameterError(
                f"dimensions must be from 1 to {MOST_DIMENSIONS}, got {self.dimensions}."
            )
        for name in ("epochs", "window", "negative", "rate", "last_rate", "step_texts", "workers"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ParameterError(f"{name} must be > 0, got {value}.")
        for name in ("seed", "sample"):
            if getattr(self, name) < 0:
                raise ParameterError(f"{name} must be >= 0, got {getattr(self, name)}.")


def train_skip_gram(
    texts: Texts,
    parameters: SkipGramParameters | None = None,
    *,
    words: WordChoice | None = None,
    public: bool = True,
    checkpoint: Checkpoint | None = None,
    progress: Progress | None = None,
) -> SkipGramModel:
    """Word vectors of background texts by skip-gram with negative sampling.

    Single words only: a topic's bigram becomes the mean of its words. With one worker, training
    that was interrupted and resumed ends in the same bits as one that was not.

    >>> from sottovoce.topics import WordChoice
    >>> texts = ["debt loan bank credit", "baby birth womb midwife"] * 20
    >>> asked = SkipGramParameters(dimensions=4, epochs=1, workers=1)
    >>> train_skip_gram(texts, asked, words=WordChoice(min_texts=1)).dimensions
    4
    """
    parameters, words = parameters or SkipGramParameters(), words or WordChoice()
    if words.rules.bigrams:
        raise ParameterError("skip-gram is trained on single words; leave bigrams out (--bigrams).")
    facts = corpus_facts(texts)
    vocabulary = words.choose_words(texts, public=public)
    request = training_request(asdict(parameters), facts, vocabulary, words.rules)
    trainer = _Trainer(parameters, request, checkpoint, texts, facts, words.rules)
    trainer.start(vocabulary)
    trainer.run(progress or (lambda _done, _all: None))
    vectors, known = trainer.result(vocabulary)
    origin = Origin(facts, asdict(parameters), trainer.libraries, public)
    return SkipGramModel(vectors, known, words.rules, origin)


class _Trainer:
    """gensim's model, from its start or a checkpoint to its end."""

    def __init__(
        self,
        parameters: SkipGramParameters,
        request: str,
        checkpoint: Checkpoint | None,
        texts: Texts,
        facts: CorpusFacts,
        rules: TokenRules,
    ) -> None:
        self._parameters = parameters
        self._request = request
        self._checkpoint = checkpoint
        self._texts = texts
        self._rules = rules
        self._steps_in_epoch = -(-facts.texts // parameters.step_texts)
        self._steps = parameters.epochs * self._steps_in_epoch
        self._done = 0
        self._gensim = _gensim()

    @property
    def libraries(self) -> dict[str, str]:
        return {"gensim": str(self._gensim.__version__)}

    def start(self, vocabulary: Vocabulary) -> None:
        self._model = self._fresh(vocabulary)
        found = None if self._checkpoint is None else self._checkpoint.find(self._request)
        if found is not None:
            self._done, path = found
            self._restore(path)

    def run(self, progress: Progress) -> None:
        progress(self._done, self._steps)
        while self._done < self._steps:
            self._epoch(progress)

    def result(self, vocabulary: Vocabulary) -> tuple[Any, Vocabulary]:
        """The vectors in the vocabulary's order, of the words that occur in the texts."""
        row_of = self._model.wv.key_to_index
        terms = tuple(term for term in vocabulary.terms if term in row_of)
        known = Vocabulary(
            terms, data_dependent=vocabulary.data_dependent, origin=vocabulary.origin
        )
        return self._model.wv.vectors[[row_of[term] for term in terms]], known

    def _epoch(self, progress: Progress) -> None:
        """What is left of the epoch that training stands in."""
        begun = self._done % self._steps_in_epoch
        for sentences in islice(self._sentences(), begun, None):
            self._train(sentences)
            self._done += 1
            keep = self._checkpoint and self._done % self._checkpoint.every == 0
            if self._checkpoint and keep and self._done < self._steps:
                self._checkpoint.write(self._request, self._done, self._save)
            progress(self._done, self._steps)

    def _sentences(self) -> Iterator[list[list[str]]]:
        """The words of the texts, one step's texts at a time."""
        size, waiting = self._parameters.step_texts, list[str]()
        for array in text_arrays(self._texts):
            waiting += array.to_pylist()
            while len(waiting) >= size:
                yield tokenize(waiting[:size], self._rules)
                waiting = waiting[size:]
        if waiting:
            yield tokenize(waiting, self._rules)

    def _train(self, sentences: list[list[str]]) -> None:
        self._model.train(
            sentences,
            total_examples=len(sentences),
            epochs=1,
            start_alpha=self._rate(self._done),
            end_alpha=self._rate(self._done + 1),
        )

    def _rate(self, step: int) -> float:
        first, last = self._parameters.rate, self._parameters.last_rate
        return first + (last - first) * step / self._steps

    def _fresh(self, vocabulary: Vocabulary) -> "gensim.models.Word2Vec":
        given = self._parameters
        model = self._gensim.models.Word2Vec(
            vector_size=given.dimensions,
            sg=1,
            hs=0,
            negative=given.negative,
            window=given.window,
            sample=given.sample,
            alpha=given.rate,
            min_alpha=given.last_rate,
            min_count=1,
            seed=given.seed,
            workers=given.workers or available_cores(),
        )
        model.build_vocab_from_freq(self._frequencies(vocabulary))
        return model

    def _frequencies(self, vocabulary: Vocabulary) -> dict[str, int]:
        statistics = term_statistics(text_arrays(self._texts), self._rules)
        pairs = zip(statistics.terms, statistics.occurrences.tolist(), strict=True)
        known = vocabulary.column
        found = {term: count for term, count in pairs if term in known}
        if not found:
            raise CorpusError("the background texts hold no word of the vocabulary.")
        return found

    def _save(self, path: Path) -> None:
        _, keys, place, has_gauss, gauss = self._model.random.get_state()
        with path.open("wb") as file:
            np.savez(
                file,
                vectors=self._model.wv.vectors,
                negative=self._model.syn1neg,
                keys=keys,
                place=np.array([place, has_gauss]),
                gauss=np.array(gauss),
            )

    def _restore(self, path: Path) -> None:
        with np.load(path, allow_pickle=False) as state:
            if state["vectors"].shape != self._model.wv.vectors.shape:
                raise ModelFileError("the checkpoint does not fit the texts; remove its folder.")
            self._model.wv.vectors[:] = state["vectors"]
            self._model.syn1neg[:] = state["negative"]
            place, has_gauss = state["place"].tolist()
            generator = ("MT19937", state["keys"], place, has_gauss, float(state["gauss"]))
            self._model.random.set_state(generator)


def _gensim() -> "gensim":
    try:
        import gensim.models  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise MissingExtraError("gensim", "topics") from error
    return gensim
