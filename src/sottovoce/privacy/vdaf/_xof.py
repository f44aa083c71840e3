"""XofTurboShake128: bytes and field elements that nobody can tell from chance without the seed.

What is hashed is

    length of the tag (2 bytes, the lowest first), tag, length of the seed (1 byte), seed, binder

The tag separates domains: the version of the standard, that it is a VDAF, which one, what the
output is used for, and the application's context. So no output for one use, algorithm or
application is one for another.

TurboSHAKE128: a sponge on Keccak-p[1600, 12], as RFC 9861 has it.

The state is 25 lanes of 64 bits, lane x + 5 y at column x and row y. A round is

    theta   a lane is added the parities of the column before and, turned by one, the one after,
    rho     every lane is turned by its own number of bits,
    pi      lane (x, y) goes to (y, 2 x + 3 y),
    chi     a lane is added (not the next) and (the one after) of its row,
    iota    lane (0, 0) is added the round's constant.

TurboSHAKE takes the last 12 of the 24 rounds of SHAKE. A message is followed by one byte that names
its domain (1 to 127), zeros to a whole block of 168 bytes, and a one as the last bit.

No branch and no index depends on what is hashed. No library that we already install has TurboSHAKE:
`hashlib` and `cryptography` have SHAKE128 with its 24 rounds alone.
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from sottovoce.compiled import kernel
from sottovoce.errors import ParameterError
from sottovoce.privacy.vdaf.field import Field, Words

RATE_BYTES = 168
ROUNDS = 12
ALL_ROUNDS = 24
_LANE_BYTES = 8
_RATE_LANES = RATE_BYTES // _LANE_BYTES
_LANES = 25
_LAST_DOMAIN = 0x7F
_LAST_BIT = 0x80


def _turns_and_places() -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """By how many bits rho turns each lane, and where pi puts it.

    The lanes in the order (1, 0), then ever (y, 2 x + 3 y), are turned by 1, 3, 6, 10, ...
    """
    turns = np.zeros(_LANES, dtype=np.uint64)
    x, y, turned = 1, 0, 0
    for step in range(1, _LANES):
        turned += step
        turns[x + 5 * y] = turned % 64
        x, y = y, (2 * x + 3 * y) % 5
    lanes = [(lane % 5, lane // 5) for lane in range(_LANES)]
    places = np.array([y + 5 * ((2 * x + 3 * y) % 5) for x, y in lanes], dtype=np.int64)
    return turns, places


def _constants() -> NDArray[np.uint64]:
    """Of iota: bit 2^j - 1 of round i's is bit 7 i + j of the shift register x^8+x^6+x^5+x^4+1."""
    found, register = [], 1
    for _ in range(ALL_ROUNDS):
        constant = 0
        for j in range(7):
            constant |= (register & 1) << ((1 << j) - 1)
            register <<= 1
            register ^= 0x171 * (register >> 8)
        found.append(constant)
    return np.array(found, dtype=np.uint64)


_TURNS, _PLACES = _turns_and_places()
_CONSTANTS = _constants()
_ONE = np.uint64(1)
_WORD = np.uint64(64)
_WITHIN_WORD = np.uint64(63)


@kernel
def _rotate_lane(lane: np.uint64, bits: np.uint64) -> np.uint64:
    return (lane << bits) | (lane >> ((_WORD - bits) & _WITHIN_WORD))


@kernel
def _permute(state: NDArray[np.uint64], rounds: int) -> None:
    """The last ``rounds`` rounds of Keccak-f[1600], in place."""
    parity = np.empty(5, dtype=np.uint64)
    moved = np.empty(25, dtype=np.uint64)
    for turn in range(ALL_ROUNDS - rounds, ALL_ROUNDS):
        for x in range(5):
            column = state[x] ^ state[x + 5] ^ state[x + 10]
            parity[x] = column ^ state[x + 15] ^ state[x + 20]
        for x in range(5):
            added = parity[(x + 4) % 5] ^ _rotate_lane(parity[(x + 1) % 5], _ONE)
            for lane in range(x, 25, 5):
                moved[_PLACES[lane]] = _rotate_lane(state[lane] ^ added, _TURNS[lane])
        for row in range(0, 25, 5):
            for x in range(5):
                both = ~moved[row + (x + 1) % 5] & moved[row + (x + 2) % 5]
                state[row + x] = moved[row + x] ^ both
        state[0] ^= _CONSTANTS[turn]


@kernel
def _sponge(blocks: NDArray[np.uint64], rounds: int, out: NDArray[np.uint64]) -> None:
    """Absorb whole blocks, then fill ``out``."""
    state = np.zeros(25, dtype=np.uint64)
    for start in range(0, blocks.size, _RATE_LANES):
        for lane in range(_RATE_LANES):
            state[lane] ^= blocks[start + lane]
        _permute(state, rounds)
    for place in range(out.size):
        if place and place % _RATE_LANES == 0:
            _permute(state, rounds)
        out[place] = state[place % _RATE_LANES]


def turboshake128(message: bytes, length: int, *, domain: int, rounds: int = ROUNDS) -> bytes:
    """The first ``length`` bytes that ``message`` gives in the domain.

    More rounds than 12 are for tests: with 24, domain 0x1F is SHAKE128.

    >>> turboshake128(b"", 8, domain=0x1F).hex()
    '1e415f1c5983aff2'
    """
    if not 1 <= domain <= _LAST_DOMAIN:
        raise ParameterError(f"a domain must be 1 to {_LAST_DOMAIN}, got {domain}.")
    blocks = len(message) // RATE_BYTES + 1
    padded = bytearray(blocks * RATE_BYTES)
    padded[: len(message)] = message
    padded[len(message)] = domain
    padded[-1] ^= _LAST_BIT
    out = np.empty(-(-length // _LANE_BYTES), dtype=np.uint64)
    _sponge(np.frombuffer(padded, dtype="<u8").astype(np.uint64, copy=False), rounds, out)
    return out.astype("<u8", copy=False).tobytes()[:length]


SEED_BYTES = 32
VERSION = 18
"""The draft whose messages these are; later ones changed no byte of them."""
_VDAF_CLASS = 0
_DOMAIN = 1
_LONGEST_CONTEXT = (1 << 16) - 1 - 8


class XofUsage(IntEnum):
    """What an output is for."""

    MEASUREMENT_SHARE = 1
    PROOF_SHARE = 2
    JOINT_RANDOMNESS = 3
    PROVE_RANDOMNESS = 4
    QUERY_RANDOMNESS = 5
    JOINT_SEED = 6
    JOINT_PART = 7


def domain_tag(algorithm: int, usage: XofUsage, context: bytes) -> bytes:
    """The tag of a use in an application.

    >>> domain_tag(4, XofUsage.JOINT_SEED, b"app").hex()
    '1200000000040006617070'
    """
    if len(context) > _LONGEST_CONTEXT:
        raise ParameterError(
            f"a context must have at most {_LONGEST_CONTEXT} bytes, got {len(context)}."
        )
    numbers = (VERSION, 1), (_VDAF_CLASS, 1), (algorithm, 4), (usage, 2)
    return b"".join(number.to_bytes(size, "big") for number, size in numbers) + context


def xof_bytes(seed: bytes, tag: bytes, binder: bytes, length: int = SEED_BYTES) -> bytes:
    """The first ``length`` bytes: a seed, unless another length is asked for."""
    if len(seed) != SEED_BYTES:
        raise ParameterError(f"a seed must have {SEED_BYTES} bytes, got {len(seed)}.")
    head = len(tag).to_bytes(2, "little") + tag + bytes([SEED_BYTES])
    return turboshake128(head + seed + binder, length, domain=_DOMAIN)


def xof_elements(field: Field, seed: bytes, tag: bytes, binder: bytes, length: int) -> Words:
    """The first ``length`` elements: numbers of the field's size, those of p or more left out.

    So every element is equally likely. A number is left out with chance 2^-32 (Field64) or
    2^-59 (Field128); the stream is then taken a little further.
    """
    found = np.empty((0, 2), dtype=np.uint64)
    drawn = length
    while len(found) < length:
        stream = xof_bytes(seed, tag, binder, drawn * field.size)
        found = field.fitting(field.words(stream))
        drawn += max(length - len(found), 1)
    return field.enter(found[:length])
