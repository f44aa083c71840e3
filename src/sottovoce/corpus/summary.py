"""A community in a few numbers, from one pass over its posts."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sottovoce._notebook import html_facts
from sottovoce.corpus.words.codes import WordCoder
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.corpus.words.scan import text_buffers

QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True)
class PostsSummary:
    """How many, how long, how often; no word and no name."""

    users: int
    posts: int
    words: int
    posts_by_week: dict[date, int]
    """Posts in each calendar week (from Monday, UTC) between the first and the last."""
    posts_per_user: tuple[float, ...]
    """The quantiles QUANTILES."""
    words_per_post: tuple[float, ...]
    """The quantiles QUANTILES."""

    def _repr_html_(self) -> str:
        facts = {
            "users": self.users,
            "posts": self.posts,
            "words": self.words,
            "weeks": len(self.posts_by_week),
            "posts of a user, at the median": self.posts_per_user[QUANTILES.index(0.5)],
            "words of a post, at the median": self.words_per_post[QUANTILES.index(0.5)],
        }
        return html_facts(facts)


def summarise_posts(batches: Iterable[pa.RecordBatch]) -> PostsSummary:
    """Read posts once; memory grows with the number of users and weeks only.

    >>> from sottovoce.corpus import open_posts
    >>> summarise_posts(open_posts([("ada", "2024-01-01", "a loan at the bank")])).words
    4
    """
    users: Counter[str] = Counter()
    weeks: Counter[date] = Counter()
    lengths: Counter[int] = Counter()
    counter = WordCoder(TokenRules(), known={})
    for batch in batches:
        _add_values(users, batch["user"])
        _add_values(weeks, _week(batch["time"]))
        words, times = np.unique(_words_in_each(batch["text"], counter), return_counts=True)
        lengths.update(dict(zip(words.tolist(), times.tolist(), strict=True)))
    per_user = np.fromiter(users.values(), np.int64, len(users))
    return PostsSummary(
        users=len(users),
        posts=int(per_user.sum()),
        words=sum(length * times for length, times in lengths.items()),
        posts_by_week=_without_gaps(weeks),
        posts_per_user=_quantiles(per_user, np.ones(len(users), np.int64)),
        words_per_post=_quantiles(
            np.fromiter(lengths.keys(), np.int64), np.fromiter(lengths.values(), np.int64)
        ),
    )


def _add_values(counter: Counter[Any], column: pa.Array) -> None:
    for pair in pc.value_counts(column).to_pylist():
        counter[pair["values"]] += pair["counts"]


def _week(times: pa.Array) -> pa.Array:
    return pc.floor_temporal(times, unit="week").cast(pa.date32())


def _words_in_each(texts: pa.Array, counter: WordCoder) -> NDArray[np.int64]:
    buffers = text_buffers(texts)
    stream, _ = counter.encode(buffers, 0, buffers.rows)
    return np.diff(stream.ends, prepend=0)


def _without_gaps(weeks: Counter[date]) -> dict[date, int]:
    if not weeks:
        return {}
    days = range(min(weeks).toordinal(), max(weeks).toordinal() + 1, 7)
    return {week: weeks[week] for week in map(date.fromordinal, days)}


def _quantiles(values: NDArray[np.int64], times: NDArray[np.int64]) -> tuple[float, ...]:
    """Quantiles of ``values``, each occurring so many ``times``: the least value at or above."""
    if not values.size:
        return ()
    order = np.argsort(values)
    reached = np.cumsum(times[order])
    places = np.searchsorted(reached, np.array(QUANTILES) * reached[-1])
    return tuple(values[order[places]].astype(float).tolist())
