"""Vocabularies keep their order and their mark."""

from pathlib import Path

import pytest

from sottovoce.corpus.vocabulary import Vocabulary
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
        (b"\xff\xfe\x00", "UnicodeDecodeError"),
        (b'#sottovoce-vocabulary {"data_dependent": tru\nword\n', "header .* is damaged"),
        (b"#sottovoce-vocabulary 3\nword\n", "header .* is damaged"),
    ],
)
def test_files_that_hold_no_vocabulary_are_refused(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "v.txt").write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        Vocabulary.load(tmp_path / "v.txt")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="cannot read the vocabulary .*FileNotFoundError"):
        Vocabulary.load(tmp_path / "none.txt")
