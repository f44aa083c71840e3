"""A sketch of ranks keeps its promises, whatever was merged with what."""

import struct
import zlib
from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sottovoce_spark.rank_sketch import RankSketch, body_width

from sottovoce.assess.ranking import susceptibility, users_at_least_as_exposed
from sottovoce.errors import InputError, ParameterError

Scores = NDArray[np.float64]
ERROR = 0.05


def check_promises(sketch: RankSketch, scores: Scores) -> None:
    """Brackets hold the truth, are as narrow as promised, and are exact in the top."""
    for found, true in (
        (sketch.ranks(scores), susceptibility(scores)),
        (sketch.at_least(scores), users_at_least_as_exposed(scores)),
    ):
        low, high = found
        assert (low <= true).all()
        assert (true <= high).all()
        assert (high - low).max() <= sketch.error * scores.size
        top = susceptibility(scores) <= sketch.exact * sketch.users
        assert (low == high)[top].all()


def merged(
    parts: list[Scores], order: Random, *, users: int, error: float = ERROR, exact: float = 0.01
) -> RankSketch:
    """Sketch each part, and merge any two until one is left; some go through bytes."""
    sketches = []
    for part in parts:
        sketch = RankSketch(users, error=error, exact=exact)
        sketch.add(part)
        sketches.append(sketch)
    while len(sketches) > 1:
        other = sketches.pop(order.randrange(len(sketches)))
        if order.random() < 0.3:
            other = RankSketch.from_bytes(other.to_bytes())
        sketches[order.randrange(len(sketches))].merge(other)
    return sketches[0]


def cut(scores: Scores, order: Random, parts: int) -> list[Scores]:
    borders = sorted(order.randrange(scores.size + 1) for _ in range(parts - 1))
    return list(np.split(scores, borders))


@settings(max_examples=50, deadline=None)
@given(
    values=st.lists(
        st.one_of(
            st.integers(-3, 3).map(float),
            st.floats(allow_nan=False),
            st.sampled_from([0.0, -0.0, float("inf"), float("-inf")]),
        ),
        min_size=1,
        max_size=400,
    ),
    parts=st.integers(1, 40),
    seed=st.integers(0, 2**32),
    error=st.sampled_from([0.5, 0.2, 0.05]),
    exact=st.sampled_from([0.0, 0.01, 0.1, 1.0]),
)
def test_promises_hold_for_any_scores_and_any_merge_tree(
    values: list[float], parts: int, seed: int, error: float, exact: float
) -> None:
    scores, order = np.array(values), Random(seed)
    # Not just as many as were announced.
    users = scores.size + order.choice([0, 0, 1000])
    sketch = merged(cut(scores, order, parts), order, users=users, error=error, exact=exact)
    assert len(sketch) == scores.size
    check_promises(sketch, scores)


SHAPES: dict[str, Callable[[int, np.random.Generator], Scores]] = {
    "rising": lambda n, _: np.arange(n, dtype=np.float64),
    "falling": lambda n, _: -np.arange(n, dtype=np.float64),
    "nearly all nothing": lambda n, g: np.where(g.random(n) < 0.02, g.random(n), 0.0),
    "two values": lambda n, g: g.integers(0, 2, n).astype(np.float64),
    "heavy tail": lambda n, g: g.pareto(0.5, n),
    "grid": lambda n, g: np.round(g.normal(size=n) * 64) / 64,
    "organ pipes": lambda n, _: np.minimum(np.arange(n), np.arange(n)[::-1]).astype(np.float64),
    "infinite": lambda n, g: np.where(g.random(n) < 0.3, np.inf, g.normal(size=n)),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("parts", [1, 7, 300])
def test_promises_hold_for_shapes_that_are_hard_to_summarise(shape: str, parts: int) -> None:
    scores = SHAPES[shape](30_000, np.random.default_rng(1))
    sketch = merged(cut(scores, Random(2), parts), Random(3), users=scores.size)
    check_promises(sketch, scores)


def test_one_by_one_costs_no_more_than_promised() -> None:
    """The tree that thins out most often: a chain of single users."""
    scores = np.random.default_rng(4).normal(size=2000)
    sketch = RankSketch(scores.size, error=ERROR)
    for score in scores:
        single = RankSketch(scores.size, error=ERROR)
        single.add([score])
        sketch.merge(single)
    check_promises(sketch, scores)
    assert 0 < sketch.widest <= ERROR * scores.size


@pytest.mark.parametrize(
    ("users", "parts"),
    [
        (300_000, 200),
        pytest.param(10**6, 200, marks=pytest.mark.long),
        pytest.param(10**7, 1000, marks=pytest.mark.long),
    ],
)
def test_many_users_are_ranked_within_a_thousandth(users: int, parts: int) -> None:
    """Scores on the grid, with a heavy tie at nothing, over a random tree of parts."""
    generator = np.random.default_rng(5)
    scores = np.round(generator.normal(size=users) * 2**20) / 2**20
    scores[generator.random(users) < 0.2] = 0.0
    sketch = merged(np.array_split(scores, parts), Random(6), users=users, error=0.001)
    check_promises(sketch, scores)
    low, high = sketch.ranks(scores)
    off = int(np.abs((low + high) // 2 - susceptibility(scores)).max())
    assert 0 < sketch.widest <= users // 1000
    assert off <= users // 1000
    assert len(sketch.to_bytes()) < users


@pytest.mark.parametrize("exact", [0.0, 0.01])
def test_a_bracket_is_a_number_where_all_tie(exact: float) -> None:
    sketch = merged([np.zeros(5000)] * 20, Random(7), users=100_000, exact=exact)
    assert [tuple(side) for side in sketch.ranks([1.0, 0.0, -1.0])] == [(1, 1, 100_001)] * 2


def test_the_width_gives_the_error() -> None:
    for users in (1, 10, 12_345, 10**7, 10**9):
        for error in (0.5, 0.01, 0.001):
            width = body_width(users, error)
            assert width % 2 == 0
            assert (users // width).bit_length() <= error * width


def test_more_users_than_announced_are_refused() -> None:
    sketch = RankSketch(3)
    sketch.add([1.0, 2.0])
    with pytest.raises(InputError, match="at most 3 users, got 4"):
        sketch.add([1.0, 2.0])
    assert len(sketch) == 2


def test_sketches_of_other_promises_are_not_merged() -> None:
    with pytest.raises(InputError, match="same number of users"):
        RankSketch(10).merge(RankSketch(11))


@pytest.mark.parametrize(
    "bad", [{"users": 0}, {"users": 5, "error": 0.0}, {"users": 5, "exact": 1.5}]
)
def test_bad_promises_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match="must be"):
        RankSketch(**bad)  # type: ignore[arg-type] # what is wrong is the point


def test_a_score_that_is_no_number_is_refused() -> None:
    sketch = RankSketch(10)
    with pytest.raises(ParameterError):
        sketch.add([1.0, float("nan")])
    with pytest.raises(ParameterError):
        sketch.ranks([float("nan")])


def _sketch() -> RankSketch:
    sketch = RankSketch(5000, error=0.05)
    sketch.add(np.random.default_rng(8).normal(size=5000))
    return sketch


def test_bytes_come_back_as_the_same_sketch() -> None:
    data = _sketch().to_bytes()
    again = RankSketch.from_bytes(data)
    assert again.to_bytes() == data
    scores = np.linspace(-4, 4, 500)
    for mine, other in zip(_sketch().ranks(scores), again.ranks(scores), strict=True):
        assert (mine == other).all()


@settings(max_examples=50, deadline=None)
@given(place=st.integers(0, 10**6), value=st.integers(1, 255), mend=st.booleans())
def test_a_changed_byte_is_refused_or_harmless(place: int, value: int, mend: bool) -> None:
    """With the checksum mended too, what is accepted still is a whole sketch of as many users."""
    data = bytearray(_BYTES)
    data[place % len(data)] ^= value
    if mend:
        data[-4:] = struct.pack("<I", zlib.crc32(data[:-4]))
    try:
        sketch = RankSketch.from_bytes(bytes(data))
    except InputError:
        return
    assert mend
    assert len(sketch) <= sketch.users
    low, high = sketch.ranks(np.linspace(-4, 4, 50))
    assert ((low >= 1) & (low <= high) & (high <= len(sketch) + 1)).all()


@settings(max_examples=50, deadline=None)
@given(data=st.binary(max_size=300))
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="no sketch of ranks"):
        RankSketch.from_bytes(data)


@pytest.mark.parametrize("length", [0, 7, 60, 100, 1000])
def test_bytes_cut_short_are_refused(length: int) -> None:
    with pytest.raises(InputError, match="no sketch of ranks"):
        RankSketch.from_bytes(_BYTES[:length])


_BYTES = _sketch().to_bytes()
