"""Topics of a release with scikit-learn's conventions."""

from importlib.util import find_spec
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeGuard, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from sottovoce.arrays import Floats
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.privacy.noise_law import NoiseLaw, law_of
from sottovoce.release.analysis.moments import Rows, row_blocks
from sottovoce.release.counts import Counts, Matrix, checked_counts
from sottovoce.release.topics._expected import (
    LARGEST,
    PairSums,
    PositiveCells,
    TopicModel,
    block_cells,
    pair_sums_of,
    positive_cells,
)
from sottovoce.release.topics._refine import (
    completed_likelihoods,
    normalise_rows,
    refined_topics,
    settled_theta,
    topics_of_pairs,
)
from sottovoce.release.topics.evaluation import fit_topics
from sottovoce.topics.lda.model import LdaModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Reader = Literal["chosen", "pairs", "likelihood", "lda", "lda-likelihood"]
_READERS = get_args(Reader)
_REFINED = {"pairs": "likelihood", "lda": "lda-likelihood"}
"""What first topics are called once the likelihood has improved them."""
_CLEARLY = 0.05
"""Topics that began with pairs must explain so much more of held-out documents than LDA's."""
_MOST_NOISE = 3.0
"""LDA is tried where each token of text has at most so many of noise: with 5 (complaints and news
at rate 1) it lost .06 and .09 of Jaccard to pairs, with 2 (at rate 2) on average nothing."""
_LDA_CELLS, _LDA_ROUNDS = 2_000_000, 150
"""LDA reads the first documents that hold so many cells above zero, the noise's included."""
_HELD_OUT, _MOST_HELD_OUT = 10, 2000
"""Every tenth document judges the readers, and no more than so many."""
_WORK, _FEWEST = 250_000_000, 8
"""Sweeps read about so many cells together: of many documents a few say as much as many do of few.
On 50,000 simulated documents at rate 1 eight sweeps over all give topics of Jaccard .820; forty
over 8,000 of them give .761, less than the .820 of the pairs that both start from."""
_LAST = 4
"""A quarter as many sweeps follow with the documents that had been held out."""
_MANY = 20
"""Where fewer than every so many-th was held out, the topics are good without them."""
_BLOCK_ROWS = 4096


class ReadableRelease(Protocol):
    """A release as its readers need it: its rows and the law of their noise."""

    @property
    def law(self) -> NoiseLaw: ...

    @property
    def rows(self) -> Rows: ...

    @property
    def is_compressed(self) -> bool: ...


class PrivateTopics(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc] # sklearn has no types
    """Topics of released counts, read as the law of their noise allows; all of it post-processing.

    First topics come from pairs of words (what each cell says of its count, summed over all
    documents) and from LDA of the counts clipped at zero, which finds the noise's topics where
    there is much of it. Both are then improved by the likelihood of every cell. Documents that
    took no part in it decide which of the four is kept. LDA needs tomotopy, of the extra `topics`.

    Args:
        n_topics: how many.
        rate: nats per cell of the noise; not needed for a release, whose card says it.
        reader: "chosen" by held-out documents, or "pairs", "lda", and with the likelihood
            "likelihood" (from pairs on) and "lda-likelihood".
        doc_topic_prior: how mixed documents are; small: few topics in each.
        topic_word_prior: tokens that every topic has of every word beforehand.
        max_iter: most sweeps for the likelihood; over many documents there are fewer, since each
            of them says more.
        most_cells: of more cells above zero than this the likelihood reads only the first; the
            pairs are those of all.
        threads: None: one for each core; the result does not depend on it.
        random_state: seed of all that is drawn.

    Attributes:
        components_: the probability of each word in each topic.
        chosen_: the reader whose topics these are.
        held_out_: of each reader tried, the log-likelihood a held-out document.

    >>> import numpy as np
    >>> drawn = np.random.default_rng(0)
    >>> true = drawn.poisson(np.kron(np.eye(2), np.ones((100, 4))) * 3)
    >>> noise = drawn.geometric(1 - np.exp(-1), (2, *true.shape))
    >>> topics = PrivateTopics(2, rate=1.0).fit(true + noise[0] - noise[1])
    >>> sorted((topics.components_ > 0.1).astype(int).tolist())
    [[0, 0, 0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0, 0]]
    """

    def __init__(
        self,
        n_topics: int = 25,
        *,
        rate: float | None = None,
        reader: Reader = "chosen",
        doc_topic_prior: float = 0.1,
        topic_word_prior: float = 0.01,
        max_iter: int = 80,
        most_cells: int = 100_000_000,
        threads: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.rate = rate
        self.reader = reader
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.max_iter = max_iter
        self.most_cells = most_cells
        self.threads = threads
        self.random_state = random_state

    def fit(self, X: "Matrix | ReadableRelease", y: object = None) -> Self:  # noqa: ARG002, N803 - sklearn's signature
        """Read the topics of a release, or of a matrix of released counts."""
        self._check()
        rows = self._rows(X, reset=True)
        if self.n_topics > rows.shape[1]:
            raise ParameterError(
                f"n_topics must be at most {rows.shape[1]}, the words, got {self.n_topics}."
            )
        cells = positive_cells(rows, most=self.most_cells)
        self.law_ = self._law(X)
        self.model_ = TopicModel(
            self.law_, cells.mean_length, self.doc_topic_prior, self.topic_word_prior
        )
        self.frequencies_ = cells.frequencies()
        self.held_out_: dict[str, float] = {}
        self.n_iter_ = self._sweeps(cells)
        self.components_ = self._read(rows, cells)
        return self

    def transform(self, X: "Matrix | ReadableRelease") -> Floats:  # noqa: N803 - scikit-learn's name
        """The share of each topic in each released document, shrunk as far as its noise asks."""
        check_is_fitted(self)
        cells = positive_cells(self._rows(X, reset=False), most=self.most_cells)
        theta = settled_theta(cells, self.model_, self._columns(), threads=self.threads)
        return np.asarray(theta / theta.sum(axis=1, keepdims=True))

    def score(self, X: "Matrix | ReadableRelease", y: object = None) -> float:  # noqa: ARG002, N803 - sklearn's signature
        """The log-likelihood of half of a document's cells given the other half: mean of ``X``.

        Under the known law of the noise, relative to documents without words; more is better.
        """
        check_is_fitted(self)
        cells = positive_cells(self._rows(X, reset=False), most=self.most_cells)
        return self._judge(cells, self.components_)

    def lda_model(self, vocabulary: Vocabulary, rules: TokenRules | None = None) -> LdaModel:
        """The topics as a model that ``assess`` and ``topics show`` take, once saved."""
        check_is_fitted(self)
        prior = np.full(len(self.components_), self.doc_topic_prior)
        return LdaModel(
            self._columns().astype(np.float32), prior, vocabulary, rules or TokenRules()
        )

    def choice_in_words(self) -> str:
        """Which reader's topics these are, and why."""
        check_is_fitted(self)
        if not self.held_out_:
            return f"Read by {self.chosen_}: no documents were held out to choose by."
        told = ", ".join(f"{name} {each:.4g}" for name, each in self.held_out_.items())
        rule = "Where readers are about equal, LDA's topics are kept."
        return (
            f"Read by {self.chosen_}. How much of a held-out document each reader explains, in "
            f"nats: {told}. {self._without_lda() or rule}"
        )

    def _read(self, rows: Rows, cells: PositiveCells) -> Floats:
        if self.reader == "chosen" and cells.documents >= _HELD_OUT:
            return self._choose_topics(rows, cells)
        self.chosen_: str = "likelihood" if self.reader == "chosen" else self.reader
        begun = "lda" if self.chosen_.startswith("lda") else "pairs"
        start = self._lda(cells) if begun == "lda" else self._pairs(self._sums(rows, cells), cells)
        return start if self.chosen_ == begun else self._refine(cells, start, self.n_iter_)

    def _choose_topics(self, rows: Rows, cells: PositiveCells) -> Floats:
        """All readers without the held-out documents; the best one again with them."""
        judges = _spread(cells.documents, min(cells.documents // _HELD_OUT, _MOST_HELD_OUT))
        judged, known = cells.select(judges), cells.select(~judges)
        sums = self._sums(rows, cells, judges)
        found = {"pairs": self._pairs(sums, cells)}
        if not self._without_lda() and known.words.size:
            found["lda"] = self._lda(known)
        for start in tuple(found):
            found[_REFINED[start]] = self._refine(known, found[start], self.n_iter_)
        self.held_out_ = {name: self._judge(judged, each) for name, each in found.items()}
        self.chosen_ = best_reader(self.held_out_)
        if self.chosen_ == "pairs":
            return self._pairs(sums + self._sums(judged, judged), cells)
        if self.chosen_ == "lda" or judged.documents * _MANY < cells.documents:
            return found[self.chosen_]
        return self._refine(cells, found[self.chosen_], max(1, self.n_iter_ // _LAST))

    def _without_lda(self) -> str | None:
        """Why LDA is not tried; None where it is. An empty cell has alpha/(1 - alpha^2) tokens."""
        if find_spec("tomotopy") is None:
            return "LDA was not tried: pip install 'sottovoce[topics]'."
        noise = self.n_features_in_ * self.law_.alpha / (1 - self.law_.alpha**2)
        if noise <= _MOST_NOISE * self.model_.mean_length:
            return None
        share = noise / (noise + self.model_.mean_length)
        return f"LDA was not tried: {share:.0%} of the counts above zero are noise."

    def _lda(self, cells: PositiveCells) -> Floats:
        """LDA of what a reader without the law has: the counts clipped at zero."""
        read = max(1, int(np.searchsorted(cells.pointers, _LDA_CELLS, side="right")) - 1)
        first = next(cells.blocks(read))
        given = first.values.astype(np.int64), first.words, first.pointers
        return fit_topics(
            sparse.csr_array(given, (first.documents, first.width)),
            self.n_topics,
            self.random_state,
            iterations=_LDA_ROUNDS,
            most_tokens=LARGEST * max(_LDA_CELLS, first.width),
        )

    def _sums(
        self,
        rows: "Rows | PositiveCells",
        cells: PositiveCells,
        judges: NDArray[np.bool_] | None = None,
    ) -> PairSums:
        """What all rows, but for the ``judges``, say of pairs: also those that are not kept."""
        blocks: Iterable[PositiveCells] = cells.blocks(_BLOCK_ROWS)
        if not isinstance(rows, PositiveCells) and rows.shape[0] != cells.documents:
            blocks = map(block_cells, row_blocks(rows, _BLOCK_ROWS))
        if judges is not None:
            blocks = _drop_documents(blocks, judges)
        return pair_sums_of(blocks, self._means(), self.law_, threads=self.threads)

    def _pairs(self, sums: PairSums, cells: PositiveCells) -> Floats:
        return topics_of_pairs(sums, cells, self.model_, self.n_topics, self.random_state)

    def _means(self) -> Floats:
        """Of each word, a document."""
        return self.frequencies_ * self.model_.mean_length

    def _sweeps(self, cells: PositiveCells) -> int:
        return min(self.max_iter, max(_FEWEST, _WORK // max(cells.words.size, 1)))

    def _refine(self, cells: PositiveCells, start: Floats, sweeps: int) -> Floats:
        return refined_topics(
            cells, self.model_, start, sweeps=sweeps, seed=self.random_state, threads=self.threads
        )

    def _judge(self, cells: PositiveCells, topics: Floats) -> float:
        columns = normalise_rows(np.ascontiguousarray(topics.T))
        told = completed_likelihoods(cells, self.model_, columns, threads=self.threads)
        return float(told.mean())

    def _columns(self) -> Floats:
        return normalise_rows(np.ascontiguousarray(self.components_.T))

    def _rows(self, given: "Matrix | ReadableRelease", *, reset: bool) -> Rows:
        if not _is_release(given):
            matrix: Any = given
            return self._matrix(matrix, reset=reset)
        if given.is_compressed:
            raise ParameterError(
                "topics need words, and this release sums several into each column, where they "
                "cannot be told apart; release without compression to read topics."
            )
        if reset:
            self.n_features_in_ = given.rows.shape[1]
        return given.rows

    def _matrix(self, given: Matrix, *, reset: bool) -> Counts:
        try:
            valid: Any = validate_data(
                self, given, reset=reset, accept_sparse="csr", dtype="numeric"
            )
        except ValueError as error:
            raise CorpusError(str(error)) from None
        return checked_counts(valid, signed=True)

    def _law(self, given: "Matrix | ReadableRelease") -> NoiseLaw:
        if _is_release(given):
            return given.law
        return law_of(self.rate)

    def _check(self) -> None:
        if self.reader not in _READERS:
            raise ParameterError(f"reader must be one of {', '.join(_READERS)}.")
        for name in ("n_topics", "max_iter", "most_cells"):
            if not isinstance(getattr(self, name), Integral):
                raise ParameterError(f"{name} must be a whole number.")
            if getattr(self, name) < 1:
                raise ParameterError(f"{name} must be >= 1, got {getattr(self, name)}.")
        for name in ("doc_topic_prior", "topic_word_prior"):
            if not getattr(self, name) > 0:
                raise ParameterError(f"{name} must be > 0, got {getattr(self, name)}.")

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn has no types
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


def best_reader(held_out: "Mapping[str, float]") -> str:
    """By how much each explains of held-out documents: pairs only where clearly above LDA.

    The likelihood tells good topics from noise, but not two kinds of good ones: on 3,573
    complaints at rate 5 it is 0.3% higher from pairs on, and the Jaccard .06 lower.
    """
    ours = max(_REFINED["pairs"], "pairs", key=lambda name: held_out[name])
    if "lda" not in held_out:
        return ours
    theirs = max(_REFINED["lda"], "lda", key=lambda name: held_out[name])
    margin = _CLEARLY * abs(held_out[theirs])
    return ours if held_out[ours] > held_out[theirs] + margin else theirs


def _spread(documents: int, chosen: int) -> NDArray[np.bool_]:
    """Marks so many of the documents, evenly over all."""
    marked = np.zeros(documents, np.bool_)
    marked[(np.arange(chosen) + 1) * documents // chosen - 1] = True
    return marked


def _drop_documents(
    blocks: "Iterable[PositiveCells]", left_out: NDArray[np.bool_]
) -> "Iterator[PositiveCells]":
    """The ``blocks`` but for the marked documents; beyond the marks' end none is left out."""
    first = 0
    for block in blocks:
        marks = left_out[first : first + block.documents]
        first += block.documents
        kept = np.concatenate([~marks, np.ones(block.documents - marks.size, np.bool_)])
        yield block.select(kept)


def _is_release(given: "Matrix | ReadableRelease") -> TypeGuard[ReadableRelease]:
    return hasattr(given, "law") and hasattr(given, "rows")
