"""What each party of a solve with a dealer sees is uniform, and each mask cut short shows.

C knows S, R and r, so what it must not learn is looked for where C would look: in what is left of
a message once C has taken its own numbers off.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.evenness import evenness
from support.hidden_systems import BITS, gram_system, small_keys_allowed, tight_bounds, two_keys

from sottovoce.learn.paillier.slots import mask_bound
from sottovoce.learn.paillier.wire import array_from_bytes, decrypt_integers, encrypt_integers
from sottovoce.learn.solve import dealer, dealt
from sottovoce.learn.solve.dealer import (
    DealtTerms,
    SolveDealer,
    final_matrix,
    plan_dealt,
    triangle,
)
from sottovoce.learn.solve.dealt import DealtCoordinator, DealtKeyHolder, _read_matrix, _unfolded
from sottovoce.learn.solve.field import Matrix, added, product, solved, subtracted
from sottovoce.learn.solve.system import IntegerSystem
from sottovoce.learn.wire.message import Message, new_session
from sottovoce.privacy.randomness import random_below

SIZE = 5
ROWS = [[1, 2, 0, 0, 3], [0, 1, 0, 2, 0], [5, 0, 0, 0, 1]]
SYSTEM = gram_system(ROWS, [4, 1, 0, -2, 3], 2)
PLAIN = gram_system([[1, 0, 0, 0, 0]], [0, 0, 0, 0, 0], 1)
PLAN = plan_dealt(tight_bounds(SYSTEM), key_bits=BITS)
HALF = mask_bound(PLAN.largest) // 2
RUNS = 120
FAULTY_RUNS = 12
HONEST, CAUGHT = 1e-6, 1e-12

# What C and K see, by name: raw integers, and below what each must lie.
Seen = dict[str, tuple[list[int], list[int]]]


@pytest.fixture(autouse=True, scope="module")
def _small_keys() -> Iterator[None]:
    with small_keys_allowed():
        yield


def parts_of(message: Message, shapes: dict[str, tuple[int, int]]) -> dict[str, Matrix]:
    prime = message.item("prime", int)
    return {name: _read_matrix(message, shape, prime, name) for name, shape in shapes.items()}


def without_mixing(known: Matrix, mixing: Matrix, prime: int) -> Matrix:
    """X from X R: what C can undo, as it knows R."""
    transposed = [list(column) for column in zip(*(row[:-1] for row in mixing), strict=True)]
    return [solved(transposed, row[:-1], prime)[0] for row in known]


def one_run(system: IntegerSystem) -> tuple[int, dict[str, Matrix]]:
    """One solve: its prime, and everything that C and K see of it modulo that prime.

    Opened masked numbers are raw, raised by half the mask's range.
    """
    d, held = SIZE, two_keys()[1]
    terms = DealtTerms(new_session(), "D", "C", "K", PLAN)
    numbers = encrypt_integers(np.array(triangle(system), dtype=object), PLAN.sent, held)
    coordinator, holder = DealtCoordinator(terms, numbers), DealtKeyHolder(terms, held)
    coordinator.start()
    holder.start()
    to_coordinator, to_holder = SolveDealer(terms).start()
    (masked,) = coordinator.receive(to_coordinator)
    masks, _ = _unfolded(coordinator._masks, d)
    holder.receive(to_holder)
    (reduced,) = holder.receive(masked)
    (mixed,) = coordinator.receive(reduced)
    sides = holder._right
    (solution,) = holder.receive(mixed)
    coordinator.receive(solution)
    assert coordinator.share is not None
    prime = to_holder.item("prime", int)
    shapes = {"mixing": (d, d + 1), "product": (d, d + 1), "factor": (1, 1), "final": (d, 1)}
    own = parts_of(to_coordinator, shapes)
    shapes = {"left": (d, d), "product": (d, d + 1), "vector": (d + 1, 1), "final": (d, 1)}
    theirs = parts_of(to_holder, shapes)
    data = array_from_bytes(masked.item("data", bytes), held.public, plan=PLAN.sent)
    raised = [int(value) + HALF for value in decrypt_integers(data, held)]
    known = subtracted(_read_matrix(reduced, (d, d), prime), masks, prime)
    left = added(product(known, own["mixing"], prime), own["product"], prime)
    said = _read_matrix(solution, (d + 1, 1), prime)
    final = final_matrix(own["mixing"], own["factor"][0][0], prime, PLAN)
    told = added(_read_matrix(mixed, (d, d + 1), prime), theirs["product"], prime)
    return prime, {
        "C: R and r": own["mixing"],
        "C: its summand of U[R|r]": own["product"],
        "C: its summand of Nt": own["final"],
        "C: A - U": known,
        "C: A, by its summand and R": without_mixing(left, own["mixing"], prime),
        "C: v - t": said,
        "C: y, by R": product(final, said, prime),
        "C: share": [[value] for value in coordinator.share.values],
        "K: U": theirs["left"],
        "K: its summand of U[R|r]": theirs["product"],
        "K: t": theirs["vector"],
        "K: share": theirs["final"],
        "K: masked": [raised],
        "K: mixed": _read_matrix(mixed, (d, d + 1), prime),
        "K: M": [row[:-1] for row in told],
        "K: c": [[(row[-1] + side) % prime] for row, side in zip(told, sides, strict=True)],
    }


def views(system: IntegerSystem = SYSTEM, runs: int = FAULTY_RUNS) -> Seen:
    seen: Seen = defaultdict(lambda: ([], []))
    for _ in range(runs):
        prime, found = one_run(system)
        for name, matrix in found.items():
            values = [int(value) for row in matrix for value in row]
            seen[name][0].extend(values)
            seen[name][1].extend([2 * HALF if name == "K: masked" else prime] * len(values))
    return seen


def uneven(seen: Seen, level: float) -> set[str]:
    return {name for name, (values, limits) in seen.items() if evenness(values, limits) < level}


@pytest.mark.parametrize("runs", [RUNS, pytest.param(400, marks=pytest.mark.long)])
@pytest.mark.parametrize("system", [SYSTEM, PLAIN], ids=["a system", "the plainest"])
def test_all_that_either_party_sees_is_uniform(system: IntegerSystem, runs: int) -> None:
    seen = views(system, runs)
    assert min(len(values) for values, _ in seen.values()) >= runs * SIZE
    assert uneven(seen, HONEST) == set()


def cut_shape(shape: tuple[int, int], bits: int) -> Callable[[int, int, int], Matrix]:
    """Matrices of that shape with entries of so few bits; others as they should be."""

    def drawn(rows: int, columns: int, prime: int) -> Matrix:
        limit = 1 << bits if (rows, columns) == shape else prime
        return [[random_below(limit) for _ in range(columns)] for _ in range(rows)]

    return drawn


@pytest.mark.parametrize("bits", [0, 8, 32])
@pytest.mark.parametrize(
    ("shape", "shown"),
    [
        ((SIZE, SIZE), {"C: A - U", "K: U"}),
        ((SIZE, SIZE + 1), {"K: its summand of U[R|r]"}),
        ((SIZE + 1, 1), {"K: t"}),
        ((SIZE, 1), {"C: share", "K: share"}),
    ],
    ids=["U", "summand", "t", "share"],
)
def test_a_dealers_mask_cut_short_is_caught(
    shape: tuple[int, int], shown: set[str], bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dealer, "random_matrix", cut_shape(shape, bits))
    assert shown <= uneven(views(), CAUGHT)


def test_a_triple_whose_summand_is_missing_shows_the_system_to_the_coordinator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dealer, "random_matrix", cut_shape((SIZE, SIZE + 1), 0))
    _, found = one_run(SYSTEM)
    assert found["C: A, by its summand and R"] == SYSTEM.matrix
    assert "C: A, by its summand and R" in uneven(views(), CAUGHT)


def test_a_solution_without_its_mask_is_read_by_the_coordinator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The solution v is uniform by itself; only C, who knows R and r, sees y in it."""
    monkeypatch.setattr(dealer, "random_matrix", cut_shape((SIZE + 1, 1), 0))
    shown = uneven(views(), CAUGHT)
    assert "C: y, by R" in shown
    assert "C: v - t" not in shown


@pytest.mark.parametrize(
    ("target", "cut", "shown"),
    [
        ("random_vector", lambda size, prime: [random_below(256) for _ in range(size)], "K: c"),
        ("random_invertible", lambda size, prime: (np.eye(size, dtype=int).tolist(), 1), "K: M"),
    ],
)
def test_a_mixing_that_does_not_mix_is_caught(
    target: str, cut: Callable[..., Any], shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dealer, target, cut)
    assert shown in uneven(views(), CAUGHT)


@pytest.mark.parametrize("cut", [lambda limit: HALF + random_below(512),
                                 lambda limit: random_below(limit // 256) * 256])  # fmt: skip
def test_a_coordinators_mask_too_short_or_too_coarse_is_caught(
    cut: Callable[[int], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dealt, "random_below", cut)
    assert "K: masked" in uneven(views(), CAUGHT)
