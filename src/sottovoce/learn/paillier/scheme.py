"""Encryption and decryption of arrays."""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import as_grid, plus_plain
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.paillier.packing import (
    Integers,
    as_integers,
    check_size,
    decode,
    encode,
    pack,
    unpack,
)
from sottovoce.learn.paillier.plan import SlotPlan

Key: TypeAlias = PublicKey | PrivateKey
_WORD_BITS = 64


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
