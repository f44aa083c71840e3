"""Fold-in: the topics of a post, all at once, under a topic model that stays as it is.

Two passes of collapsed variational inference of order zero over the post's distinct words. The
first goes forward and learns as it goes: each word is shared out among the topics by what the words
before it said. The second goes backward and shares each word out again by all other words. More
passes move on towards a mode of the posterior and predict unseen words of a short post worse.

A post has the same bits in any batch, on any number of threads and in any process: nothing of one
post is summed with another's, and sums over topics go in eight lanes, which is both a fixed order
and one that a processor can do side by side.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.compiled import Whole, kernel, unchecked_kernel
from sottovoce.topics.space import LANES, longest

_CACHE_LINE = 64
_BYTES = 8


@kernel
def align_rows(rows: Whole, width: Whole) -> Floats:
    """Zeros, each row of which begins where the processor fetches; wider than asked for."""
    wide = (width + LANES - 1) // LANES * LANES
    raw = np.zeros(rows * wide + LANES)
    begin = (_CACHE_LINE - raw.ctypes.data % _CACHE_LINE) % _CACHE_LINE // _BYTES
    return raw[begin : begin + rows * wide].reshape(rows, wide)


def plain_next(
    expected: Floats,
    before: Floats,
    factor: float,
    chances: NDArray[np.float32],
    weights: Floats,
    size: Whole,
) -> float:
    """Add a word's share, ``before`` times ``factor``, and weigh the next word; the weights' sum.

    ``chances`` are the next word's; its ``weights`` are written.
    """
    for topic in range(size):
        expected[topic] += before[topic] * factor
        weights[topic] = np.float64(chances[topic]) * expected[topic]
    return _plain_sum(weights, size)


def plain_again(
    expected: Floats,
    weights: Floats,
    factor: float,
    former: Floats,
    former_factor: float,
    own: Floats,
    own_factor: float,
    one: float,
    chances: NDArray[np.float32],
    size: Whole,
) -> float:
    """Put a word's new share in the place of its former one, and weigh the word before it again.

    The new share is ``weights`` times ``factor``, which then are the weights of the other word: by
    what is expected without ``one`` of its ``own`` occurrences. Their sum.
    """
    for topic in range(size):
        expected[topic] += weights[topic] * factor - former[topic] * former_factor
        others = expected[topic] - one * (own[topic] * own_factor)
        weights[topic] = np.float64(chances[topic]) * others
    return _plain_sum(weights, size)


def _plain_sum(values: Floats, size: int) -> float:
    whole = size - size % LANES
    lanes = [0.0] * LANES
    for at in range(whole):
        lanes[at % LANES] += values[at]
    a, b, c, d, e, f, g, h = lanes
    total = ((a + e) + (c + g)) + ((b + f) + (d + h))
    for at in range(whole, size):
        total += values[at]
    return total


if TYPE_CHECKING or numba.config.DISABLE_JIT:
    weigh_next, weigh_again = plain_next, plain_again
else:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    _DOUBLE, _PLACE = ir.DoubleType(), ir.IntType(64)
    _VECTOR, _SHORT = ir.VectorType(_DOUBLE, LANES), ir.VectorType(ir.FloatType(), LANES)

    class _Step:
        """Writes a loop over the topics: first eight at a time, then one by one."""

        def __init__(self, context: Any, builder: Any, signature: Any, given: Any) -> None:  # noqa: ANN401 - the compiler's own
            self.builder = builder
            self._given = [
                context.make_array(kind)(context, builder, value).data
                if isinstance(kind, types.Array)
                else value
                for kind, value in zip(signature.args, given, strict=True)
            ]

        def sum(self, weigh: Callable[..., Any]) -> Any:  # noqa: ANN401 - the compiler's own
            """The sum of what ``weigh`` finds for each topic, in the order of `lane_sum`."""
            builder, size = self.builder, self._given[-1]
            lanes = cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [0.0] * LANES))
            whole = builder.sub(size, builder.srem(size, _PLACE(LANES)))
            for kind, first, last, step in (
                (_VECTOR, _PLACE(0), whole, LANES),
                (_DOUBLE, whole, size, 1),
            ):
                if kind is _DOUBLE:
                    total = cgutils.alloca_once_value(builder, self._join_lanes(lanes))
                into = lanes if kind is _VECTOR else total
                with cgutils.for_range_slice(builder, first, last, _PLACE(step), _PLACE) as (at, _):
                    weight = weigh(_Topics(builder, self._given, at, kind))
                    builder.store(builder.fadd(builder.load(into), weight), into)
            return builder.load(total)

        def _join_lanes(self, lanes: Any) -> Any:  # noqa: ANN401 - the compiler's own
            add, found = self.builder.fadd, self.builder.load(lanes)
            a, b, c, d, e, f, g, h = (
                self.builder.extract_element(found, ir.IntType(32)(lane)) for lane in range(LANES)
            )
            return add(add(add(a, e), add(c, g)), add(add(b, f), add(d, h)))

    class _Topics:
        """Some topics of what a step was given: eight, or one."""

        def __init__(self, builder: Any, given: Any, at: Any, kind: Any) -> None:  # noqa: ANN401 - the compiler's own
            self._builder, self._given, self._at, self._kind = builder, given, at, kind

        def _address(self, number: int, kind: Any) -> Any:  # noqa: ANN401 - the compiler's own
            address = self._builder.gep(self._given[number], [self._at])
            return self._builder.bitcast(address, kind.as_pointer())

        def load(self, number: int) -> Any:  # noqa: ANN401 - the compiler's own
            """Of an array of doubles."""
            found = self._builder.load(self._address(number, self._kind))
            found.align = _BYTES
            return found

        def load_short(self, number: int) -> Any:  # noqa: ANN401 - the compiler's own
            """Of an array of floats, as doubles."""
            kind = _SHORT if self._kind is _VECTOR else ir.FloatType()
            found = self._builder.load(self._address(number, kind))
            found.align = _BYTES // 2
            return self._builder.fpext(found, self._kind)

        def store(self, number: int, values: Any) -> Any:  # noqa: ANN401 - the compiler's own
            """Into an array of doubles; the values themselves."""
            self._builder.store(values, self._address(number, self._kind)).align = _BYTES
            return values

        def times(self, values: Any, number: int) -> Any:  # noqa: ANN401 - the compiler's own
            """The values times a number that was given."""
            factor = self._given[number]
            if self._kind is _VECTOR:
                none = ir.Constant(_VECTOR, ir.Undefined)
                first = self._builder.insert_element(none, factor, ir.IntType(32)(0))
                lanes = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
                factor = self._builder.shuffle_vector(first, none, lanes)
            return self._builder.fmul(values, factor)

    @intrinsic
    def weigh_next(typing, expected, before, factor, chances, weights, size):  # noqa: ANN001, ANN202, ARG001 - numba's form
        """`plain_next` in vectors."""

        def write(context, builder, signature, given):  # noqa: ANN001, ANN202 - numba's form
            def weigh(topics: _Topics) -> Any:  # noqa: ANN401 - the compiler's own
                more = builder.fadd(topics.load(0), topics.times(topics.load(1), 2))
                topics.store(0, more)
                return topics.store(4, builder.fmul(topics.load_short(3), more))

            return _Step(context, builder, signature, given).sum(weigh)

        number = types.float64
        return number(expected, before, number, chances, weights, types.int64), write

    @intrinsic
    def weigh_again(  # noqa: ANN202 - numba's form
        typing,  # noqa: ANN001, ARG001 - numba's form
        expected,  # noqa: ANN001 - numba's form
        weights,  # noqa: ANN001 - numba's form
        factor,  # noqa: ANN001, ARG001 - numba's form
        former,  # noqa: ANN001 - numba's form
        former_factor,  # noqa: ANN001, ARG001 - numba's form
        own,  # noqa: ANN001 - numba's form
        own_factor,  # noqa: ANN001, ARG001 - numba's form
        one,  # noqa: ANN001, ARG001 - numba's form
        chances,  # noqa: ANN001 - numba's form
        size,  # noqa: ANN001, ARG001 - numba's form
    ):
        """`plain_again` in vectors."""

        def write(context, builder, signature, given):  # noqa: ANN001, ANN202 - numba's form
            def weigh(topics: _Topics) -> Any:  # noqa: ANN401 - the compiler's own
                share = topics.times(topics.load(1), 2)
                change = builder.fsub(share, topics.times(topics.load(3), 4))
                more = topics.store(0, builder.fadd(topics.load(0), change))
                # A product is the same whichever factor stands first.
                own_share = topics.times(topics.times(topics.load(5), 6), 7)
                others = builder.fsub(more, own_share)
                return topics.store(1, builder.fmul(topics.load_short(8), others))

            return _Step(context, builder, signature, given).sum(weigh)

        number = types.float64
        arrays = (expected, weights, number, former, number, own, number, number, chances)
        return number(*arrays, types.int64), write


# A block of posts stays in the cache between inference and what is made of it.
BLOCK = 64


@kernel
def fold_in(
    pointers: NDArray[np.int64],
    columns: NDArray[np.int32],
    counts: Floats,
    phi: NDArray[np.float32],
    alpha: Floats,
    first: Whole,
    last: Whole,
    out: Floats,
) -> None:
    """For each post, alpha plus the expected number of its words in each topic; 0 for no word.

    ``phi`` has a row for each word. A word's share of the topics is its weights times its factor:
    to multiply again costs less than to store and fetch a product.
    """
    topics = alpha.size
    most = longest(pointers, first, last)
    # Beyond the words' rows: of no word, of the word that is shared out again, what is expected.
    shares, factors = align_rows(most + 3, topics), np.zeros(most)
    nothing, weights, expected = shares[most], shares[most + 1], shares[most + 2]
    for row in range(first, last):
        begin, words = pointers[row], pointers[row + 1] - pointers[row]
        known, before, factor = False, nothing, 0.0
        expected[:topics] = alpha
        for place in range(words):
            chances, own = phi[columns[begin + place]], shares[place]
            total = weigh_next(expected, before, factor, chances, own, topics)
            # A word that no topic has says nothing.
            factor = counts[begin + place] / total if total > 0.0 else 0.0
            known = known or total > 0.0
            factors[place], before = factor, own
        for topic in range(topics):
            expected[topic] += before[topic] * factor
            weights[topic] = 0.0
        former, former_factor, factor = nothing, 0.0, 0.0
        for step in range(words):
            place = words - 1 - step
            chances, own, count = phi[columns[begin + place]], shares[place], counts[begin + place]
            total = weigh_again(
                expected,
                weights,
                factor,
                former,
                former_factor,
                own,
                factors[place],
                1.0 / count,
                chances,
                topics,
            )
            factor = count / total if total > 0.0 else 0.0
            former, former_factor = own, factors[place]
        for topic in range(topics):
            share = weights[topic] * factor - former[topic] * former_factor
            out[row - first, topic] = expected[topic] + share if known else 0.0


@kernel
def row_sums(values: Floats, rows: Whole, sums: Floats) -> None:
    """The sum of each row in the order of its numbers; of eight at a time, as each has to wait."""
    whole = rows - rows % LANES
    for row in range(0, whole, LANES):
        a = b = c = d = e = f = g = h = 0.0
        for at in range(values.shape[1]):
            a += values[row, at]
            b += values[row + 1, at]
            c += values[row + 2, at]
            d += values[row + 3, at]
            e += values[row + 4, at]
            f += values[row + 5, at]
            g += values[row + 6, at]
            h += values[row + 7, at]
        sums[row], sums[row + 1], sums[row + 2], sums[row + 3] = a, b, c, d
        sums[row + 4], sums[row + 5], sums[row + 6], sums[row + 7] = e, f, g, h
    for row in range(whole, rows):
        sums[row] = 0.0
        for at in range(values.shape[1]):
            sums[row] += values[row, at]


@unchecked_kernel
def cosines_with_dimensions(
    pointers: NDArray[np.int64],
    columns: NDArray[np.int32],
    counts: Floats,
    phi: NDArray[np.float32],
    alpha: Floats,
    set_pointers: NDArray[np.int64],
    sets: NDArray[np.int64],
    first: Whole,
    last: Whole,
    out: Floats,
) -> None:
    """Cosine of each post's theta with the indicator of each set of dimensions."""
    expected, squared = np.empty((BLOCK, alpha.size)), np.empty((BLOCK, alpha.size))
    squares, chosen = np.empty(BLOCK), set_pointers.size - 1
    inside, norms = np.empty(chosen), np.empty(chosen)
    single = sets.size == chosen
    for number in range(chosen):
        single &= set_pointers[number + 1] - set_pointers[number] == 1
    for begin in range(first, last, BLOCK):
        end = min(begin + BLOCK, last)
        fold_in(pointers, columns, counts, phi, alpha, begin, end, expected)
        for row in range(end - begin):
            for topic in range(alpha.size):
                squared[row, topic] = expected[row, topic] * expected[row, topic]
        row_sums(squared, end - begin, squares)
        for row in range(end - begin):
            if squares[row] > 0.0:
                values, found = expected[row], out[begin + row]
                if single:
                    _dimension_cosines(values, squares[row], sets, inside, found)
                else:
                    _set_cosines(values, squares[row], set_pointers, sets, norms, inside, found)


@unchecked_kernel
def _dimension_cosines(
    values: Floats, square: Whole, sets: NDArray[np.int64], inside: Floats, found: Floats
) -> None:
    """With sets of one dimension each, whose norm is the same for all."""
    norm = np.sqrt(square)
    for number in range(inside.size):
        inside[number] = values[sets[number]]
    for number in range(inside.size):
        found[number] = min(1.0, inside[number] / norm)


@unchecked_kernel
def _set_cosines(
    values: Floats,
    square: Whole,
    set_pointers: NDArray[np.int64],
    sets: NDArray[np.int64],
    norms: Floats,
    inside: Floats,
    found: Floats,
) -> None:
    for number in range(inside.size):
        begin, end = set_pointers[number], set_pointers[number + 1]
        norms[number], inside[number] = np.sqrt((end - begin) * square), 0.0
        for place in range(begin, end):
            inside[number] += values[sets[place]]
    for number in range(inside.size):
        found[number] = min(1.0, inside[number] / norms[number])
