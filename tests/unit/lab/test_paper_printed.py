"""The paper's arrangement, reproduced and attacked, and block rados."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sottovoce_lab.learn.data import ionosphere
from sottovoce_lab.learn.paper.printed import (
    BLOCK_PENALTIES,
    BlockPeer,
    PrintedTraining,
    add_round_ring,
    block_rados,
    classify_as_printed,
    count_errors,
    solve_blocks,
    train_as_printed,
    train_on_blocks,
)
from support.hidden_systems import two_keys
from support.trainings import pooled, small_peers

from sottovoce.errors import InputError
from sottovoce.learn import train
from sottovoce.learn.paillier.wire import decrypt
from sottovoce.learn.ridge import ExampleSums, local_sums, ridge_from_sums
from sottovoce.learn.support import all_kept
from sottovoce.learn.training_terms import LocalData

Floats = NDArray[np.float64]
PEERS = small_peers()
X, Y = pooled(PEERS)
KEY = two_keys()[0]


def as_data(peers: list[tuple[Floats, Floats]]) -> dict[str, LocalData]:
    names = [f"x{at}" for at in range(peers[0][0].shape[1])]
    return {f"peer{k}": LocalData.from_rows(*peer, names, names) for k, peer in enumerate(peers)}


@pytest.fixture(scope="module")
def exact() -> PrintedTraining:
    return train_as_printed(as_data(PEERS), KEY, statistics="exact")


def test_a_ring_gives_the_sum_and_hands_on_uniform_vectors() -> None:
    vectors = [np.arange(3, dtype=np.uint64) + np.uint64(at) for at in range(4)]
    first, again = add_round_ring(vectors), add_round_ring(vectors)
    np.testing.assert_array_equal(first.total, np.sum(vectors, axis=0))
    assert all((a != b).all() for a, b in zip(first.handed, again.handed, strict=True))
    # The two neighbours of a peer learn its summand.
    np.testing.assert_array_equal(first.handed[2] - first.handed[1], vectors[2])
    with pytest.raises(InputError, match="as many values"):
        add_round_ring([vectors[0], vectors[0][:1]])


def test_exact_sums_round_the_ring_are_the_plain_ones(exact: PrintedTraining) -> None:
    opened = train(PEERS, penalty=0.1)
    np.testing.assert_array_equal(exact.model.coefficients, opened.coef_[0])
    answer = classify_as_printed(exact, KEY, {"peer1": X})
    np.testing.assert_array_equal(answer.signs, opened.predict(X))


def test_rados_come_close_to_ridge() -> None:
    plain = ridge_from_sums(local_sums(X, Y, all_kept(4)), 0.1)
    found = train_as_printed(as_data(PEERS), KEY, rados=5000)
    np.testing.assert_allclose(found.model.coefficients, plain.coefficients, atol=0.1)


def test_unit_vectors_give_theta_to_the_coordinator(exact: PrintedTraining) -> None:
    scales = X.std(axis=0)
    rows = X.mean(axis=0) + np.vstack([np.zeros(4), np.diag(scales)])
    scores = classify_as_printed(exact, KEY, {"peer0": rows}).scores
    theta = scores[1:] - scores[0]
    np.testing.assert_allclose(theta, exact.model.coefficients * scales, atol=1e-5)


def test_a_rare_words_row_is_its_document_for_the_coordinator() -> None:
    chance, peers = np.random.default_rng(2), []
    for _ in range(4):
        x = (chance.random((25, 8)) < 0.4).astype(float)
        x[:, 7] = 0
        peers.append((x, np.where(x[:, 0] > x[:, 1], 1.0, -1.0)))
    peers[1][0][17, 7] = 1
    opened = train_as_printed(as_data(peers), KEY, statistics="exact").opened
    sums = ExampleSums.from_vector(opened, 8)
    np.testing.assert_array_equal(sums.products[7], peers[1][0][17])


def test_one_peer_with_the_coordinator_reads_the_peers_before_it(exact: PrintedTraining) -> None:
    first = local_sums(*PEERS[0], all_kept(4)).to_vector()
    np.testing.assert_allclose(decrypt(exact.handed[0], KEY), first, atol=1e-8)


SPLIT = [list(range(9)), list(range(9, 18)), list(range(18, 26)), list(range(26, 34))]


@pytest.fixture(
    scope="module",
    params=["made_up_data", pytest.param("shared_data", marks=pytest.mark.long)],
    ids=["made-up", "real"],
)
def feature_split(request: pytest.FixtureRequest) -> Any:  # noqa: ANN401 - whatever it is given
    """Radar returns, each peer with a part of the features of every one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOTTOVOCE_DATA", str(request.getfixturevalue(request.param)))
        rows, signs = ionosphere()
    names = [f"x{at}" for at in range(34)]
    peers = {
        f"peer{k}": LocalData.from_rows(rows[:, own], signs, [names[at] for at in own], names)
        for k, own in enumerate(SPLIT)
    }
    return train_as_printed(peers, KEY), rows, signs


def test_protocol_3_as_printed_calls_everything_positive_and_the_mean_does_not(
    feature_split: Any,  # noqa: ANN401 - whatever it is given
) -> None:
    training, rows, signs = feature_split
    wrong = []
    for k, own in enumerate(SPLIT):
        asked = {f"peer{k}": rows[:, own]}
        printed = classify_as_printed(training, KEY, asked, offset="print")
        assert np.all(printed.signs == 1)
        # The offset drowns the local score.
        assert printed.scores.mean() > 20 * printed.scores.std()
        mean = classify_as_printed(training, KEY, asked, offset="mean")
        wrong.append(np.mean(mean.signs != signs))
    assert min(wrong) < np.mean(signs != 1) - 0.04
    assert max(wrong) <= np.mean(signs != 1) + 0.03
    parts = {f"peer{k}": rows[:, SPLIT[k]] for k in (2, 0, 1, 3)}
    summed = np.mean(classify_as_printed(training, KEY, parts).signs != signs)
    assert summed < min(0.2, wrong[2])
    scales = training.standard.scales
    for k, own in enumerate(SPLIT):  # a peer holds theta of its own features only
        theta = decrypt(training.parts[f"peer{k}"].theta, KEY)
        assert theta.shape == (len(own) + 1,)
        coefficients = training.model.coefficients[own]
        np.testing.assert_allclose(theta[:-1], coefficients * scales[own], atol=1e-6)


def test_rows_beyond_their_bound_are_refused(exact: PrintedTraining) -> None:
    with pytest.raises(InputError, match="must lie within"):
        classify_as_printed(exact, KEY, {"peer0": X * 1e9})


CHANCE = np.random.default_rng(0)
SHARED = CHANCE.integers(0, 4, (3000, 2)).astype(float)
OWN = CHANCE.normal(size=(3000, 10)) + 0.3 * SHARED[:, :1]
SCORE = OWN @ CHANCE.normal(size=10) + 0.8 * (SHARED[:, 0] - 1.5)
LABELS = np.where(SCORE + CHANCE.normal(size=3000) / 2 > 0, 1.0, -1.0)
# Two peers, other people, other features: nothing to match.
APART = [
    BlockPeer(SHARED[:1000], OWN[:1000, :5], LABELS[:1000]),
    BlockPeer(SHARED[1000:2000], OWN[1000:2000, 5:], LABELS[1000:2000]),
]


def block_error(theta: Floats) -> float:
    """On whole rows that no peer has seen."""
    rows = np.hstack([SHARED, OWN])[2000:]
    return float(np.mean(np.where(rows @ theta > 0, 1, -1) != LABELS[2000:]))


def test_block_rados_are_sums_of_blocks_side_by_side() -> None:
    x = np.repeat([[0.0], [1.0]], 5, axis=0)
    ones = np.ones(10)
    peers = [BlockPeer(x, np.full((10, 1), 2.0), ones), BlockPeer(x, np.full((10, 2), 3.0), -ones)]
    with pytest.raises(InputError, match="no block is large enough"):
        block_rados(peers)
    peers[1] = BlockPeer(x, np.full((10, 2), 3.0), ones)
    np.testing.assert_array_equal(block_rados(peers), [[0, 10, 15, 15], [1, 10, 15, 15]])
    np.testing.assert_array_equal(block_rados(peers, alpha=2.0)[:, 0], [0, 2])
    few = BlockPeer(x[:9], np.full((9, 2), 3.0), ones[:9])  # four rows of the value 1 are left
    np.testing.assert_array_equal(block_rados([peers[0], few]), [[0, 10, 15, 15]])
    with pytest.raises(InputError, match="agree on the shared features"):
        block_rados([peers[0], BlockPeer(np.ones((9, 2)), np.ones((9, 1)), np.ones(9))])


def test_the_ridge_chosen_by_own_rows_is_far_better_than_a_small_one() -> None:
    found = train_on_blocks(APART)
    assert found.penalty in BLOCK_PENALTIES
    assert block_error(found.theta) < 0.2
    assert block_error(train_on_blocks(APART, 0.01).theta) > 0.4
    np.testing.assert_array_equal(found.theta, solve_blocks(block_rados(APART), found.penalty))


def test_a_candidates_errors_are_the_rows_that_it_calls_wrong() -> None:
    rows, signs = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 0.0]]), np.array([1.0, -1.0, 1.0])
    peers = [
        BlockPeer(rows[:, :1], np.ones((3, 1)), signs),
        BlockPeer(rows[:, :1], rows[:, 1:], signs),
    ]
    thetas = np.array([[1.0, 9.0, 0.0], [-1.0, 9.0, 5.0]])
    np.testing.assert_array_equal(count_errors(peers, 1, thetas), [2, 1])  # zero is no "yes"
