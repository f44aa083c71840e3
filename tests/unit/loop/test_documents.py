"""Posts as the documents that are released."""

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

from sottovoce.errors import CorpusError, ParameterError
from sottovoce.loop.documents import count_documents

WORDS = ("debt", "loan")


def posts() -> pa.Table:
    rows = [
        ("ada", datetime(2024, 1, 1, tzinfo=UTC), "debt and debt"),
        ("ben", datetime(2024, 1, 2, tzinfo=UTC), "a loan"),
        ("ada", datetime(2024, 1, 3, tzinfo=UTC), "loan"),
        ("ada", datetime(2024, 1, 9, tzinfo=UTC), "debt"),
    ]
    return pa.table(
        {
            "user": [user for user, _, _ in rows],
            "time": pa.array([time for _, time, _ in rows], pa.timestamp("us", "UTC")),
            "text": [text for _, _, text in rows],
        }
    )


def test_a_week_of_a_user_is_a_document() -> None:
    documents = count_documents(posts(), WORDS, "week")
    assert documents.counts.toarray().tolist() == [[2, 1], [1, 0], [0, 1]]
    assert documents.owners.tolist() == [0, 0, 1]
    assert np.diff(documents.buckets).tolist() == [1, -1]
    assert documents.rows_by_user().tolist() == [2, 1]


def test_all_that_a_user_wrote_is_a_document() -> None:
    documents = count_documents(posts(), WORDS, "user")
    assert documents.counts.toarray().tolist() == [[3, 1], [0, 1]]
    assert documents.buckets.tolist() == [0, 0]


def test_summing_over_weeks_gives_what_a_user_wrote_in_all() -> None:
    weeks, users = count_documents(posts(), WORDS, "week"), count_documents(posts(), WORDS, "user")
    summed = weeks.summed_by_user(weeks.counts).toarray()
    assert summed.tolist() == users.counts.toarray().tolist()


def test_other_shapes_and_no_posts_are_refused() -> None:
    with pytest.raises(ParameterError, match="shape must be one of user, week"):
        count_documents(posts(), WORDS, "month")  # type: ignore[arg-type] # on purpose
    with pytest.raises(CorpusError, match="needs posts"):
        count_documents(posts().slice(0, 0), WORDS, "week")
