"""The yardstick itself: phrases counted within posts, ties shared out."""

import numpy as np
import pyarrow as pa
import pytest

from sottovoce.corpus.simulate.write import occurrences, r_precision


@pytest.mark.parametrize(
    ("texts", "phrases", "expected"),
    [
        (["Low, low. LOW!", "lower"], ("low",), [3, 0]),
        (["a panic attack", "panic", "attack panic"], ("panic attack",), [1, 0, 0]),
        (["then panic", "attack again"], ("panic attack",), [0, 0]),
        (["ends in panic"], ("panic attack",), [0]),
        (["hit run..."], ("hit run", "run"), [2]),
        (["nothing here"], ("absent", "here absent"), [0]),
    ],
)
def test_occurrences_are_counted_within_a_post(
    texts: list[str], phrases: tuple[str, ...], expected: list[int]
) -> None:
    counts = occurrences(pa.chunked_array([texts]), phrases)
    assert counts.tolist() == expected


def test_texts_in_several_chunks_count_like_one() -> None:
    counts = occurrences(pa.chunked_array([["low"], ["high", "low low"]]), ("low",))
    assert counts.tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("scores", "relevant", "expected"),
    [
        ([3, 2, 1, 0], [1, 1, 0, 0], 1.0),
        ([0, 1, 2, 3], [1, 1, 0, 0], 0.0),
        ([1, 1, 1, 1], [1, 1, 0, 0], 0.5),
        ([2, 1, 1, 0], [1, 1, 0, 0], 0.75),
        ([1, 2, 3], [0, 0, 0], 0.0),
    ],
)
def test_r_precision_shares_ties_out(
    scores: list[float], relevant: list[int], expected: float
) -> None:
    assert r_precision(np.array(scores), np.array(relevant, dtype=bool)) == pytest.approx(expected)
