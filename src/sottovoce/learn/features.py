"""How texts become rows: the recipe, public and the same at every peer, and the columns it makes.

`TextRecipe` says which features there are; `Features` turns texts into rows over them. Words are
hashed to numbers that only the holders of a key can work out, where a recipe has one.
"""

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import CorpusError, DataError, ParameterError
from sottovoce.learn.support import used_entries
from sottovoce.parsing import check_choice
from sottovoce.privacy.randomness import random_below

if TYPE_CHECKING:
    from sottovoce.corpus.counts import TermStatistics

Dictionary: TypeAlias = Literal["given", "agreed", "hashed", "mapped"]
FeatureValues: TypeAlias = Literal["binary", "counts"]
Unit: TypeAlias = Literal["document", "sentence"]
Declared: TypeAlias = Literal["all", "used"]
MOST_BUCKETS = 1 << 22
MOST_FEATURES = 1 << 16
_ROOM = 16


@dataclass(frozen=True)
class FeatureMap:
    """A sparse matrix from words to columns, as plain arrays.

    Attributes:
        entries: word and column of each number, one row a number.
        weights: the numbers.
        width: how many columns there are.
    """

    entries: NDArray[np.int64]
    weights: NDArray[np.float64]
    width: int

    def __post_init__(self) -> None:
        entries = np.asarray(self.entries)
        shaped = entries.ndim == 2 and entries.shape[1:] == (2,)  # noqa: PLR2004 - word and column
        if not shaped or len(entries) != len(self.weights) or self.width < 1:
            raise ParameterError(
                "a feature map must be pairs of word and column, a number for each, got "
                f"{entries.shape} and {len(self.weights)}, for {self.width} columns."
            )
        object.__setattr__(self, "entries", entries.astype(np.int64, copy=False))
        object.__setattr__(self, "weights", np.asarray(self.weights, np.float64))
        if not np.isfinite(self.weights).all():
            raise ParameterError("a feature map's numbers must be finite, got NaN or infinity.")
        outside = entries.size and (entries.min() < 0 or entries[:, 1].max() >= self.width)
        if outside:
            raise ParameterError(f"a feature map's columns must be 0 to {self.width - 1}.")

    def matrix(self, words: int) -> sparse.csr_array:
        """The numbers at their places; several of one place add up."""
        places = (self.entries[:, 0], self.entries[:, 1])
        return sparse.csr_array((self.weights, places), shape=(words, self.width))

    def columns_of(self, words: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The columns that some of these words add to."""
        matrix = used_entries(self.matrix(len(words))[np.flatnonzero(words)])
        return np.asarray(matrix.sum(axis=0) > 0).ravel()

    def check_words(self, words: int) -> None:
        """Refuse a map of more words than there are."""
        if len(self.entries) and self.entries[:, 0].max() >= words:
            raise ParameterError(
                f"a feature map's words must be 0 to {words - 1}, got "
                f"{int(self.entries[:, 0].max())}; give the word list it was made for."
            )


@dataclass(frozen=True)
class TextRecipe:
    """Which features a text has.

    Attributes:
        dictionary: ``given``: the public list ``words``; ``agreed``: words that enough peers
            nominate, found by a secure sum (see `run.dictionary`); ``hashed``: all words, hashed
            to ``width`` columns; ``mapped``: the public list, then ``mapping``.
        words: the public list.
        values: whether a feature says that a word occurs, or how often.
        width: how many columns ``hashed`` has, and the most that ``agreed`` keeps.
        signed: whether hashed words add 1 or -1, so that collisions cancel; with counts only.
        keyed: whether ``hashed`` uses a key that only the peers have.
        buckets: into how many buckets ``agreed`` sorts nominated words.
        candidates: how many words a peer nominates: the most frequent ones of its texts.
        padded: whether a peer marks random buckets besides, so that it marks ``candidates`` of them
            whatever it has; without, the sum tells how many words all peers nominate together.
        candidate_documents: a word that fewer of its texts use is not nominated.
        unit: what has a label and becomes a row.
        declared: what f_p says: that a peer has every feature, or which its texts use.
        shortest: the shortest word, in characters.
        stem: the language of the stemmer, if any.
        bigrams: whether neighbouring words make terms too.
        stop_words: words that do not count.
        mapping: from words to columns, for ``mapped``.
    """

    dictionary: Dictionary = "agreed"
    words: tuple[str, ...] = ()
    values: FeatureValues = "binary"
    width: int = 1000
    signed: bool = False
    keyed: bool = False
    buckets: int = 1 << 18
    candidates: int = 2000
    padded: bool = False
    candidate_documents: int = 2
    unit: Unit = "document"
    declared: Declared = "all"
    shortest: int = 2
    stem: str | None = None
    bigrams: bool = False
    stop_words: tuple[str, ...] = ()
    mapping: FeatureMap | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_choice("dictionary", self.dictionary, get_args(Dictionary))
        check_choice("values", self.values, get_args(FeatureValues))
        check_choice("unit", self.unit, get_args(Unit))
        check_choice("declared", self.declared, get_args(Declared))
        _check_range("width", self.width, 1, MOST_FEATURES)
        _check_range("buckets", self.buckets, self.width, MOST_BUCKETS)
        _check_range("candidates", self.candidates, 1, self.buckets)
        _check_range("candidate_documents", self.candidate_documents, 1, 1 << 30)
        if self.padded and _ROOM * self.candidates > self.buckets:
            raise ParameterError(
                f"padded needs at least {_ROOM} buckets for each candidate, got {self.buckets} for "
                f"{self.candidates}: random marks would meet too often."
            )
        self._check_words()
        _ = self.rules  # which refuses what is no stemmer
        if self.signed and (self.values != "counts" or self.dictionary != "hashed"):
            raise ParameterError(
                'signed is for dictionary="hashed" with values="counts": a feature of -1 and 0 '
                "would pass for a count when rare features are looked for."
            )
        if self.keyed and self.dictionary != "hashed":
            raise ParameterError('keyed is for dictionary="hashed"; agreed words always are.')

    def _check_words(self) -> None:
        listed = self.dictionary in {"given", "mapped"}
        if listed != bool(self.words):
            raise ParameterError(
                f'words must be given for dictionary="given" and "mapped" and for no other, '
                f"got {len(self.words)} for {self.dictionary!r}."
            )
        if listed and Vocabulary.public(self.words).apply_rules(self.rules).terms != self.words:
            raise ParameterError(
                "words must be in the form in which the rules count them, each once; "
                "Vocabulary.apply_rules(rules).terms are."
            )
        if (self.mapping is not None) != (self.dictionary == "mapped"):
            raise ParameterError('mapping must be given for dictionary="mapped" and no other.')
        if self.mapping is not None:
            self.mapping.check_words(len(self.words))

    @property
    def rules(self) -> TokenRules:
        """What a word is."""
        return TokenRules(self.shortest, frozenset(self.stop_words), self.stem, self.bigrams)

    @property
    def needs_key(self) -> bool:
        """Whether words are hashed under a key that the peers share and nobody else has."""
        return self.dictionary == "agreed" or self.keyed

    @property
    def presence(self) -> bool:
        """Whether rows are of 0 and 1: which words a text has."""
        return self.values == "binary" and self.dictionary != "mapped"

    @property
    def column_names(self) -> tuple[str, ...]:
        """The features' names where they are known beforehand; none for ``agreed``."""
        if self.dictionary == "given":
            return self.words
        if self.dictionary == "agreed":
            return ()
        width = self.width if self.mapping is None else self.mapping.width
        return tuple(f"#{column}" for column in range(width))


def _check_range(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise ParameterError(f"{name} must be from {least} to {most}, got {value}.")


PUBLIC_KEY = b"sottovoce: hashed features"  # whoever hashes without a key uses this one


@dataclass(frozen=True)
class Features:
    """What LOCALTEXT needs beside the texts.

    Private Text Classification, Protocol 2: LOCALTEXT and the common dictionary.

    Attributes:
        recipe: how texts become rows.
        key: the peers' common key, where words are hashed under one; never printed.
        chosen: the buckets that were agreed on, in the order of the columns.
    """

    recipe: TextRecipe
    key: bytes = b""
    chosen: NDArray[np.int64] | None = None

    def __repr__(self) -> str:
        """Without the key."""
        return f"Features({self.recipe.dictionary!r}, {len(self.names)} columns)"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, which all parties know: words, or numbers of buckets."""
        if self.chosen is None:
            return self.recipe.column_names
        return tuple(f"#{bucket}" for bucket in self.chosen.tolist())

    def rows(self, texts: tuple[str, ...]) -> Floats:
        """One row a text.

        Private Text Classification, Protocol 2: LOCALTEXT.
        """
        found: Floats = self._count_words(texts).toarray().astype(np.float64)
        if self.recipe.presence:
            return np.where(found != 0, 1.0, 0.0)
        return found

    def _count_words(self, texts: tuple[str, ...]) -> sparse.csr_array:
        recipe = self.recipe
        if recipe.words:
            if recipe.mapping is None:
                return _counts(texts, recipe.words, recipe)
            matrix = recipe.mapping.matrix(len(recipe.words))
            return sparse.csr_array(self.word_rows(texts) @ matrix)
        words = own_words(texts, recipe)
        if not words:
            return sparse.csr_array((len(texts), len(self.names)))
        return sparse.csr_array(_counts(texts, words, recipe) @ self._place_words(words))

    def columns_of(self, words: Iterable[str]) -> NDArray[np.bool_]:
        """Whose support is counted, column by column or word by word: those of these words."""
        listed = tuple(words)
        if self.recipe.words:
            return np.isin(np.array(self.recipe.words, object), np.array(listed, object))
        if not listed:
            return np.zeros(len(self.names), bool)
        return np.asarray(used_entries(self._place_words(listed)).sum(axis=0) > 0).ravel()

    def uses_of(self, words: Mapping[str, int]) -> Floats:
        """How many documents use each column at most, if so many use each of these words."""
        if not self.recipe.words:
            placed = used_entries(self._place_words(tuple(words)))
            return np.asarray(np.fromiter(words.values(), np.float64, len(words)) @ placed)
        uses = np.array([words.get(word, 0) for word in self.recipe.words], np.float64)
        if self.recipe.mapping is None:
            return uses
        return np.asarray(uses @ used_entries(self.recipe.mapping.matrix(len(uses))))

    def word_rows(self, texts: tuple[str, ...]) -> sparse.csr_array:
        """One row a text over the words of the public list, before any map."""
        counts = _counts(texts, self.recipe.words, self.recipe)
        if self.recipe.values == "binary":
            return used_entries(counts)
        return sparse.csr_array(counts.astype(np.float64))

    def _place_words(self, words: tuple[str, ...]) -> sparse.csr_array:
        """From a peer's own words to the common columns; words outside them go nowhere."""
        recipe, key = self.recipe, self.key or PUBLIC_KEY
        signs = word_signs(words, key) if recipe.signed else np.ones(len(words))
        at = np.arange(len(words))
        if self.chosen is None:
            columns = word_buckets(words, key, recipe.width)
            return sparse.csr_array((signs, (at, columns)), shape=(len(words), recipe.width))
        buckets = word_buckets(words, key, recipe.buckets)
        columns = np.minimum(np.searchsorted(self.chosen, buckets), len(self.chosen) - 1)
        inside = self.chosen[columns] == buckets
        shape = (len(words), len(self.chosen))
        return sparse.csr_array((signs[inside], (at[inside], columns[inside])), shape=shape)


def term_rows(
    texts: tuple[str, ...], recipe: TextRecipe
) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """How often each text uses each word of all of them, and the words."""
    words = own_words(texts, recipe)
    if not words:
        return sparse.csr_array((len(texts), 0)), ()
    return _counts(texts, words, recipe), words


def frequent_words(texts: tuple[str, ...], most: int) -> tuple[str, ...]:
    """The words that texts use most often; the texts choose them, so that they are not public."""
    return _statistics(texts, TextRecipe()).vocabulary(max_terms=most).terms


def own_words(texts: tuple[str, ...], recipe: TextRecipe) -> tuple[str, ...]:
    """Every word that a peer's texts use; none if they hold none."""
    return _statistics(texts, recipe).terms


def nominate_buckets(texts: tuple[str, ...], recipe: TextRecipe, key: bytes) -> NDArray[np.float64]:
    """1 for each bucket that a word falls into which the peer nominates, 0 for the others.

    It nominates the words that most of its texts use, alphabetically where as many do. The vector
    says nothing about how often, and is as long whatever the vocabulary.
    """
    statistics = _statistics(texts, recipe)
    often = np.flatnonzero(statistics.texts >= recipe.candidate_documents)
    order = often[np.argsort(-statistics.texts[often], kind="stable")][: recipe.candidates]
    if not order.size:
        raise DataError(
            f"a peer must have a word that {recipe.candidate_documents} of its texts use, got "
            "none; give it more texts or lower candidate_documents."
        )
    words = [statistics.terms[at] for at in order]
    bits = np.zeros(recipe.buckets)
    bits[word_buckets(words, key, recipe.buckets)] = 1.0
    return pad_marks(bits, recipe.candidates) if recipe.padded else bits


def pad_marks(bits: NDArray[np.float64], marks: int) -> NDArray[np.float64]:
    """The same marks and random ones, ``marks`` in all: they do not say how many words there are.

    Where random marks of enough peers meet, a column stands for no word; no document uses it, and
    it is dropped with the rare ones.
    """
    whole, lacking = bits.copy(), marks - int(bits.sum())
    while lacking > 0:
        bucket = random_below(len(whole))
        lacking -= int(whole[bucket] == 0)
        whole[bucket] = 1.0
    return whole


def word_hashes(words: Iterable[str], key: bytes) -> NDArray[np.uint64]:
    """64 bits of HMAC-SHA256 of each word."""
    digests = (hmac.digest(key, word.encode(), "sha256")[:8] for word in words)
    return np.frombuffer(b"".join(digests), "<u8")


def word_buckets(words: Iterable[str], key: bytes, buckets: int) -> NDArray[np.int64]:
    """The bucket of each word.

    The top bit stays free for `word_signs`; what 63 bits modulo ``buckets`` favour some buckets by
    is below 2^-40.
    """
    hashes = word_hashes(words, key) & np.uint64((1 << 63) - 1)
    return (hashes % np.uint64(buckets)).astype(np.int64)


def word_signs(words: Iterable[str], key: bytes) -> NDArray[np.float64]:
    """1 or -1 for each word."""
    return np.where(word_hashes(words, key) >> np.uint64(63), 1.0, -1.0)


def _statistics(texts: tuple[str, ...], recipe: TextRecipe) -> "TermStatistics":
    from sottovoce.corpus.counts import term_statistics  # noqa: PLC0415 - loads the compiler

    return term_statistics([_array(texts)], recipe.rules)


def _counts(texts: tuple[str, ...], words: tuple[str, ...], recipe: TextRecipe) -> sparse.csr_array:
    return word_counts(texts, words, recipe.rules)


def word_counts(
    texts: tuple[str, ...], words: tuple[str, ...], rules: TokenRules
) -> sparse.csr_array:
    """How often each text uses each of ``words``."""
    # Who counts no texts, as a coordinator does not, starts in half the time without the compiler.
    from sottovoce.corpus.counts import count_batches  # noqa: PLC0415 - loads the compiler

    vocabulary = Vocabulary(words, data_dependent=True, origin="a peer's own words")
    try:
        (matrix,) = count_batches([_array(texts)], vocabulary, rules)
    except CorpusError as error:
        raise DataError("a peer's texts could not be counted; check the files.") from error
    return matrix


def _array(texts: tuple[str, ...]) -> pa.Array:
    return pa.array(texts, pa.large_string())
