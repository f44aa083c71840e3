"""Secure sums: exact, however they are made, and refused where they would give a summand away."""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.changed_parties import Change, Changing

from sottovoce.errors import (
    CorruptShareError,
    DamagedMessageError,
    DisagreementError,
    ParameterError,
    ProtocolError,
    StalledError,
    TooFewPartiesError,
    UnexpectedMessageError,
)
from sottovoce.learn.sums import keys
from sottovoce.learn.sums import masked_sum as masks
from sottovoce.learn.sums.fixed import ALLOW_TWO, FixedPoint, Ring, checked_parties
from sottovoce.learn.sums.keys import (
    PRIME,
    AgreementKey,
    Identity,
    MaskedSum,
    add_vectors,
    open_shares,
    pair_mask,
    shares,
)
from sottovoce.learn.sums.masked_sum import MaskPeer, MaskServer
from sottovoce.learn.wire.codec import Value, encode_value
from sottovoce.learn.wire.exchange import Exchange, Faults
from sottovoce.learn.wire.message import Message, Party, new_session

SIZE = 5


def names(number: int) -> list[str]:
    return [f"peer{i}" for i in range(number)]


def summands(number: int, size: int = SIZE) -> dict[str, Ring]:
    draw = np.random.default_rng(number)
    return {name: draw.integers(0, 2**64, size, dtype=np.uint64) for name in names(number)}


def plain(vectors: dict[str, Ring], of: list[str] | tuple[str, ...]) -> Ring:
    return add_vectors((vectors[name] for name in of), SIZE)


def masked_parties(
    number: int, *, threshold: int = 0, size: int = SIZE
) -> tuple[MaskServer, list[MaskPeer], dict[str, Ring]]:
    identities = {name: Identity() for name in names(number)}
    public = {name: identity.public for name, identity in identities.items()}
    terms = MaskedSum(new_session(), "server", public, size, threshold)
    vectors = summands(number, size)
    peers = [MaskPeer(name, terms, identities[name], vectors[name]) for name in names(number)]
    return MaskServer(terms), peers, vectors


def at_step(party: Party, step: int, change: Change) -> Changing:
    """A party whose words of one step are changed on their way out."""
    return Changing(party, lambda said: change(said) if said.step == step else said)


def with_payload(message: Message, **changes: Any) -> Message:  # noqa: ANN401 - may be wrong on purpose
    return replace(message, payload={**message.payload, **changes})


def record(message: Message, name: str) -> dict[str, object]:
    value = message.payload[name]
    assert isinstance(value, dict)
    return dict(value)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_fewer_than_three_are_refused(number: int) -> None:
    with pytest.raises(TooFewPartiesError, match="each learns the other's summand"):
        MaskedSum(new_session(), "server", dict.fromkeys(names(number), b""), 1)


def test_two_may_sum_when_they_accept_what_it_means_by_name() -> None:
    pair = dict.fromkeys(names(2), b"")
    MaskedSum(new_session(), "server", pair, 1, allow_two=ALLOW_TWO)
    with pytest.raises(ParameterError, match="allow_two"):
        MaskedSum(new_session(), "server", pair, 1, allow_two="yes")  # type: ignore[arg-type] # that is the point
    with pytest.raises(ParameterError, match="name of its own"):
        checked_parties(["peer0"] * 3, allow_two=None)


@pytest.mark.parametrize("number", [3, 4, 9])
def test_masks_cancel(number: int) -> None:
    server, peers, vectors = masked_parties(number)
    traffic = Exchange([server, *peers]).run()
    for total in (server.total, *(peer.total for peer in peers)):
        np.testing.assert_array_equal(total, plain(vectors, names(number)))
    assert traffic.rounds == 10


@pytest.mark.parametrize("step", [masks.KEYS, masks.SHARES, masks.MASKED, masks.AGREED,
                                  masks.OPENED])  # fmt: skip
@pytest.mark.parametrize("number", [4, 9])
def test_a_third_of_the_peers_may_fall_silent_at_any_step(number: int, step: int) -> None:
    server, peers, vectors = masked_parties(number)
    gone = dict.fromkeys(names(number)[: number // 3], step)
    Exchange([server, *peers], faults=Faults(silent_from=gone)).run()
    # Who was heard with a masked vector is in the sum, whatever became of it later.
    added = names(number) if step > masks.MASKED else names(number)[number // 3 :]
    assert list(server.survivors) == added
    np.testing.assert_array_equal(server.total, plain(vectors, added))


def test_more_dropouts_than_planned_end_the_sum_by_name() -> None:
    server, peers, _ = masked_parties(6)
    gone = dict.fromkeys(names(3), masks.MASKED)
    with pytest.raises(TooFewPartiesError, match="3 of 6 peers are left in step 5"):
        Exchange([server, *peers], faults=Faults(silent_from=gone)).run()


def test_a_late_vector_stays_hidden_although_its_pair_masks_are_open() -> None:
    server, peers, vectors = masked_parties(4)
    late: list[Message] = []

    def keep(message: Message) -> Message:
        late.append(message)
        return message

    slow = at_step(peers[0], masks.MASKED, keep)
    faults = Faults(silent_from={"peer0": masks.MASKED})
    Exchange([server, slow, *peers[1:]], faults=faults).run()
    terms = server._terms
    pairs = [
        pair_mask(terms, peers[0]._masking, "peer0", other, server._keys[other][1])
        for other in names(4)[1:]
    ]
    without_pairs = late[0].array("vector", "<u8") - add_vectors(pairs, SIZE)
    own = keys.self_mask(terms, peers[0]._seed, "peer0")
    assert not np.array_equal(without_pairs, vectors["peer0"])
    np.testing.assert_array_equal(without_pairs - own, vectors["peer0"])


def test_no_peer_opens_both_secrets_of_another() -> None:
    server, peers, _ = masked_parties(6)
    exchange = Exchange(
        [server, *peers], faults=Faults(silent_from={"peer0": masks.MASKED, "peer1": 5})
    )
    exchange.run()
    openings = [m for m in exchange.views["server"] if m.kind == "opened"]
    assert len(openings) == 4
    for opening in openings:
        assert set(record(opening, "keys")) == {"peer0", "peer1"}
        assert set(record(opening, "seeds")) == set(names(6)[2:])


@pytest.mark.parametrize("part", ["seeds", "keys"])
@pytest.mark.parametrize("amount", [1, PRIME // 2])
@pytest.mark.parametrize("spare", [0, 1])
def test_a_corrupt_share_is_named_with_shares_to_spare_or_without(
    part: str, amount: int, spare: int
) -> None:
    server, peers, _ = masked_parties(6)

    def corrupt(message: Message) -> Message:
        held = record(message, part)
        return with_payload(message, **{part: {k: int(str(v)) + amount for k, v in held.items()}})

    bad = at_step(peers[1], masks.OPENED, corrupt)
    silent = {"peer0": masks.MASKED, "peer5": masks.OPENED}
    faults = Faults(silent_from=dict(list(silent.items())[: 2 - spare]))
    with pytest.raises(CorruptShareError):
        Exchange([server, bad, *peers[2:], peers[0]], faults=faults).run()


def test_a_withheld_share_is_named() -> None:
    server, peers, _ = masked_parties(4)
    bad = at_step(peers[1], masks.OPENED, lambda m: with_payload(m, seeds={}))
    with pytest.raises(CorruptShareError, match="peer1 must give its share"):
        Exchange([server, bad, peers[0], *peers[2:]]).run()


def test_a_sealed_share_that_was_changed_on_the_way_is_named() -> None:
    server, peers, _ = masked_parties(4)

    def swap(message: Message) -> Message:
        sealed = record(message, "sealed")
        one, other, *_ = sorted(sealed)
        sealed[one], sealed[other] = sealed[other], sealed[one]
        return with_payload(message, sealed=sealed)

    with pytest.raises(CorruptShareError, match="not what its sender sealed"):
        Exchange([at_step(server, masks.SEALED, swap), *peers]).run()


@pytest.mark.parametrize("pair", [1, (1,), (b"", b""), (1, b"")])
def test_a_sealed_share_that_is_no_pair_of_numbers_is_named(
    pair: Value, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, peers, _ = masked_parties(3)
    monkeypatch.setattr(masks, "encode_value", lambda _: encode_value(pair))
    with pytest.raises(CorruptShareError, match="two whole numbers"):
        Exchange([server, *peers]).run()


def test_every_message_may_come_twice() -> None:
    server, peers, vectors = masked_parties(4)
    exchange = Exchange([server, *peers], faults=Faults(duplicate=1.0))
    exchange.run()
    np.testing.assert_array_equal(server.total, plain(vectors, names(4)))
    assert exchange.refused["ReplayedMessageError"] == 40


def test_a_word_of_another_session_is_refused_at_every_step() -> None:
    server, peers, _ = masked_parties(4)
    exchange = Exchange([server, *peers])
    exchange.run()
    other_server, other_peers, _ = masked_parties(4)
    parties: list[Party] = [other_server, *other_peers]
    for party in parties:
        party.start()
        for message in exchange.views[party.name]:
            with pytest.raises(UnexpectedMessageError):
                party.receive(message)


def test_a_server_that_tells_different_survivors_opens_nothing() -> None:
    server, peers, _ = masked_parties(6)

    def lie(message: Message) -> Message:
        told = names(6)[:5] if message.receiver in names(6)[:3] else names(6)
        return with_payload(message, names=tuple(told))

    with pytest.raises(DisagreementError, match="signature for survivors"):
        Exchange([at_step(server, masks.SURVIVORS, lie), *peers]).run()
    assert all(peer.total is None for peer in peers)


def test_a_server_that_puts_its_own_key_in_a_peers_place_is_found() -> None:
    server, peers, _ = masked_parties(4)

    def put(message: Message) -> Message:
        keys = record(message, "keys")
        entry = keys["peer1"]
        assert isinstance(entry, tuple)
        keys["peer1"] = (AgreementKey().public, *entry[1:])
        return with_payload(message, keys=keys)

    with pytest.raises(DisagreementError, match="signature for keys"):
        Exchange([at_step(server, masks.DIRECTORY, put), *peers]).run()


def replaced(step: int, **changes: object) -> Callable[[], None]:
    def go() -> None:
        server, peers, _ = masked_parties(4)
        Exchange([at_step(server, step, lambda m: with_payload(m, **changes)), *peers]).run()

    return go


@pytest.mark.parametrize(
    ("go", "refusal"),
    [
        (replaced(masks.DIRECTORY, keys={"stranger": (b"", b"", b"")}), DisagreementError),
        (replaced(masks.DIRECTORY, keys={}), TooFewPartiesError),
        (replaced(masks.SEALED, sealed={}), TooFewPartiesError),
        (replaced(masks.SURVIVORS, names=("peer0", "stranger")), DisagreementError),
        (replaced(masks.SURVIVORS, names=("peer0", "peer1")), TooFewPartiesError),
        (replaced(masks.AGREEMENT, signatures={}), TooFewPartiesError),
        (replaced(masks.AGREEMENT, signatures={"stranger": b""}), DisagreementError),
    ],
)
def test_a_server_that_leaves_peers_out_or_puts_strangers_in_is_refused(
    go: Callable[[], None], refusal: type[ProtocolError]
) -> None:
    with pytest.raises(refusal):
        go()


def test_a_survivor_that_is_named_twice_is_refused() -> None:
    """A peer would count a list of two as three, and sign it."""
    server, peers, _ = masked_parties(3)
    twice = ("peer0", "peer0", "peer1")
    lying = at_step(server, masks.SURVIVORS, lambda m: with_payload(m, names=twice))
    with pytest.raises(DisagreementError, match="survivors must be named once each"):
        Exchange([lying, *peers]).run()
    assert all(peer.survivors == () for peer in peers)


@pytest.mark.parametrize(
    ("step", "changes"),
    [
        (masks.DIRECTORY, {"keys": 1}),
        (masks.DIRECTORY, {"keys": {"peer0": 1}}),
        (masks.SEALED, {"sealed": {"stranger": b""}}),
    ],
)
def test_malformed_words_of_the_server_are_damage(step: int, changes: dict[str, object]) -> None:
    server, peers, _ = masked_parties(3)
    exchange = Exchange([at_step(server, step, lambda m: with_payload(m, **changes)), *peers])
    with pytest.raises(ProtocolError):
        exchange.run()
    assert exchange.refused["DamagedMessageError"] == 3


@pytest.mark.parametrize(
    ("step", "changes"),
    [(masks.MASKED, {"vector": np.zeros(1, np.uint64)}), (masks.SHARES, {"sealed": {}})],
)
def test_malformed_words_of_a_peer_are_damage(step: int, changes: dict[str, object]) -> None:
    server, peers, _ = masked_parties(3)
    bad = at_step(peers[0], step, lambda m: with_payload(m, **changes))
    exchange = Exchange([server, bad, *peers[1:]])
    with pytest.raises(ProtocolError):
        exchange.run()


def test_a_small_order_point_is_no_key() -> None:
    with pytest.raises(DamagedMessageError, match="point of X25519"):
        AgreementKey().common_key(bytes(32), new_session(), "mask")


@pytest.mark.parametrize("runs", [25, pytest.param(500, marks=pytest.mark.long)])
def test_a_finished_sum_is_the_plain_one_under_random_faults(runs: int) -> None:
    finished = 0
    for seed in range(runs):
        server, peers, vectors = masked_parties(5)
        faults = Faults(drop=0.01, duplicate=0.01, reorder=0.01, flip=0.01, seed=seed)
        with contextlib.suppress(StalledError, TooFewPartiesError):
            Exchange([server, *peers], faults=faults).run()
        if server.total is not None:
            finished += 1
            np.testing.assert_array_equal(server.total, plain(vectors, server.survivors))
    assert finished > runs / 2


def terms(number: int, **changes: object) -> MaskedSum:
    given = {"threshold": 0, "size": 1, "server": "server", **changes}
    return MaskedSum(new_session(), identities=dict.fromkeys(names(number), b""), **given)  # type: ignore[arg-type] # their own types


@pytest.mark.parametrize(("number", "threshold"), [(3, 3), (4, 3), (6, 4), (9, 6), (10, 7)])
def test_two_thirds_must_stay_and_never_fewer_than_three(number: int, threshold: int) -> None:
    assert terms(number).threshold == threshold
    assert number == 3 or number - terms(number).threshold >= number // 3


@pytest.mark.parametrize("changes", [{"threshold": 5}, {"threshold": 11}, {"size": 0},
                                     {"server": "peer1"}])  # fmt: skip
def test_terms_that_protect_nobody_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        terms(10, **changes)


def test_a_peer_needs_its_own_identity_and_a_summand_of_the_right_length() -> None:
    server, _, _ = masked_parties(3)
    with pytest.raises(ParameterError, match="own identity"):
        MaskPeer("peer0", server._terms, Identity(), np.zeros(SIZE, np.uint64))
    identity = Identity()
    public = {**server._terms.identities, "peer0": identity.public}
    with pytest.raises(ParameterError, match="must have 2 values"):
        MaskPeer(
            "peer0", MaskedSum(new_session(), "s", public, 2), identity, np.zeros(3, np.uint64)
        )


def test_shares_open_at_the_threshold_and_not_below() -> None:
    secret = bytes(range(32))
    held = shares(secret, threshold=3, places=range(1, 6))
    for chosen in ((1, 2, 3), (5, 3, 1), (1, 2, 3, 4, 5)):
        assert open_shares({i: held[i] for i in chosen}, threshold=3, size=32) == secret
    with pytest.raises(CorruptShareError, match="3 shares open a secret, got 2"):
        open_shares({1: held[1], 2: held[2]}, threshold=3, size=32)
    with pytest.raises(CorruptShareError):
        open_shares({**held, 1: held[1] + 1}, threshold=3, size=32)
    with pytest.raises(ParameterError, match="65 bytes"):
        shares(b"\xff" * 66, threshold=2, places=[1, 2])
    for places in ([0, 1, 2], [-1, 1]):
        with pytest.raises(ParameterError, match="at 0 lies the secret"):
            shares(secret, threshold=2, places=places)


def test_fixed_point_sums_are_exact_at_the_bound() -> None:
    plan = FixedPoint(bound=1000.0, parties=4, fraction_bits=30)
    parts = np.array([[1000.0, -1000.0, 0.1, 2**-30]] * 4)
    total = add_vectors((plan.encode(part) for part in parts), 4)
    expected = [4000.0, -4000.0, 4 * round(0.1 * 2**30) / 2**30, 2**-28]
    np.testing.assert_array_equal(plan.decode(total), expected)
    assert plan.step == 2**-30


@pytest.mark.parametrize(
    ("bound", "parties", "bits"),
    [(0, 3, 30), (float("inf"), 3, 30), (1, 0, 30), (1, 3, 54), (2.0**33, 1, 30), (2.0**31, 4, 30)],
)
def test_a_sum_that_could_wrap_is_refused_when_planned(
    bound: float, parties: int, bits: int
) -> None:
    with pytest.raises(ParameterError):
        FixedPoint(bound, parties, bits)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1.01])
def test_values_beyond_the_plan_are_refused(value: float) -> None:
    with pytest.raises(ParameterError):
        FixedPoint(1.0, 3).encode([0.0, value])


def test_a_signed_list_of_names_cannot_be_read_as_another() -> None:
    lists = [["a", "b", "c"], ["a\0b", "c"], ["a", "b\0c"], ["a\0b\0c"], ["abc"], []]
    assert len({keys.names_signed(each) for each in lists}) == len(lists)
    assert keys.names_signed(["b", "a"]) == keys.names_signed(["a", "b"])
