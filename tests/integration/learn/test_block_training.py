"""Training on block rados across peers, and the secure rado solver."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.hidden_systems import BITS, small_keys_allowed, two_keys
from support.paillier_keys import insecure_key_for_tests

from sottovoce.errors import DamagedMessageError, InputError, ParameterError
from sottovoce.learn import TrainedClassifier, train
from sottovoce.learn.arithmetic.shown import Outline
from sottovoce.learn.open.blocks import (
    solved_blocks,
    told_layout,
)
from sottovoce.learn.paillier.wire import decrypt, encrypt
from sottovoce.learn.paper.rado_solver import (
    RadoSolverPlan,
    answer_rado_solution,
    ask_rado_solution,
)
from sottovoce.learn.rados.blocks import BLOCK_PENALTIES, block_rados, peer_blocks
from sottovoce.learn.rados.learners import block_minimiser
from sottovoce.learn.rados.rados import RadoMoments
from sottovoce.learn.solve.plan import opened_theta, plan_solve
from sottovoce.learn.solve.run import ready_masked
from sottovoce.learn.solve.system import IntegerSystem, PublicBounds
from sottovoce.learn.training_terms import COORDINATOR, TrainingTerms
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.script import run_together

Floats = NDArray[np.float64]
OWN = [["a0", "a1"], ["b0"], ["c0", "c1", "c2"]]
NAMES = [["s", *own] for own in OWN]


def split_peers(rows: int = 240) -> list[tuple[Floats, Floats]]:
    """Peers with one shared feature of three values, features of their own, different entities."""
    chance = np.random.default_rng(4)
    given = []
    for own in OWN:
        shared = chance.integers(0, 3, (rows, 1)).astype(float)
        signs = np.where(chance.random(rows) < 0.5, 1.0, -1.0)
        features = chance.normal(0, 1, (rows, len(own))) + signs[:, None] * np.linspace(
            1, 0, len(own)
        )
        given.append((np.hstack([shared, features]), signs))
    return given


def trained_on(peers: list[tuple[Floats, Floats]], **options: Any) -> TrainedClassifier:  # noqa: ANN401 - any option of train
    trained: TrainedClassifier = train(peers, features=NAMES, shared=["s"], **options)
    return trained


def test_theta_is_that_of_plain_block_rados() -> None:
    peers = split_peers()
    trained = trained_on(peers, penalty=50.0)
    blocks = [peer_blocks(x[:, :1], x[:, 1:], y) for x, y in peers]
    moments = RadoMoments.of(block_rados(blocks))
    theta = block_minimiser(moments, np.full(7, 50.0))
    np.testing.assert_allclose(trained.coef_[0], theta, atol=1e-6)
    assert trained.features_ == ("s", "a0", "a1", "b0", "c0", "c1", "c2")
    other = trained_on(peers, penalty=5000.0)
    assert np.abs(other.coef_[0] - theta).max() > 1e-5


def test_theta_stands_in_the_order_of_the_dictionary_whatever_that_is() -> None:
    peers = split_peers()
    plain = trained_on(peers, penalty=50.0)
    given = {name: (x[:, ::-1], y) for name, (x, y) in zip("cab", peers, strict=True)}
    turned = train(given, features=[own[::-1] for own in NAMES], shared=["s"], penalty=50.0)
    assert turned.features_ == ("a1", "a0", "s", "b0", "c2", "c1", "c0")
    found = dict(zip(turned.features_, turned.coef_[0], strict=True))
    wanted = [found[name] for name in plain.features_]
    np.testing.assert_allclose(wanted, plain.coef_[0], rtol=1e-9)


def test_a_layout_that_is_not_of_the_peers_is_refused() -> None:
    terms = TrainingTerms(bytes(16), {name: bytes(32) for name in "abc"}, ("s", "x", "y", "z"))

    def told(own: Value) -> Message:
        return Message(bytes(16), COORDINATOR, "a", 1, "layout", {"own": own})

    assert told_layout(told({"a": 1, "b": 1, "c": 1}), 1, terms).width == 4
    for own in (1, {"a": 1, "b": 2}, {"a": 1, "b": 1, "c": 2}, {"a": 3, "b": 0, "c": 0}):
        with pytest.raises(DamagedMessageError):
            told_layout(told(own), 1, terms)


def test_the_penalty_is_chosen_by_the_peers_own_rows() -> None:
    peers = split_peers()
    trained = trained_on(peers)
    rados = block_rados([peer_blocks(x[:, :1], x[:, 1:], y) for x, y in peers])
    wrong = []
    for penalty in BLOCK_PENALTIES:
        theta = solved_blocks(rados, penalty)
        own = (theta[[0, 1, 2]], theta[[0, 3]], theta[[0, 4, 5, 6]])
        pairs = zip(peers, own, strict=True)
        wrong.append(sum(np.sum(np.where(x @ part > 0, 1, -1) != y) for (x, y), part in pairs))
    assert trained.penalty == BLOCK_PENALTIES[int(np.argmin(wrong))]
    kinds = {said.kind for said in trained.transcript}
    assert {"blocks", "common", "trials", "model"} <= kinds
    parts = {f"peer{i}": x for i, (x, _) in enumerate(peers)}
    assert set(trained.predict(parts, peer="peer1")) <= {-1.0, 1.0}
    assert np.mean(trained.predict(peers[0][0], peer="peer0") != peers[0][1]) < 0.3


def test_a_block_that_a_peer_has_too_few_rows_of_is_left_out() -> None:
    peers = split_peers()
    rare = peers[1][0]
    few = (rare[:, 0] == 2) & (np.cumsum(rare[:, 0] == 2) > 4)
    rare[few, 0] = 1  # of the value 2 four rows are left here
    trained = trained_on(peers, penalty=50.0)
    blocks = [peer_blocks(x[:, :1], x[:, 1:], y) for x, y in peers]
    assert all(name[0] != (2.0,) for name in blocks[1].sums)
    theta = block_minimiser(RadoMoments.of(block_rados(blocks)), np.full(7, 50.0))
    np.testing.assert_allclose(trained.coef_[0], theta, atol=1e-6)


def test_blocks_need_common_values_and_shared_features() -> None:
    peers = split_peers()
    apart = [(np.hstack([x[:, :1] + 10 * i, x[:, 1:]]), y) for i, (x, y) in enumerate(peers)]
    with pytest.raises(InputError, match="no block is large enough"):
        trained_on(apart, penalty=1.0)
    with pytest.raises(InputError, match="must have every shared feature"):
        train(peers, features=NAMES, shared=["a0"], penalty=1.0)
    with pytest.raises(InputError, match="shared by all peers or belong to one"):
        overlapping = [["s", "a0", "a1"], ["s", "a1"], ["s", "c0", "c1", "c2"]]
        train(peers, features=overlapping, shared=["s"], penalty=1.0)
    with pytest.raises(ParameterError, match="open mode"):
        train(peers, features=NAMES, shared=["s"], mode="hidden", key_bits=2048)


def rados() -> Floats:
    return np.random.default_rng(7).normal(0, 0.25, (3, 6)).clip(-1, 1)


def quantised(values: Floats, places: int) -> Floats:
    return np.ldexp(np.rint(np.ldexp(values, places)), -places)


def solved_under_encryption(weights: Floats) -> Floats:
    outline = Outline.of_numbers((3, 6), 1.0, 16)
    plan = RadoSolverPlan(outline, weights)
    key = insecure_key_for_tests(1024, 5)
    array = encrypt(rados(), outline.plan(1024), key)
    run = run_together(ask_rado_solution(array, plan), answer_rado_solution(plan, key))
    return decrypt(run.asked, key)


def test_the_secure_rado_solver_gives_eq_14() -> None:
    weights = np.array([0.2, 0.3, 0.2])
    b = quantised(rados(), 16)
    plain = np.linalg.solve(b @ b.T + 6 * np.diag(weights), b.sum(axis=1))
    np.testing.assert_allclose(solved_under_encryption(weights), plain, atol=1e-8)
    # As printed, "first row of V B": not eq. 14.
    printed = (np.linalg.inv(b @ b.T + 6 * np.diag(weights)) @ b)[0]
    assert printed.shape != plain.shape


def test_newton_and_the_exact_masked_solve_agree() -> None:
    weights = np.full(3, 0.2)
    b = np.rint(np.ldexp(rados(), 16)).astype(int).astype(object)
    ridge = round(6 * 0.2 * 2**32)
    matrix = b @ b.T + ridge * np.eye(3, dtype=object)
    vector = [int(each) << 16 for each in b.sum(axis=1)]
    system = IntegerSystem([[int(x) for x in row] for row in matrix], vector, 32)
    entry = max(abs(x) for row in system.matrix for x in row)
    bounds = PublicBounds(3, 32, entry, 3 * entry, max(map(abs, vector)))
    plan = plan_solve(bounds, key_bits=BITS, score=1, slack_bits=64, determinant=True)
    with small_keys_allowed():
        found = ready_masked(system, plan, keys=two_keys()).run()
    exact = opened_theta(found.coordinator, found.key_holder)
    np.testing.assert_allclose(solved_under_encryption(weights), exact, atol=1e-8)


def test_a_gamma_that_is_not_positive_is_refused() -> None:
    outline = Outline.of_numbers((3, 6), 1.0, 16)
    with pytest.raises(ParameterError, match="positive definite"):
        RadoSolverPlan(outline, np.array([0.1, 0.0, 0.1]))
    with pytest.raises(ParameterError, match="a weight each"):
        RadoSolverPlan(outline, np.ones(2))
