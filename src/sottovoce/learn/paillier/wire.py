"""Encryption and decryption of arrays, and encrypted arrays as bytes.

A header of public facts, then the ciphertexts, each equally long:

    magic "SVPA" | version, 1 byte | header's length, 4 bytes | header, JSON | ciphertexts

What leaves is blinded, and the bound in the header is a step of the public plan. What comes in is
checked, and counts as not blinded, so that it is when passed on; that its sender kept to the bound
it states can only be seen when it is decrypted.
"""

import json
import math
import struct
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import as_grid, gmpy2, plus_plain
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey, check_ciphertexts
from sottovoce.learn.paillier.slots import (
    Integers,
    SlotPlan,
    as_integers,
    blocks,
    check_fraction_bits,
    check_size,
    decode,
    encode,
    pack,
    unpack,
)
from sottovoce.learn.wire.codec import Fields, field, from_hexadecimal, parse_fields

Key: TypeAlias = PublicKey | PrivateKey
MAGIC = b"SVPA"
VERSION = 1
_PREFIX = struct.Struct(">4sBI")
_LARGEST_HEADER = 1 << 16
_MOST_AXES = 8
_MOST_NUMBERS = 1 << 31
_WORD_BITS = 64
_PLANNED = ("slot_bits", "slots", "program")


def encrypt(values: ArrayLike, plan: SlotPlan, key: Key) -> EncryptedArray:
    """Encrypt numbers, rounded to the plan's binary places; faster with the private key."""
    return encrypt_integers(encode(values, plan.fraction_bits), plan, key)


def encrypt_integers(integers: ArrayLike, plan: SlotPlan, key: Key) -> EncryptedArray:
    """Encrypt integers as they are; they stand for themselves over 2^``plan.fraction_bits``.

    Damgard, Jurik and Nielsen: (1 + m n) h^(n r) mod n^2.
    """
    public = key.public if isinstance(key, PrivateKey) else key
    given = as_integers(integers)
    _check_plan(given, plan, public)
    plain = pack(given, plan)
    pairs = list(zip(key.blinding.factors(plain.size), plain.ravel().tolist(), strict=True))
    grid = as_grid(plus_plain(public.n, public.n_squared, pairs), plain.shape)
    length = given.shape[-1] if given.ndim else 1
    return EncryptedArray(
        public, plan, grid, length, plan.value_bound, plan.fraction_bits, blinded=True
    )


def decrypt(array: EncryptedArray, private: PrivateKey) -> NDArray[np.float64]:
    """The numbers, to the nearest double."""
    return decode(decrypt_integers(array, private), array.fraction_bits)


def decrypt_integers(array: EncryptedArray, private: PrivateKey) -> Integers:
    """The slots' integers: machine integers where slots have at most 64 bits, else Python's."""
    if array.public != private.public:
        raise InputError("this array was encrypted under another key.")
    n = private.public.n
    plain = private.secret.plaintexts(array.ciphertexts.ravel().tolist())
    signed = [each - n if 2 * each > n else each for each in plain]
    found = unpack(signed, array.length, array.plan)
    if any(abs(each) > array.bound for each in found):
        raise InputError("decrypted values exceed the array's bound: its sender broke the plan.")
    if array.plan.slot_bits <= _WORD_BITS:
        return np.array(found, dtype=np.int64).reshape(array.shape)
    return as_grid(found, array.shape)


def _check_plan(given: Integers, plan: SlotPlan, public: PublicKey) -> None:
    if plan.key_bits != public.bits:
        raise ParameterError(
            f"the plan is for a key of {plan.key_bits} bits, and this one has {public.bits}."
        )
    if given.ndim == 0 and plan.slots > 1:
        raise ParameterError("a packed array needs at least one axis; plan it unpacked.")
    check_size(given, plan.value_bound)


def array_to_bytes(array: EncryptedArray) -> bytes:
    """An array to send: blinded if it was computed on."""
    sent = array if array.blinded else array.blind()
    header = json.dumps(_header(sent)).encode()
    size = sent.public.ciphertext_bytes
    body = b"".join(int(each).to_bytes(size, "big") for each in sent.ciphertexts.ravel())
    return _PREFIX.pack(MAGIC, VERSION, len(header)) + header + body


def array_from_bytes(data: bytes, public: PublicKey, *, plan: SlotPlan) -> EncryptedArray:
    """An array of the agreed ``plan`` that came from outside, checked."""
    fields, body = _split(data)
    if field(fields, "key", str) != public.fingerprint:
        raise InputError("this array was encrypted under another key.")
    if {name: fields.get(name) for name in _PLANNED} != _plan_fields(plan):
        raise InputError("this array was encrypted under another plan than was agreed on.")
    shape = _shape(fields)
    length = shape[-1] if shape else 1
    grid_shape = (*shape[:-1], blocks(length, plan)) if plan.slots > 1 else shape
    numbers = _ciphertexts(body, math.prod(grid_shape), public)
    fraction_bits = field(fields, "fraction_bits", int)
    check_fraction_bits(fraction_bits)
    bound = from_hexadecimal(fields.get("bound"), "bound")
    if plan.public_bound(bound) != bound:
        raise ParameterError("an array's bound must be a step of the plan that was agreed on.")
    grid = as_grid(numbers, grid_shape)
    return EncryptedArray(public, plan, grid, length, bound, fraction_bits)


def _header(array: EncryptedArray) -> Fields:
    return {
        "key": array.public.fingerprint,
        "shape": array.shape,
        **_plan_fields(array.plan),
        "bound": f"{array.plan.public_bound(array.bound):x}",
        "fraction_bits": array.fraction_bits,
    }


def _plan_fields(plan: SlotPlan) -> Fields:
    """A plan as a header states it."""
    stages = [[f"{stage.bound:x}", stage.fraction_bits] for stage in plan.program.stages]
    return {"slot_bits": plan.slot_bits, "slots": plan.slots, "program": stages}


def _split(data: bytes) -> tuple[Fields, memoryview]:
    if len(data) < _PREFIX.size:
        raise InputError("this is not an encrypted array: it is too short.")
    magic, version, length = _PREFIX.unpack_from(data)
    if magic != MAGIC:
        raise InputError("this is not an encrypted array.")
    if version != VERSION:
        raise InputError(f"an encrypted array must be of version {VERSION}, got {version}.")
    if length > _LARGEST_HEADER:
        raise InputError(f"an array's header must have at most {_LARGEST_HEADER} bytes.")
    body = _PREFIX.size + length
    return parse_fields(data[_PREFIX.size : body], "an encrypted array"), memoryview(data)[body:]


def _shape(fields: Fields) -> tuple[int, ...]:
    shape = field(fields, "shape", list)
    whole = all(type(axis) is int and axis >= 0 for axis in shape)  # True is no axis
    if not whole or len(shape) > _MOST_AXES:
        raise InputError(f"an array's shape must be at most {_MOST_AXES} whole numbers.")
    # An empty axis makes no array small enough for numpy if the others are endless.
    if math.prod(max(axis, 1) for axis in shape) >= _MOST_NUMBERS:
        raise InputError(f"an array must have fewer than {_MOST_NUMBERS} numbers.")
    return tuple(shape)


def _ciphertexts(body: memoryview, count: int, public: PublicKey) -> list[int]:
    size = public.ciphertext_bytes
    if len(body) != count * size:
        raise InputError(f"an array of this shape must hold {count} ciphertexts of {size} bytes.")
    numbers = [
        gmpy2.mpz(int.from_bytes(body[at : at + size], "big")) for at in range(0, len(body), size)
    ]
    check_ciphertexts(numbers, public.n)
    return numbers
