"""What makes a text another document to a ledger, and what does not."""

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.privacy.ledger.documents import DocumentSet, fold_text, text_hash

TEXT = "My debt: a loan of 12 from the café, naïve \u0915\u0940"


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: text.replace(" ", "  ", 1), id="one blank more"),
        pytest.param(lambda text: f" \u00a0{text}\t", id="blanks at its ends"),
        pytest.param(lambda text: text.replace(" ", "\r\n"), id="other line ends"),
        pytest.param(lambda text: f"\ufeff{text}", id="a mark of order"),
        pytest.param(lambda text: f"\u201c{text}\u201d.", id="quotes and a stop"),
        pytest.param(lambda text: text.replace("debt", "de\u00adbt"), id="a soft hyphen"),
        pytest.param(str.upper, id="capitals"),
        pytest.param(lambda text: unicodedata.normalize("NFD", text), id="decomposed"),
    ],
)
def test_a_text_that_another_program_wrote_is_the_same_document(
    change: Callable[[str], str],
) -> None:
    assert change(TEXT) != TEXT
    assert text_hash(change(TEXT).encode()) == text_hash(TEXT.encode())


@pytest.mark.parametrize(
    "changed",
    [
        TEXT.replace("12", "13"),
        TEXT.replace("debt", "debts"),
        TEXT.replace("é", "e"),
        TEXT.replace("\u0940", "\u093e"),
        f"{TEXT} \U0001f600",
        TEXT.replace("a loan", "loan a"),
        "",
    ],
)
def test_another_letter_number_or_order_is_another_document(changed: str) -> None:
    assert text_hash(changed.encode()) != text_hash(TEXT.encode())


@given(st.text(st.characters(max_codepoint=127)))
def test_one_character_beyond_ascii_changes_nothing_before_it(text: str) -> None:
    assert fold_text(f"{text}é".encode()) == fold_text(text.encode()) + "é".encode()


@given(st.text())
def test_what_was_folded_stays_as_it_is(text: str) -> None:
    once = fold_text(text.encode())
    assert fold_text(once) == once


def test_documents_without_a_word_are_one_text() -> None:
    assert DocumentSet.of_texts(["", " ", "...", "a"]).copies == 2
