"""XofTurboShake128: bytes and field elements that nobody can tell from chance without the seed.

What is hashed is

    length of the tag (2 bytes, the lowest first), tag, length of the seed (1 byte), seed, binder

The tag separates domains: the version of the standard, that it is a VDAF, which one, what the
output is used for, and the application's context. So no output for one use, algorithm or
application is one for another.
"""

from enum import IntEnum

import numpy as np

from sottovoce.errors import ParameterError
from sottovoce.privacy.vdaf._keccak import turboshake128
from sottovoce.privacy.vdaf._modular import Words
from sottovoce.privacy.vdaf.field import Field

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
    return field.entered(found[:length])
