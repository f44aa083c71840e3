"""A community in numbers."""

from datetime import UTC, date, datetime

import pyarrow as pa

from sottovoce.corpus.schema import POSTS
from sottovoce.corpus.summary import QUANTILES, summarise_posts


def batch(*posts: tuple[str, datetime, str]) -> pa.RecordBatch:
    columns = zip(*posts, strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, POSTS, strict=True)],
        schema=POSTS,
    )


def test_posts_are_counted_by_user_week_and_length() -> None:
    monday, sunday = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 7, 23, tzinfo=UTC)
    later = datetime(2024, 1, 17, tzinfo=UTC)
    summary = summarise_posts(
        [
            batch(("ann", monday, "one two three"), ("bob", sunday, "")),
            batch(("ann", later, "four five"), ("ann", later, "six")),
        ]
    )
    assert (summary.users, summary.posts, summary.words) == (2, 4, 6)
    assert summary.posts_by_week == {date(2024, 1, 1): 2, date(2024, 1, 8): 0, date(2024, 1, 15): 2}
    assert dict(zip(QUANTILES, summary.posts_per_user, strict=True))[1.0] == 3
    assert summary.words_per_post == (0, 0, 1, 2, 3, 3)
