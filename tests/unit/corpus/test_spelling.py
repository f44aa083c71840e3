"""Texts that look alike are counted alike, and text that is spelt as usual stays as it is."""

import unicodedata

import pyarrow as pa

from sottovoce.corpus.counts import count_batches
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.codes import tokenize
from sottovoce.corpus.words.rules import TokenRules, normal_texts

WORDS = ("müde", "اكتئاب", "שלום", "한국")
VOWELLED = "اِكْتِئَاب"
POINTED = "שָׁלוֹם"


def counts(texts: list[str], words: tuple[str, ...] = WORDS) -> list[list[int]]:
    vocabulary = Vocabulary.public(words)
    return next(count_batches([pa.array(texts)], vocabulary, TokenRules())).toarray().tolist()


def test_decomposed_vowelled_and_pointed_words_are_found() -> None:
    decomposed = unicodedata.normalize("NFD", "müde 한국")
    assert decomposed != "müde 한국"
    assert counts([decomposed, VOWELLED, POINTED]) == [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0]]


def test_words_of_a_list_that_is_spelt_otherwise_are_found() -> None:
    decomposed = tuple(unicodedata.normalize("NFD", word) for word in ("müde",))
    assert counts(["so müde heute"], (*decomposed, VOWELLED)) == [[1, 0]]
    assert counts([f"{VOWELLED} اكتئاب"], (VOWELLED, "x1")) == [[2, 0]]


def test_usual_spelling_is_passed_on_untouched() -> None:
    for texts in (["a loan", "the sea"], ["müde", "Straße", None]):
        array = pa.array(texts)
        assert normal_texts(array) is array


def test_words_are_shown_in_the_usual_spelling() -> None:
    assert tokenize([unicodedata.normalize("NFD", "Müde")]) == [["müde"]]
