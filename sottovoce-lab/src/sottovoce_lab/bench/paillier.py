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
from typing import NamedTuple

import numpy as np

from sottovoce.compiled import available_cores
from sottovoce.errors import CheckFailedError
from sottovoce.learn.paillier.grid import cores
from sottovoce_lab.bench._schemes import (
    PEERS,
    SCALAR,
    VALUE_BITS,
    Encrypted,
    Ours,
    Phe,
    Scheme,
    Values,
    installed_peers,
)
from sottovoce_lab.bench.rows import SECONDS, BenchRow, Work, bench_row, best_times

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
    return rows + (_second_core_rows(bits, schemes[0], seconds) if available_cores() > 1 else [])


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
    works: dict[str, Work] = {
        "owner": lambda: ours.encrypt_as_owner(of.values),
        "public": lambda: ours.encrypt(of.values),
    }
    best = best_times(works, seconds=seconds, clock=time.process_time)
    count = of.values.size
    return _row(
        f"{bits} bits, encrypt with the private key",
        "values/s",
        count / best["owner"],
        "ours with the public key",
        count / best["public"],
    )


def _first_row(bits: int, numbers: Values, speeds: dict[str, dict[str, float]]) -> BenchRow:
    """From nothing: a key, its tables and all values, once."""
    name = f"{bits} bits, new key, tables and {numbers.size:,} values encrypted"
    ours = _seconds(lambda: Ours(bits, numbers.size).encrypt(numbers))
    theirs = None
    if Phe.name in speeds["encrypt"]:
        theirs = _seconds(lambda: Phe(bits)) + numbers.size / speeds["encrypt"][Phe.name]
    return _row(name, "s", ours, f"{Phe.name}, scaled up", theirs, less_is_better=True)


def _seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _second_core_rows(bits: int, of: Ready, seconds: float) -> list[BenchRow]:
    return [_second_core_row(bits, of, name, seconds) for name in ("encrypt", "decrypt")]


def _second_core_row(bits: int, of: Ready, name: str, seconds: float) -> BenchRow:
    def run_on(count: int) -> None:
        with cores(count):
            OPERATIONS[name](of)

    works: dict[str, Work] = {"one": partial(run_on, 1), "two": partial(run_on, 2)}
    best = best_times(works, seconds=seconds)
    count = of.values.size
    return _row(
        f"{bits} bits, {name}, 2 cores",
        "values/s",
        count / best["two"],
        "ours, 1 core",
        count / best["one"],
    )
