"""The two steps of the fold-in that go over all topics of a word, eight topics at a time.

A step adds what one word says and weighs the next by it; the weights are summed in eight lanes, in
the order of `lane_sum`. The steps are written as vectors for the compiler: left to find these it
goes over the topics three times, and waits for each sum. A processor without such wide vectors does
the same operations in several parts, so the bits are the same everywhere; nothing is fused.
Uncompiled, they are plain loops.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.compiled import Whole, kernel
from sottovoce.topics.rows import LANES

_CACHE_LINE = 64
_BYTES = 8


@kernel
def aligned(rows: Whole, width: Whole) -> Floats:
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
                    total = cgutils.alloca_once_value(builder, self._joined(lanes))
                into = lanes if kind is _VECTOR else total
                with cgutils.for_range_slice(builder, first, last, _PLACE(step), _PLACE) as (at, _):
                    weight = weigh(_Topics(builder, self._given, at, kind))
                    builder.store(builder.fadd(builder.load(into), weight), into)
            return builder.load(total)

        def _joined(self, lanes: Any) -> Any:  # noqa: ANN401 - the compiler's own
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
