"""The hidden solves on Ionosphere beside SPU's CHEETAH and Newton with phe.

Same system, same run, processor seconds of both parties together. Keys are made and the system is
encrypted before the clock starts; blinding tables count. All masks have 64 bits of slack.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import islice
from typing import NamedTuple

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.errors import CheckFailedError
from sottovoce.json import parse_json
from sottovoce.learn.paillier.grid import cores
from sottovoce.learn.solve.chebyshev import plan_chebyshev
from sottovoce.learn.solve.plan import opened_integers, opened_theta, plan_solve
from sottovoce.learn.solve.run import (
    HiddenSolution,
    ReadySolve,
    ready_chebyshev,
    ready_masked,
)
from sottovoce.learn.solve.system import (
    IntegerSystem,
    PublicBounds,
    scaled_system,
    solved_exactly,
    standardised_bounds,
)
from sottovoce_lab._data import data_file
from sottovoce_lab.bench.rows import BenchRow, bench_row

KEY_BITS = 2048
PENALTY = 0.1
PEERS = 4
FRACTION_BITS = (14, 20, 30)
STEPS = 10
RUNS = 3
# Features of at most 8 standard deviations, to 12 binary places: what a score adds up.
_SCORE_RANGE, _SCORE_BITS = 8, 12
_CHEETAH = "SPU CHEETAH, FM64, Newton, 10 steps"
_PHE = "phe, Newton, each element blinded once, scaled up"
_LINK = re.compile(r"Link details: total send bytes (\d+), recv bytes (\d+)")
_row = partial(bench_row, "learn")


class SolveCost(NamedTuple):
    """What a solve cost both parties together."""

    cpu_s: float
    bytes: int


def bench_hidden(
    *, key_bits: int = KEY_BITS, runs: int = RUNS, fraction_bits: tuple[int, ...] = FRACTION_BITS
) -> list[BenchRow]:
    """The masked solve and Chebyshev's iteration beside the peers."""
    matrix, vector = ionosphere_system()
    cheetah = cheetah_cost(matrix, vector, runs)
    phe = phe_newton_seconds(len(vector), key_bits)
    rows = []
    for places in fraction_bits:
        ours = _hidden_costs(matrix, vector, places, key_bits, runs)
        for name, cost in ours.items():
            case = f"Ionosphere, hidden, {key_bits} bits, {places} places, {name}"
            rows += _rows_beside(case, cost, cheetah, phe)
    return rows


def _rows_beside(
    case: str, ours: SolveCost, cheetah: SolveCost | None, phe: float | None
) -> list[BenchRow]:
    seconds, sent = (None, None) if cheetah is None else cheetah
    return [
        _row(case, "CPU s", ours.cpu_s, _CHEETAH, seconds, less_is_better=True),
        _row(case, "bytes", ours.bytes, _CHEETAH, sent, less_is_better=True),
        _row(case, "CPU s", ours.cpu_s, _PHE, phe, less_is_better=True),
    ]


def ionosphere_system() -> tuple[Floats, Floats]:
    """A = X'X/m + lambda I and b = X'y/m of standardised Ionosphere."""
    lines = data_file("ionosphere.csv").read_text(encoding="utf-8").split()
    cells = [line.split(",") for line in lines]
    x = np.array([row[:-1] for row in cells], np.float64)
    y = np.array([1.0 if row[-1] == "g" else -1.0 for row in cells])
    spread = x.std(axis=0)
    x = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1)
    return x.T @ x / len(x) + PENALTY * np.eye(x.shape[1]), x.T @ y / len(x)


def _hidden_costs(
    matrix: Floats, vector: Floats, places: int, key_bits: int, runs: int
) -> dict[str, SolveCost]:
    bounds = standardised_bounds(len(vector), places, PENALTY, peers=PEERS)
    system = scaled_system(matrix, vector, bounds)
    ways = _ways(system, bounds, key_bits)
    return {name: min(way.cost(system) for _ in range(runs)) for name, way in ways.items()}


class SolveWay(NamedTuple):
    """A way to solve, and what its outcome must be."""

    ready: Callable[[], ReadySolve]
    check: Callable[[HiddenSolution, IntegerSystem], None]

    def cost(self, system: IntegerSystem) -> SolveCost:
        """Keys and ciphertexts first, then the clock."""
        with cores(1):
            ready = self.ready()
            begin = time.process_time()
            found = ready.run()
            seconds = time.process_time() - begin
        self.check(found, system)
        return SolveCost(seconds, found.traffic.bytes)


def _ways(system: IntegerSystem, bounds: PublicBounds, key_bits: int) -> dict[str, SolveWay]:
    score = (system.size * _SCORE_RANGE) << _SCORE_BITS
    masked = plan_solve(bounds, key_bits=key_bits, score=score)
    iterated = plan_chebyshev(bounds, key_bits=key_bits, penalty=PENALTY)
    return {
        "masked solve": SolveWay(partial(ready_masked, system, masked), _check_integers),
        "Chebyshev on shares": SolveWay(partial(ready_chebyshev, system, iterated), _check_theta),
    }


def _check_integers(found: HiddenSolution, system: IntegerSystem) -> None:
    if opened_integers(found.coordinator, found.key_holder) != solved_exactly(system).adjugate:
        raise CheckFailedError("a hidden solve gave other integers than the plain one.")


def _check_theta(found: HiddenSolution, system: IntegerSystem) -> None:
    theta = opened_theta(found.coordinator, found.key_holder)
    exact = np.array([float(entry) for entry in solved_exactly(system).theta])
    if np.linalg.norm(theta - exact) > 1e-4 * np.linalg.norm(exact):
        raise CheckFailedError("Chebyshev's iteration must come within 1e-4 of the plain solve.")


def cheetah_cost(matrix: Floats, vector: Floats, runs: int = RUNS) -> SolveCost | None:
    """SPU's CHEETAH on the same system, both parties; None where SPU is not installed."""
    if find_spec("spu") is None or find_spec("jax") is None:
        return None
    given = {"matrix": matrix.tolist(), "vector": vector.tolist(), "steps": STEPS, "runs": runs}
    ran = subprocess.run(
        [sys.executable, "-m", "sottovoce_lab.bench.spu_newton"],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )
    answer = parse_json(ran.stdout.splitlines()[-1])
    link = _LINK.search(ran.stdout + ran.stderr)
    if link is None:
        raise CheckFailedError("SPU must log how many bytes it sent.")
    _check_newton(np.array(answer["theta"]), matrix, vector)
    return SolveCost(float(answer["cpu_s"]), sum(map(int, link.groups())))


def newton(matrix: Floats, vector: Floats, steps: int) -> Floats:
    """What SPU computes, in clear."""
    size = len(vector)
    inverse = np.eye(size) / size
    for _ in range(steps):
        inverse = inverse @ (2 * np.eye(size) - matrix @ inverse)
    found: Floats = inverse @ vector
    return found


def _check_newton(theta: Floats, matrix: Floats, vector: Floats) -> None:
    if np.abs(theta - newton(matrix, vector, STEPS)).max() > 0.01:  # noqa: PLR2004 - fixed point
        raise CheckFailedError("SPU must compute what Newton's iteration does in clear.")


def phe_newton_seconds(size: int, key_bits: int, *, part: int = 20) -> float | None:
    """Newton's 20 matrix products with phe, from the times of a few of its operations.

    Of X Y under encryption: every element of both blinded once (encrypt the mask, add, decrypt),
    the products encrypted again, and X S and R Y taken off by d^3 scalar products and sums each.
    What truncation would cost is left out.
    """
    if find_spec("phe") is None:
        return None
    seconds = _phe_seconds(key_bits, part)
    squares, cubes = size * size, size**3
    product = 2 * squares * (seconds["encrypt"] + seconds["add"] + seconds["decrypt"])
    product += squares * seconds["encrypt"]
    product += 2 * cubes * (seconds["multiply"] + seconds["add"])
    return 2 * STEPS * product


def _phe_seconds(key_bits: int, part: int) -> dict[str, float]:
    from phe import paillier  # noqa: PLC0415 - an optional peer

    public, private = paillier.generate_paillier_keypair(n_length=key_bits)
    # A number of 30 bits under a mask of 64 more, as the slack asks.
    masks = [(1 << 93) + at for at in range(part)]
    begin = time.process_time()
    encrypted = [public.encrypt(mask) for mask in masks]
    times = {"encrypt": time.process_time() - begin}
    works: dict[str, Callable[[], object]] = {
        "add": lambda: [x + y for x, y in zip(encrypted, encrypted, strict=True)],
        "multiply": lambda: [x * y for x, y in zip(encrypted, masks, strict=True)],
        "decrypt": lambda: [private.decrypt(x) for x in islice(encrypted, part)],
    }
    for name, work in works.items():
        begin = time.process_time()
        work()
        times[name] = time.process_time() - begin
    return {name: seconds / part for name, seconds in times.items()}
