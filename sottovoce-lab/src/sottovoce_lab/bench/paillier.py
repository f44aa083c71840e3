"""Encryption, sums, products and decryption of our packed Paillier arrays beside the peers'.

Same values, same run, one core for all, in the processor's seconds (all threads', nobody else's): a
peer whose cost per value is constant is timed on few of them. What a second core gains is wall
time. Rows per value count what a user gets; rows per ciphertext compare the arithmetic alone.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CDLL
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.compiled import available_cores
from sottovoce.errors import CheckFailedError
from sottovoce.learn.paillier.grid import cores
from sottovoce.learn.paillier.keys import generate_key
from sottovoce.learn.paillier.slots import Program, plan_slots
from sottovoce.learn.paillier.wire import decrypt, encrypt_integers
from sottovoce_lab.bench.rows import (
    SECONDS,
    BenchRow,
    Work,
    bench_row,
    best_time,
    best_times,
    compared_row,
)

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


# Full ciphertexts at both lengths of key: 31 and 47 slots.
VALUES = 3 * 31 * 47
KEY_BITS = (2048, 3072)
# CKKS is right to about a millionth of the largest value.
_TOLERANCE = 1e-6
_row = partial(bench_row, "paillier")


class Ready(NamedTuple):
    """A scheme with values to work on, checked to compute what the others do."""

    scheme: Scheme
    values: Values
    encrypted: Encrypted
    other: Encrypted


OPERATIONS: dict[str, Callable[[Ready], object]] = {
    "encrypt": lambda of: of.scheme.encrypt(of.values),
    "add": lambda of: of.scheme.add(of.encrypted, of.other),
    "multiply by a scalar": lambda of: of.scheme.times(of.encrypted),
    "decrypt": lambda of: of.scheme.decrypt(of.encrypted),
}


def bench_paillier(
    values: int = VALUES, *, key_bits: tuple[int, ...] = KEY_BITS, seconds: float = SECONDS
) -> list[BenchRow]:
    """All operations under keys of each length."""
    return [row for bits in key_bits for row in _rows(bits, values, seconds)]


def _rows(bits: int, values: int, seconds: float) -> list[BenchRow]:
    numbers = _numbers(values)
    with one_core(), cores(1), output_to_errors():
        ours = Ours(bits, values)
        schemes = [_ready(each, numbers) for each in (ours, *installed_peers(bits))]
        speeds = {name: _speeds(schemes, work, seconds) for name, work in OPERATIONS.items()}
        rows = [*_per_value(bits, speeds), *_per_ciphertext(bits, speeds, ours.plan.slots)]
        rows += [_owner_row(bits, schemes[0], seconds), _first_row(bits, numbers, speeds)]
    if available_cores() > 1:
        rows += [
            _second_core_row(bits, schemes[0], name, seconds) for name in ("encrypt", "decrypt")
        ]
    return rows


def _numbers(count: int) -> Values:
    largest = 1 << VALUE_BITS
    return np.random.default_rng(0).integers(1 - largest, largest, count)


@contextmanager
def one_core() -> Iterator[None]:
    """Everything started within the block, threads of peers too, shares one core."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


@contextmanager
def output_to_errors() -> Iterator[None]:
    """What a peer's C++ prints goes to standard error: standard output is for the rows."""
    libc = CDLL(None)
    libc.fflush(None)
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        libc.fflush(None)
        os.dup2(kept, 1)
        os.close(kept)


def _ready(scheme: Scheme, numbers: Values) -> Ready:
    values = numbers[: scheme.part]
    encrypted, other = scheme.encrypt(values), scheme.encrypt(values[::-1].copy())
    for found, expected in (
        (scheme.decrypt(scheme.add(encrypted, other)), values + values[::-1]),
        (scheme.decrypt(scheme.times(encrypted)), SCALAR * values),
    ):
        if not np.allclose(found, expected, rtol=0, atol=_TOLERANCE * np.abs(expected).max()):
            raise CheckFailedError(f"{scheme.name} computes other values than the plain ones.")
    return Ready(scheme, values, encrypted, other)


def _speeds(
    schemes: list[Ready], operation: Callable[[Ready], object], seconds: float
) -> dict[str, float]:
    works: dict[str, Work] = {of.scheme.name: partial(operation, of) for of in schemes}
    best = best_times(works, seconds=seconds, clock=time.process_time)
    return {of.scheme.name: of.values.size / best[of.scheme.name] for of in schemes}


def _per_value(bits: int, speeds: dict[str, dict[str, float]]) -> list[BenchRow]:
    return [
        _row(f"{bits} bits, {name}", "values/s", speed["ours"], peer, speed.get(peer))
        for name, speed in speeds.items()
        for peer in PEERS
    ]


def _per_ciphertext(bits: int, speeds: dict[str, dict[str, float]], slots: int) -> list[BenchRow]:
    return [
        _row(
            f"{bits} bits, {name}",
            "ciphertexts/s",
            speed["ours"] / slots,
            Phe.name,
            speed.get(Phe.name),
        )
        for name, speed in speeds.items()
    ]


def _owner_row(bits: int, of: Ready, seconds: float) -> BenchRow:
    ours = of.scheme
    assert isinstance(ours, Ours)  # noqa: S101 - for the type checker
    return compared_row(
        "paillier",
        f"{bits} bits, encrypt with the private key",
        lambda: ours.encrypt_as_owner(of.values),
        "ours with the public key",
        lambda: ours.encrypt(of.values),
        seconds=seconds,
        clock=time.process_time,
        values=of.values.size,
    )


def _first_row(bits: int, numbers: Values, speeds: dict[str, dict[str, float]]) -> BenchRow:
    """From nothing: a key, its tables and all values, once."""
    name = f"{bits} bits, new key, tables and {numbers.size:,} values encrypted"
    clock = time.process_time
    ours, _ = best_time(lambda: Ours(bits, numbers.size).encrypt(numbers), 1, clock)
    theirs = None
    if Phe.name in speeds["encrypt"]:
        theirs = (
            best_time(lambda: Phe(bits), 1, clock)[0] + numbers.size / speeds["encrypt"][Phe.name]
        )
    return _row(name, "s", ours, f"{Phe.name}, scaled up", theirs, less_is_better=True)


def _second_core_row(bits: int, of: Ready, name: str, seconds: float) -> BenchRow:
    def run_on(count: int) -> None:
        with cores(count):
            OPERATIONS[name](of)

    return compared_row(
        "paillier",
        f"{bits} bits, {name}, 2 cores",
        partial(run_on, 2),
        "ours, 1 core",
        partial(run_on, 1),
        seconds=seconds,
        values=of.values.size,
    )
