"""What a word is."""

import unicodedata

import numpy as np
import pytest
from support import reference_tokens as reference

from sottovoce.corpus.words import rules
from sottovoce.corpus.words.codes import tokenize
from sottovoce.corpus.words.rules import ENGLISH, TokenRules, normal_form
from sottovoce.errors import ParameterError

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, World_2!", ["hello", "world_2"]),
        ("a I x", []),
        ("don't", ["don"]),
        ("ΟΔΟΣ οδος", ["οδοσ", "οδοσ"]),
        ("İstanbul", ["i̇stanbul"]),
        ("co\u00adoperate", ["cooperate"]),
        ("se\u200bcret", ["secret"]),
        ("\u0301ab", ["ab"]),
        ("cafe\u0301", ["caf\u00e9"]),
        ("👍🏽 ok", ["ok"]),
        ("nul\x00byte", ["nul", "byte"]),
        ("שָׁלוֹם עולם", ["שלום", "עולם"]),
    ],
)
def test_a_text_is_cut_into_words_as_the_reference_does(text: str, words: list[str]) -> None:
    assert tokenize([text]) == [words]
    assert reference.words(normal_form(text)) == words


def test_a_run_of_up_to_256_characters_is_a_word_and_a_longer_one_is_not() -> None:
    for letter in "aé":
        kept, dropped = tokenize([letter * 256, letter * 257])
        assert kept == [letter * 256]
        assert dropped == []


@pytest.mark.parametrize("size", range(1, 18))
def test_words_of_every_size_around_a_chunk_are_told_apart(size: int) -> None:
    words = ["x" * size, "x" * (size - 1) + "y", "x" * (size + 1)]
    assert tokenize([" ".join(words * 2)], TokenRules(shortest=1)) == [words * 2]


def test_stop_words_go_and_stems_stay() -> None:
    rules = TokenRules(stop_words=ENGLISH, stem="english")
    assert tokenize(["They were running"], rules) == [["run"]]


def test_every_character_has_the_kind_and_lower_case_of_the_unicode_database() -> None:
    tables = rules.character_tables()
    for point in range(rules.CODE_POINTS):
        character = chr(point)
        category = unicodedata.category(character)
        expected = rules.SEPARATOR
        if character == "_" or character.isalnum():
            expected = rules.WORD
        elif category[0] == "M":
            expected = rules.EXTEND
        elif category == "Cf":
            expected = rules.IGNORE
        assert tables.kind[point] == expected, hex(point)
    letters = np.flatnonzero(tables.kind == rules.WORD).tolist()
    plain = [p for p in letters if chr(p) not in "İΣς"]
    assert [chr(tables.lower[p]) for p in plain] == [chr(p).lower() for p in plain]


def test_lower_case_does_not_change_what_a_character_does_to_a_word() -> None:
    tables = rules.character_tables()
    assert (tables.kind[tables.lower] == tables.kind).all()


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"shortest": 0}, "shortest must be between 1 and 256, got 0"),
        ({"shortest": 257}, "shortest must be between 1 and 256, got 257"),
        ({"stem": "klingon"}, "stem must be one of .*english.*, got 'klingon'"),
    ],
)
def test_rules_out_of_bounds_are_refused(rules: dict[str, int], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        TokenRules(**rules)  # type: ignore[arg-type] # wrong on purpose
