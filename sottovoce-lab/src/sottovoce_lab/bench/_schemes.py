"""Ours and its peers, each as keys, encryption, sum, product with a scalar, and decryption.

All get the same whole numbers, which suits phe best: it would align floats' exponents at each sum.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.learn.paillier.keys import generate_key
from sottovoce.learn.paillier.slots import Program, plan_slots
from sottovoce.learn.paillier.wire import decrypt, encrypt_integers

Values = NDArray[np.int64]
# What the peers' ciphertexts look like is their business.
Encrypted = Any

VALUE_BITS = 24
SCALAR = 12_345
_SLOT_BITS = 64
_ZPAILLIER = "sf-heu ZPaillier"
_OU = "sf-heu OU"


class Scheme(Protocol):
    """A key pair and what can be done with it; ``part`` is how many values it is timed on."""

    name: str
    part: int

    def encrypt(self, values: Values) -> Encrypted: ...
    def add(self, left: Encrypted, right: Encrypted) -> Encrypted: ...
    def times(self, encrypted: Encrypted) -> Encrypted: ...
    def decrypt(self, encrypted: Encrypted) -> NDArray[np.float64]: ...


class Ours:
    """Packed arrays, encrypted with the public key."""

    name = "ours"

    def __init__(self, bits: int, part: int) -> None:
        self.part = part
        self._private = generate_key(bits)
        self.public = self._private.public
        program = Program.of_bits(VALUE_BITS).add_up(2).scale(SCALAR)
        self.plan = plan_slots(program, key_bits=bits, slot_bits=_SLOT_BITS)

    def encrypt(self, values: Values) -> Encrypted:
        return encrypt_integers(values, self.plan, self.public)

    def encrypt_as_owner(self, values: Values) -> Encrypted:
        return encrypt_integers(values, self.plan, self._private)

    def add(self, left: Encrypted, right: Encrypted) -> Encrypted:
        return left + right

    def times(self, encrypted: Encrypted) -> Encrypted:
        return encrypted * SCALAR

    def decrypt(self, encrypted: Encrypted) -> NDArray[np.float64]:
        return decrypt(encrypted, self._private)


class Phe:
    """One ciphertext for each value."""

    name = "phe with gmpy2"
    part = 32

    def __init__(self, bits: int) -> None:
        from phe import paillier as phe  # noqa: PLC0415 - a peer, where it is installed

        self._public, self._private = phe.generate_paillier_keypair(n_length=bits)

    def encrypt(self, values: Values) -> Encrypted:
        return [self._public.encrypt(value) for value in values.tolist()]

    def add(self, left: Encrypted, right: Encrypted) -> Encrypted:
        return [a + b for a, b in zip(left, right, strict=True)]

    def times(self, encrypted: Encrypted) -> Encrypted:
        return [each * SCALAR for each in encrypted]

    def decrypt(self, encrypted: Encrypted) -> NDArray[np.float64]:
        return np.array([self._private.decrypt(each) for each in encrypted], dtype=np.float64)


class Heu:
    """One ciphertext for each value, in C++ and in arrays."""

    part = 64

    def __init__(self, name: str, bits: int) -> None:
        import heu.numpy  # noqa: PLC0415 - a peer, where it is installed
        import heu.phe  # noqa: PLC0415 - likewise

        schemas = {_ZPAILLIER: heu.phe.SchemaType.ZPaillier, _OU: heu.phe.SchemaType.OU}
        self.name = name
        self._kit = heu.numpy.setup(schemas[name], bits)
        self._encoder = heu.phe.IntegerEncoder(self._kit.get_schema(), 1)
        self._evaluator = self._kit.evaluator()

    def encrypt(self, values: Values) -> Encrypted:
        return self._kit.encryptor().encrypt(self._kit.array(values, self._encoder))

    def add(self, left: Encrypted, right: Encrypted) -> Encrypted:
        return self._evaluator.add(left, right)

    def times(self, encrypted: Encrypted) -> Encrypted:
        scalars = np.full(encrypted.size, SCALAR)
        return self._evaluator.mul(encrypted, self._kit.array(scalars, self._encoder))

    def decrypt(self, encrypted: Encrypted) -> NDArray[np.float64]:
        plain = self._kit.decryptor().decrypt(encrypted)
        return np.asarray(plain.to_numpy(self._encoder), dtype=np.float64)


class Ckks:
    """Another scheme altogether: approximate, on lattices, thousands of values a ciphertext."""

    name = "TenSEAL CKKS, approximate"
    part = 4096
    _DEGREE = 8192
    _MODULI = (60, 40, 40, 60)
    _UNIT = 2.0**VALUE_BITS

    def __init__(self, _bits: int) -> None:
        import tenseal  # noqa: PLC0415 - a peer, where it is installed

        self._vector = tenseal.ckks_vector
        self._context = tenseal.context(
            tenseal.SCHEME_TYPE.CKKS,
            self._DEGREE,
            coeff_mod_bit_sizes=list(self._MODULI),
            n_threads=1,
        )
        self._context.global_scale = 2.0**40

    def encrypt(self, values: Values) -> Encrypted:
        return self._vector(self._context, values / self._UNIT)

    def add(self, left: Encrypted, right: Encrypted) -> Encrypted:
        return left + right

    def times(self, encrypted: Encrypted) -> Encrypted:
        return encrypted * SCALAR

    def decrypt(self, encrypted: Encrypted) -> NDArray[np.float64]:
        return np.array(encrypted.decrypt()) * self._UNIT


# By name: the package that must be installed, and what makes its keys.
PEERS: dict[str, tuple[str, Callable[[int], Scheme]]] = {
    Phe.name: ("phe", Phe),
    _ZPAILLIER: ("heu", partial(Heu, _ZPAILLIER)),
    _OU: ("heu", partial(Heu, _OU)),
    Ckks.name: ("tenseal", Ckks),
}


def installed_peers(bits: int) -> list[Scheme]:
    """The peers that are here, with keys."""
    return [make(bits) for package, make in PEERS.values() if find_spec(package) is not None]
