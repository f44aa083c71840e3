"""How texts become rows: public, and the same at every peer."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from sottovoce.corpus._vocabulary import Vocabulary
from sottovoce.corpus.words._rules import TokenRules
from sottovoce.errors import ParameterError, check_choice

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
        if not np.isfinite(self.weights).all():
            raise ParameterError("a feature map's numbers must be finite, got NaN or infinity.")
        outside = entries.size and (entries.min() < 0 or entries[:, 1].max() >= self.width)
        if outside:
            raise ParameterError(f"a feature map's columns must be 0 to {self.width - 1}.")

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
            nominate, found by a secure sum (see `runs.dictionary`); ``hashed``: all words, hashed
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
        if listed and Vocabulary.public(self.words).under(self.rules).terms != self.words:
            raise ParameterError(
                "words must be in the form in which the rules count them, each once; "
                "Vocabulary.under(rules).terms are."
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
