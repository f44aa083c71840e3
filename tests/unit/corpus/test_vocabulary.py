"""Vocabularies keep their order and their mark."""

import unicodedata
from pathlib import Path

import pyarrow as pa
import pytest

from sottovoce.corpus.counts import count_batches
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules, normal_texts
from sottovoce.errors import CorpusError, ParameterError


@pytest.mark.parametrize("data_dependent", [True, False])
def test_a_saved_vocabulary_comes_back_with_its_mark(tmp_path: Path, data_dependent: bool) -> None:
    saved = Vocabulary(("b", "a", "a b"), data_dependent=data_dependent, origin="a test")
    saved.save(tmp_path / "v.txt")
    assert Vocabulary.load(tmp_path / "v.txt") == saved


def test_a_plain_list_is_public_and_its_words_are_folded(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("Apple\napple\n\n t-shirt\npanic Attack\nοδος\none two three\n")
    loaded = Vocabulary.load(tmp_path / "v.txt")
    assert loaded.terms == ("apple", "panic attack", "οδοσ")
    assert not loaded.data_dependent


def test_the_fingerprint_depends_on_terms_and_order() -> None:
    prints = {Vocabulary.public(terms).fingerprint for terms in (["a", "b"], ["b", "a"], ["ab"])}
    assert len(prints) == 3


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ([], "at least 1 term, got none"),
        (["a", "a", "a"], "must differ, got 2 repeated"),
        (["Apple", "b c d", "t-shirt", "a  b", "", "ok"], "got 5 that are not"),
    ],
)
def test_lists_that_cannot_name_columns_are_refused(terms: list[str], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Vocabulary.public(terms)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no term"),
        (b"\xff\xfe\x00", "no UTF-8 text"),
        (b'#sottovoce-vocabulary {"data_dependent": tru\nword\n', "header .* is damaged"),
        (b"#sottovoce-vocabulary 3\nword\n", "header .* is damaged"),
        (b'word\n#sottovoce-vocabulary {"data_dependent": true, "origin": ""}\n', "is damaged or"),
        (b'\n#sottovoce-vocabulary {"data_dependent": true, "origin": ""}\nword', "is damaged or"),
        (b'#sottovoce-vocabulary{"data_dependent": true, "origin": ""}\nword', "is damaged or"),
        (b'#sottovoce-vocabulary {"data_dependent": null, "origin": ""}\nword', "is damaged or"),
    ],
)
def test_files_that_hold_no_vocabulary_are_refused(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "v.txt").write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        Vocabulary.load(tmp_path / "v.txt")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="cannot read the vocabulary .*: No such file"):
        Vocabulary.load(tmp_path / "none.txt")


def test_a_byte_order_mark_does_not_hide_the_mark(tmp_path: Path) -> None:
    saved = Vocabulary(("word",), data_dependent=True, origin="a test")
    (tmp_path / "v.txt").write_text(saved.as_text(), encoding="utf-8-sig")
    assert Vocabulary.load(tmp_path / "v.txt") == saved


def test_words_that_the_data_chose_are_for_the_owner_only(tmp_path: Path) -> None:
    for data_dependent in (True, False):
        path = tmp_path / str(data_dependent)
        Vocabulary(("word",), data_dependent=data_dependent, origin="a test").save(path)
        assert (path.stat().st_mode & 0o077 == 0) is data_dependent


def test_a_saved_list_of_odd_stems_comes_back_exactly(tmp_path: Path) -> None:
    odd = Vocabulary(("\u064bx", "Word", "a b c"), data_dependent=True, origin="stems")
    odd.save(tmp_path / "v.txt")
    assert Vocabulary.load(tmp_path / "v.txt").terms == odd.terms


def test_a_list_is_put_into_the_form_in_which_it_is_counted() -> None:
    rules = TokenRules(stem="english", stop_words=frozenset({"the"}), shortest=3)
    listed = Vocabulary.public(["running", "runs", "the", "of", "the debts", "big debts"])
    assert listed.apply_rules(rules).terms == ("run", "big debt")
    with pytest.raises(ParameterError, match="no term of the vocabulary can occur"):
        Vocabulary.public(["the"]).apply_rules(rules)


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
