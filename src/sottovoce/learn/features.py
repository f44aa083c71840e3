"""Texts as rows over the features of a run.

Words as numbers that only the holders of a key can work out.
"""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from sottovoce._arrays import Floats
from sottovoce.corpus._count import count_batches, term_statistics
from sottovoce.corpus._vocabulary import Vocabulary
from sottovoce.errors import CorpusError
from sottovoce.learn._recipe import TextRecipe
from sottovoce.learn.documents import NoDocumentsError
from sottovoce.privacy._randomness import random_below

PUBLIC_KEY = b"sottovoce: hashed features"  # whoever hashes without a key uses this one


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
        found: Floats = self._counted(texts).toarray().astype(np.float64)
        if self.recipe.values == "binary" and self.recipe.dictionary != "mapped":
            return np.where(found != 0, 1.0, 0.0)
        return found

    def _counted(self, texts: tuple[str, ...]) -> sparse.csr_array:
        recipe = self.recipe
        if recipe.words:
            counts = _counts(texts, recipe.words, recipe)
            return counts if recipe.mapping is None else self._mapped(counts)
        words = own_words(texts, recipe)
        if not words:
            return sparse.csr_array((len(texts), len(self.names)))
        return sparse.csr_array(_counts(texts, words, recipe) @ self._placed(words))

    def _mapped(self, counts: sparse.csr_array) -> sparse.csr_array:
        mapping = self.recipe.mapping
        if mapping is None:  # only called where there is one
            return counts
        if self.recipe.values == "binary":
            counts = sparse.csr_array((counts > 0).astype(np.float64))
        shape = (len(self.recipe.words), mapping.width)
        places = (mapping.entries[:, 0], mapping.entries[:, 1])
        return sparse.csr_array(counts @ sparse.csr_array((mapping.weights, places), shape=shape))

    def _placed(self, words: tuple[str, ...]) -> sparse.csr_array:
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


def own_words(texts: tuple[str, ...], recipe: TextRecipe) -> tuple[str, ...]:
    """Every word that a peer's texts use; none if they hold none."""
    return term_statistics([_array(texts)], recipe.rules).terms


def nominated(texts: tuple[str, ...], recipe: TextRecipe, key: bytes) -> NDArray[np.float64]:
    """1 for each bucket that a word falls into which the peer nominates, 0 for the others.

    It nominates the words that most of its texts use, alphabetically where as many do. The vector
    says nothing about how often, and is as long whatever the vocabulary.
    """
    statistics = term_statistics([_array(texts)], recipe.rules)
    often = np.flatnonzero(statistics.texts >= recipe.candidate_documents)
    order = often[np.argsort(-statistics.texts[often], kind="stable")][: recipe.candidates]
    if not order.size:
        raise NoDocumentsError(
            f"a peer must have a word that {recipe.candidate_documents} of its texts use, got "
            "none; give it more texts or lower candidate_documents."
        )
    words = [statistics.terms[at] for at in order]
    bits = np.zeros(recipe.buckets)
    bits[word_buckets(words, key, recipe.buckets)] = 1.0
    return padded(bits, recipe.candidates) if recipe.padded else bits


def padded(bits: NDArray[np.float64], marks: int) -> NDArray[np.float64]:
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


def _counts(texts: tuple[str, ...], words: tuple[str, ...], recipe: TextRecipe) -> sparse.csr_array:
    vocabulary = Vocabulary(words, data_dependent=True, origin="a peer's own words")
    try:
        (matrix,) = count_batches([_array(texts)], vocabulary, recipe.rules)
    except CorpusError as error:
        raise NoDocumentsError("a peer's texts could not be counted; check the files.") from error
    return matrix


def _array(texts: tuple[str, ...]) -> pa.Array:
    return pa.array(texts, pa.large_string())
