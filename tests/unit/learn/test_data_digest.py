"""Digests of a peer's documents: keyed, by label, and whatever the order."""

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.learn.documents import (
    Documents,
    Table,
    data_digest,
    document_digests,
)

SECRET, OTHER = b"a secret of the peer's own ......", b"a secret of somebody else's ......"
PILLS = Documents.from_texts(
    ["cheap pills", "lunch at noon", "cheap pills"], ["spam", "ham", "spam"]
)


@pytest.mark.parametrize(
    "other",
    [
        Documents.from_texts(["cheap pills", "lunch at noon"], ["spam", "ham"]),
        Documents.from_texts(
            ["cheap pills", "lunch at noon", "cheap pills"], ["spam", "ham", "ham"]
        ),
        Documents.from_texts(
            ["cheap pills", "lunch at one", "cheap pills"], ["spam", "ham", "spam"]
        ),
        Documents.from_texts(["cheap pills", "lunch at noon", "cheap pills"], None),
    ],
    ids=["a copy less", "another label", "another word", "no labels"],
)
def test_every_change_changes_the_digest(other: Documents) -> None:
    assert data_digest(other, SECRET) != data_digest(PILLS, SECRET)


def test_without_the_secret_a_digest_says_nothing_about_a_document() -> None:
    assert not set(document_digests(PILLS, SECRET)) & set(document_digests(PILLS, OTHER))
    with pytest.raises(ParameterError, match="at least 16 bytes, got 0"):
        data_digest(PILLS, b"")


def test_sentences_of_one_document_are_one_digest() -> None:
    parts = Documents.from_texts(["one", "two", "three"], ["a", "a", "b"], ["x", "x", "y"])
    assert len(document_digests(parts, SECRET)) == 2
    regrouped = Documents.from_texts(["one", "two", "three"], ["a", "a", "b"], ["x", "y", "y"])
    assert data_digest(parts, SECRET) != data_digest(regrouped, SECRET)


def test_rows_are_known_by_the_names_of_their_columns() -> None:
    table = Table.from_rows([[1.0, 2.0], [0.0, 4.0]], ["a", "b"], ["x", "y"])
    turned = Table.from_rows([[2.0, 1.0], [4.0, -0.0]], ["a", "b"], ["y", "x"])
    assert data_digest(turned, SECRET) == data_digest(table, SECRET)
    renamed = Table.from_rows([[1.0, 2.0], [0.0, 4.0]], ["a", "b"], ["x", "z"])
    assert data_digest(renamed, SECRET) != data_digest(table, SECRET)
    assert len(document_digests(Table(np.ones((2, 1))), SECRET)) == 2
