"""A summand that weighs more than its documents is refused under its masks, and its peer named."""

import math
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import gammaln, kve
from support.changed_parties import Changing, change_payload
from support.false_sums import LEAST, heaviest

from sottovoce.errors import (
    DamagedMessageError,
    DisagreementError,
    FalseSummandError,
    TooFewPartiesError,
)
from sottovoce.learn.sums import fixed as weighing
from sottovoce.learn.sums.fixed import ALLOW_TWO, EPSILON, PROJECTIONS, Ring, SummandWeights
from sottovoce.learn.sums.keys import Identity, MaskedSum, challenge_of, pair_mask
from sottovoce.learn.sums.masked_sum import MaskPeer, MaskServer
from sottovoce.learn.wire.exchange import Exchange, Faults
from sottovoce.learn.wire.message import Message, new_session
from sottovoce.privacy import sampler

SIZE, DOCUMENTS = 40, 50
SCALE = 2.0**30
PEERS = ("peer0", "peer1", "peer2")
Vectors = dict[str, Ring]
Payload = dict[str, Any]


def ring(vector: NDArray[np.float64]) -> Ring:
    return np.rint(vector * SCALE).astype(np.int64).view(np.uint64)


def weights_of(names: list[str]) -> SummandWeights:
    """Of documents whose vectors are at most 1 in each place."""
    norm = math.sqrt(SIZE) * SCALE
    return SummandWeights(dict.fromkeys(names, DOCUMENTS), np.ones(SIZE, np.uint64), norm, norm)


def heaviest_documents(number: int) -> Vectors:
    """Of each peer all documents with everything in them."""
    return {f"peer{at}": ring(np.full(SIZE, float(DOCUMENTS))) for at in range(number)}


def parties_of(vectors: Vectors) -> tuple[MaskServer, list[MaskPeer]]:
    identities = {name: Identity() for name in vectors}
    public = {name: identity.public for name, identity in identities.items()}
    weights = weights_of(list(vectors))
    terms = MaskedSum(new_session(), "server", public, SIZE, allow_two=ALLOW_TWO, weights=weights)
    peers = [MaskPeer(name, terms, identities[name], vectors[name]) for name in vectors]
    return MaskServer(terms), peers


def run(vectors: Vectors) -> MaskServer:
    server, peers = parties_of(vectors)
    Exchange([server, *peers]).run()
    return server


def test_two_hundred_sums_of_the_heaviest_documents_are_never_refused() -> None:
    for at in range(200):
        vectors = heaviest_documents(2 + at % 4)
        np.testing.assert_array_equal(run(vectors).total, np.sum(list(vectors.values()), axis=0))


def directions() -> dict[str, NDArray[np.float64]]:
    """Of norm 1: where chance vectors of whole numbers differ most from Gaussian ones, too."""
    chance = np.random.default_rng(5)
    anywhere = chance.normal(size=SIZE)
    one, two = np.zeros(SIZE), np.zeros(SIZE)
    one[3], two[[3, 4]] = 1.0, math.sqrt(0.5)
    return {
        "one place": one,
        "two places": two,
        "all": np.full(SIZE, 1 / math.sqrt(SIZE)),
        "anywhere": anywhere / np.linalg.norm(anywhere),
    }


@pytest.mark.parametrize("direction", directions())
@pytest.mark.parametrize("liar", ["peer0", "peer1", "peer2"])
def test_a_summand_of_the_stated_times_its_bound_never_passes(direction: str, liar: str) -> None:
    weights = weights_of(list(PEERS))
    norm = heaviest(weights, liar) * DOCUMENTS * math.sqrt(SIZE)
    for _ in range(10):
        vectors = heaviest_documents(3)
        vectors[liar] = ring(norm * directions()[direction])
        with pytest.raises(FalseSummandError, match=rf"^{liar}'s sums .* its 50 documents, got"):
            run(vectors)


def test_two_that_lie_together_weigh_no_more_than_their_documents_together() -> None:
    """They tell a false mask alike, so that each alone seems light; then the other is heavy."""
    vectors = heaviest_documents(4)
    vectors["peer0"] = ring(np.full(SIZE, 1e6))
    server, peers = parties_of(vectors)
    for moved in (0, 1 << 45, 1 << 52):
        server, peers = parties_of(vectors)
        lie = {("peer0", "peer1"), ("peer1", "peer0")}
        changed = [
            Changing(each, change_payload("projected", moving(lie, moved))) for each in peers
        ]
        with pytest.raises(FalseSummandError, match="sums must weigh"):
            Exchange([server, *changed]).run()


def test_of_two_peers_that_contradict_each_other_both_are_named() -> None:
    server, peers = parties_of(heaviest_documents(3))
    changed = [
        Changing(each, change_payload("projected", moving({("peer2", "peer0")}, 1)))
        for each in peers
    ]
    with pytest.raises(FalseSummandError, match="^peer0 and peer2 must tell the same of the mask"):
        Exchange([server, *changed]).run()


def test_the_server_waits_for_the_true_message_after_a_short_one() -> None:
    server, peers = parties_of(heaviest_documents(3))

    def cut(message: Message) -> Payload:
        return {n: np.zeros(3, np.uint64) for n in message.payload}

    changed = [Changing(each, change_payload("projected", cut)) for each in peers]
    with mock.patch.object(Exchange, "_time_out", side_effect=DamagedMessageError("waits")):
        exchange = Exchange([server, *changed])
        with pytest.raises(DamagedMessageError, match="waits"):
            exchange.run()
    assert exchange.refused["DamagedMessageError"] == 3


def test_a_challenge_that_others_did_not_commit_to_is_not_answered() -> None:
    """A server that chose it could look at one word."""
    server, peers = parties_of(heaviest_documents(3))

    def chosen(message: Message) -> Payload:
        seeds = message.payload["seeds"]
        assert isinstance(seeds, dict)
        return {"seeds": {**seeds, "peer1": bytes(32)}}

    with pytest.raises(DisagreementError, match="what all peers committed to"):
        Exchange([Changing(server, change_payload("challenge", chosen)), *peers]).run()


def test_commitments_that_a_server_makes_up_are_not_signed_by_their_peer() -> None:
    server, peers = parties_of(heaviest_documents(3))

    def chosen(message: Message) -> Payload:
        return {"commitments": dict.fromkeys(PEERS, bytes(32))}

    with pytest.raises(DisagreementError, match="its own commitment"):
        Exchange([Changing(server, change_payload("survivors", chosen)), *peers]).run()


def test_commitments_that_differ_from_peer_to_peer_are_found_by_their_signatures() -> None:
    server, peers = parties_of(heaviest_documents(3))

    def one_other(message: Message) -> Payload:
        held = message.payload["commitments"]
        assert isinstance(held, dict)
        other = "peer1" if message.receiver == "peer0" else "peer0"
        return {"commitments": {**held, other: bytes(32)}}

    with pytest.raises(DisagreementError, match="a signature for survivors does not hold"):
        Exchange([Changing(server, change_payload("survivors", one_other)), *peers]).run()


def test_a_checked_sum_needs_every_peer() -> None:
    server, peers = parties_of(heaviest_documents(4))
    with pytest.raises(TooFewPartiesError, match="peer3 did not answer"):
        Exchange([server, *peers], faults=Faults(silent_from={"peer3": 5})).run()


# What is told, and how exactly.


def test_two_documents_move_all_projections_by_no_more_than_the_noise_hides() -> None:
    """Epsilon is the rate times how far rounded projections move."""
    weights = weights_of(["a", "b", "c"])
    step = 2**weights._shift
    chance = np.random.default_rng(1)
    key = bytes(32)
    for at in range(50):
        mask = chance.integers(0, 2**64, SIZE, dtype=np.uint64)
        apart = ring(np.sign(chance.normal(size=SIZE)) * (chance.random(SIZE) < 0.7))
        challenge = at.to_bytes(32, "big")
        told, moved = (
            weights.blur(each, key) for each in weights.project((mask, mask + apart), challenge)
        )
        steps = np.abs((moved - told).view(np.int64)).astype(float).sum() / step
        assert steps * float(weights._rate) <= EPSILON


def noise_seen() -> float:
    """How large the noise of one pair is, in parts of its law's mean size, which is 1/rate."""
    sizes = []
    for _ in range(12):
        server, peers = parties_of(heaviest_documents(3))
        exchange = Exchange([server, *peers])
        exchange.run()
        (told,) = (
            m.array("peer1", "<u8")
            for m in exchange.views["server"]
            if m.kind == "projected" and m.sender == "peer0"
        )
        low = peers[0]
        mask = pair_mask(low._terms, low._masking, "peer0", "peer1", peers[1]._masking.public)
        (true,) = weights_of(list(PEERS)).project([mask], challenge_of(server._seeds))
        off = (told - true).view(np.int64)
        sizes.append(np.abs(off).mean())
    weights = weights_of(list(PEERS))
    return float(np.mean(sizes) / 2**weights._shift * float(weights._rate))


def test_what_a_pair_tells_carries_the_noise_that_epsilon_asks_for() -> None:
    assert 0.85 < noise_seen() < 1.15  # five standard errors


def test_noise_that_is_left_out_is_seen() -> None:
    silent = mock.Mock(draw=lambda number, _: np.zeros(number, np.int64))
    with mock.patch.object(sampler, "two_sided_sampler", return_value=silent):
        assert noise_seen() < 0.1


def test_a_rebuilt_peer_says_the_same_again_so_that_noise_is_not_averaged() -> None:
    weights = weights_of(["a", "b", "c"])
    numbers = np.arange(PROJECTIONS, dtype=np.uint64)
    one, same = (weights.blur(numbers, bytes(32)) for _ in range(2))
    other = weights.blur(numbers, bytes([1]) * 32)
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_the_challenge_is_of_small_whole_numbers_of_variance_two() -> None:
    weights = SummandWeights({}, np.ones(500, np.uint64), 1.0, 1.0)
    drawn = weights.project(np.eye(500, dtype=np.uint64), bytes(32)).view(np.int64)
    assert np.abs(drawn).max() == 4
    assert abs(drawn.mean()) < 5 * math.sqrt(2 / drawn.size)
    assert abs((drawn**2).mean() - 2) < 0.05


# The constants.


def test_a_norm_is_underestimated_with_a_chance_of_at_most_two_to_minus_forty() -> None:
    """Of all summands, by the largest of the means that the module's words speak of."""
    grid = np.linspace(0, 9, 50_001)
    density = np.exp(-(grid**2) / 2) * math.sqrt(2 / math.pi) * grid[1]
    density[0] /= 2

    def mean(t: float, a: float) -> float:
        values = np.abs(np.cos(grid * a * math.sqrt(t / 2))) ** (8 / a**2)
        return float(values @ density)

    def log_chance(t: float) -> float:
        largest = max(mean(t, a) for a in np.linspace(0.02, 1, 50))
        assert largest <= (1 + 4 * t) ** -0.5 * (1 + 1e-6)
        least = LEAST * weighing._VARIANCE
        return PROJECTIONS * (t * least + math.log(largest))

    assert min(log_chance(t) for t in (0.4, 0.5, 0.6)) <= -40 * math.log(2)


@pytest.mark.parametrize(("peers", "documents"), [(3, 100), (3, 1000), (10, 300), (40, 5000)])
def test_what_passes_is_as_small_as_the_module_says(peers: int, documents: int) -> None:
    of_peers = {f"peer{at}": documents for at in range(peers)}
    weights = SummandWeights(of_peers, np.ones(SIZE, np.uint64), SCALE * 70, SCALE * 70)
    said = 2.6 + (450 + 720 * math.sqrt(peers - 1)) / documents
    assert 0.9 * said < heaviest(weights, "peer0") < 1.01 * said


def test_an_honest_norm_is_overestimated_with_a_chance_of_at_most_two_to_minus_forty() -> None:
    most = weighing._MOST
    assert PROJECTIONS / 2 * (most - 1 - math.log(most)) >= 40 * math.log(2)
    mean = weighing._MEAN
    assert PROJECTIONS * (mean**2 / 2 - math.log(2)) >= 40 * math.log(2)


@pytest.mark.parametrize("pairs", [1, 2, 5, 9, 19, 49])
def test_noise_is_larger_than_allowed_for_with_a_chance_of_at_most_two_to_minus_forty(
    pairs: int,
) -> None:
    """Of the sum of so many exponential laws with both signs, cut where none comes beyond."""
    size = np.linspace(0.05, 90 * max(1.0, math.sqrt(pairs) / 3), 200_001)
    order = pairs - 0.5
    log = order * np.log(size / 2) + np.log(kve(order, size)) - size - gammaln(pairs)
    density = np.exp(log - log.max())
    density /= density.sum()
    beyond = np.cumsum(density[::-1])[::-1]
    inside = beyond >= 2.0**-40 / PROJECTIONS
    allowed = (15 + 1.5 * math.sqrt(2 * PROJECTIONS * pairs)) ** 2
    chances = [
        PROJECTIONS * math.log(density[inside] @ np.exp(t * size[inside] ** 2)) - t * allowed
        for t in np.geomspace(1e-4, 0.05, 60)
    ]
    assert min(chances) <= -40 * math.log(2)


def moving(lies: set[tuple[str, str]], by: int) -> Callable[[Message], Payload]:
    """Peers that tell something else of the mask that they share with another."""
    return lambda message: {
        other: message.array(other, "<u8") + np.uint64(by * ((message.sender, other) in lies))
        for other in message.payload
    }
