"""A release whose rows are groups of documents: what is added up, said, refused and charged."""

from pathlib import Path

import pyarrow as pa
import pytest
from scipy import sparse

import sottovoce as sv
from sottovoce.corpus.vocabulary import everyday_words, is_term
from sottovoce.corpus.words.rules import ENGLISH
from sottovoce.errors import BudgetError, InputError, ParameterError
from sottovoce.release.folder import verified_card
from sottovoce.release.groups import Grouping, group_names, summed_by_group

POSTS = pa.table(
    {
        "author": ["ada", "ben", "ada", "cy"],
        "subject": ["Loans", "The sea", "Re: Loans", "The sea"],
        "text": ["a loan", "the sea and the bank", "my loan my bank", "sea"],
    }
)
WORDS = ["bank", "loan", "sea"]


def released(folder: Path, **more: object) -> sv.release.Release:
    asked = {"words": WORDS, "epsilon": 2, "precision": 2, "ledger": folder / "ledger"}
    found = sv.release_counts(POSTS, **{"out": folder / "out", **asked, **more})  # type: ignore[call-overload]  # any options
    assert isinstance(found, sv.release.Release)
    return found


def test_counts_of_a_group_are_the_sum_of_its_documents() -> None:
    counts = sparse.csr_array([[0, 1, 0], [1, 0, 1], [1, 1, 0], [0, 0, 1]])
    names = group_names(POSTS["subject"].to_pylist(), "subject")
    summed, groups = summed_by_group(counts, names)
    assert groups == ("Loans", "The sea")
    assert summed.toarray().tolist() == [[1, 2, 0], [1, 0, 2]]


def test_rows_are_numbered_and_the_card_says_what_is_disclosed(tmp_path: Path) -> None:
    found = released(tmp_path, by="subject")
    assert found.card.documents == 2
    said = found.card.in_words()
    assert "Which groups there are and how many is disclosed" in said
    assert "one author's documents may lie in many rows" in said
    assert not (tmp_path / "out/ids.txt").exists()
    assert b"Loans" not in b"".join(each.read_bytes() for each in (tmp_path / "out").iterdir())
    assert verified_card(tmp_path / "out").groups == {"by": "subject", "ids": False}


def test_ids_are_published_only_where_they_are_said_to_be_public(tmp_path: Path) -> None:
    released(tmp_path, by="subject", ids="public")
    assert (tmp_path / "out/ids.txt").read_text() == "Loans\nThe sea\n"
    verified_card(tmp_path / "out")
    (tmp_path / "out/ids.txt").write_text("Loans\nAnother\n")
    with pytest.raises(InputError, match=r"ids.txt is missing or not what the card says"):
        verified_card(tmp_path / "out")


def test_a_row_for_each_author_needs_ids_that_are_public(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="tells who is there.*--ids public"):
        released(tmp_path, by="author")
    assert released(tmp_path, by="author", ids="public").card.documents == 3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ids": "public"}, "a column to group by"),
        ({"by": "subject", "ids": "yes"}, "ids must be public"),
        ({"by": "subject", "labels": "author"}, "goes with neither"),
        ({"by": "nothing"}, "no column 'nothing'"),
    ],
)
def test_what_does_not_go_together_is_refused(
    tmp_path: Path, given: dict[str, str], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        released(tmp_path, **given)


def test_every_document_of_a_group_pays(tmp_path: Path) -> None:
    released(tmp_path, by="subject")
    with pytest.raises(BudgetError):
        sv.release_counts(
            ["my loan my bank"],
            words=WORDS,
            epsilon=1,
            precision=2,
            ledger=tmp_path / "ledger",
            budget=2,
            out=tmp_path / "alone",
        )


def test_the_same_release_again_spends_nothing_and_another_grouping_is_another(
    tmp_path: Path,
) -> None:
    first = released(tmp_path, by="subject", budget=9)
    before = (tmp_path / "out/counts.npz").read_bytes()
    assert released(tmp_path, by="subject", budget=9).card == first.card
    assert (tmp_path / "out/counts.npz").read_bytes() == before
    other = released(tmp_path, by="subject", ids="public", budget=9, out=tmp_path / "other")
    assert other.card.ledger != first.card.ledger


def test_a_group_without_a_name_is_refused() -> None:
    with pytest.raises(ParameterError, match="1 of 2 have no 'thread'"):
        group_names(["a", None], "thread")
    assert Grouping("thread").ids is False


def test_the_everyday_list_is_public_plain_and_in_no_order_but_the_alphabets() -> None:
    words = everyday_words()
    assert not words.data_dependent
    assert list(words.terms) == sorted(set(words.terms))
    assert all(map(is_term, words.terms))
    assert not set(words.terms) & ENGLISH
    assert {"bank", "loan", "sea", "tired", "hospital"} <= set(words.terms)
