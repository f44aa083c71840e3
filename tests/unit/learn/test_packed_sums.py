"""Sums and rados under Paillier."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from support.hidden_systems import BITS, small_keys_allowed
from support.paillier_keys import insecure_key_for_tests

from sottovoce.errors import (
    DamagedMessageError,
    EarlyMessageError,
    InputError,
    LeakError,
    ParameterError,
    SottovoceError,
    StalledError,
    TooFewPartiesError,
)
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.keys import PrivateKey
from sottovoce.learn.paillier.wire import _PREFIX, MAGIC, VERSION, array_from_bytes, decrypt
from sottovoce.learn.rados.intermediary import (
    RadoIntermediary,
    RadoOwner,
    RadoReceiver,
    RadoTerms,
    encrypted_rados,
)
from sottovoce.learn.rados.rados import SealedSignatures
from sottovoce.learn.sums.fixed import ALLOW_TWO, FixedPoint
from sottovoce.learn.sums.packed import (
    LEAKAGE,
    PackedCoordinator,
    PackedKeyHolder,
    PackedPeer,
    PackedSum,
)
from sottovoce.learn.wire.exchange import Exchange, Faults
from sottovoce.learn.wire.message import Message, new_session

NUMBERS = FixedPoint(bound=100.0, parties=6)
VALUES = np.random.default_rng(0).uniform(-100, 100, (6, 70))
NAMES = [f"peer{i}" for i in range(6)]


@pytest.fixture(autouse=True, scope="module")
def _small_keys() -> Iterator[None]:
    with small_keys_allowed():
        yield


@pytest.fixture(scope="module")
def key() -> PrivateKey:
    return insecure_key_for_tests(BITS)


def sum_terms(number: int = 6, **changes: object) -> PackedSum:
    given: dict[str, object] = {
        "session": new_session(), "coordinator": "coordinator", "key_holder": "key holder",
        "peers": NAMES[:number], "size": 70, "numbers": NUMBERS,
    }  # fmt: skip
    return PackedSum(**{**given, **changes})  # type: ignore[arg-type] # their own types


def sum_parties(
    key: PrivateKey, terms: PackedSum
) -> tuple[PackedCoordinator, PackedKeyHolder, list[PackedPeer]]:
    peers = [
        PackedPeer(name, terms, terms.numbers.encode(VALUES[int(name[-1])])) for name in terms.peers
    ]
    return PackedCoordinator(terms), PackedKeyHolder(terms, key), peers


def plain(rows: list[int]) -> object:
    return sum(NUMBERS.encode(VALUES[i]) for i in rows)


def test_everybody_learns_the_plain_sum(key: PrivateKey) -> None:
    coordinator, holder, peers = sum_parties(key, sum_terms())
    traffic = Exchange([coordinator, holder, *peers]).run()
    for total in (coordinator.total, holder.total, *(peer.total for peer in peers)):
        np.testing.assert_array_equal(total, plain([0, 1, 2, 3, 4, 5]))
    assert traffic.rounds == 4


def test_peers_that_are_not_told_learn_who_took_part_and_nothing_of_the_sum(
    key: PrivateKey,
) -> None:
    coordinator, holder, peers = sum_parties(key, sum_terms(told=False))
    exchange = Exchange([coordinator, holder, *peers])
    exchange.run()
    for total in (coordinator.total, holder.total):
        np.testing.assert_array_equal(total, plain([0, 1, 2, 3, 4, 5]))
    for peer in peers:
        assert peer.survivors == tuple(NAMES)
        told = exchange.views[peer.name][-1]
        assert (told.kind, told.array("vector", "<u8").size) == ("sum", 0)
    learnt = {each.who: each.what for each in LEAKAGE.learns}
    assert "with told=False nothing of the sum" in learnt["every peer"]
    assert "the sum" in learnt["coordinator"]


def test_the_key_holder_sees_one_ciphertext_which_is_the_sum(key: PrivateKey) -> None:
    coordinator, holder, peers = sum_parties(key, sum_terms())
    exchange = Exchange([coordinator, holder, *peers])
    exchange.run()
    heard = [message.kind for message in exchange.views["key holder"]]
    assert [kind for kind in heard if kind != "mask"] == ["added"]
    assert {m.kind for m in exchange.views["coordinator"]} == {"key", "summand", "sum"}


def test_the_sum_is_blinded_anew_before_it_leaves(key: PrivateKey) -> None:
    coordinator, holder, peers = sum_parties(key, sum_terms())
    exchange = Exchange([coordinator, holder, *peers])
    exchange.run()

    def array(message: Message) -> EncryptedArray:
        return array_from_bytes(message.item("array", bytes), key.public)

    given = [array(m) for m in exchange.views["coordinator"] if m.kind == "summand"]
    product = given[0]
    for other in given[1:]:
        product = product + other
    (sent,) = (array(m) for m in exchange.views["key holder"] if m.kind == "added")
    assert not set(sent.ciphertexts.ravel()) & set(product.ciphertexts.ravel())
    np.testing.assert_array_equal(decrypt(sent, key), decrypt(product, key))


def test_two_of_six_may_fall_silent_before_they_give(key: PrivateKey) -> None:
    coordinator, holder, peers = sum_parties(key, sum_terms())
    faults = Faults(silent_from={"peer1": 2, "peer4": 1})
    Exchange([coordinator, holder, *peers], faults=faults).run()
    np.testing.assert_array_equal(holder.total, plain([0, 2, 3, 5]))
    assert holder.survivors == peers[0].survivors == ("peer0", "peer2", "peer3", "peer5")


def test_a_sum_of_two_is_not_opened(key: PrivateKey) -> None:
    coordinator, holder, peers = sum_parties(key, sum_terms(3))
    with pytest.raises(TooFewPartiesError, match="2 peers are left"):
        Exchange([coordinator, holder, *peers], faults=Faults(silent_from={"peer1": 2})).run()


def test_a_lost_key_holder_stalls_by_name(key: PrivateKey) -> None:
    coordinator, holder, peers = sum_parties(key, sum_terms(3))
    with pytest.raises(StalledError):
        Exchange([coordinator, holder, *peers], faults=Faults(silent_from={"key holder": 1})).run()


def test_two_may_sum_by_name(key: PrivateKey) -> None:
    coordinator, holder, peers = sum_parties(key, sum_terms(2, allow_two=ALLOW_TWO))
    Exchange([coordinator, holder, *peers]).run()
    np.testing.assert_array_equal(holder.total, plain([0, 1]))


@pytest.mark.parametrize(
    "changes",
    [
        {"peers": NAMES[:2]},
        {"key_holder": "coordinator"},
        {"coordinator": "peer1"},
        {"numbers": FixedPoint(100.0, parties=3)},
    ],
)
def test_sums_that_protect_nobody_or_overflow_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(SottovoceError):
        sum_terms(**changes)  # type: ignore[arg-type] # their own types


def test_a_summand_of_another_length_or_peer_is_refused() -> None:
    with pytest.raises(ParameterError, match="must have 70 values"):
        PackedPeer("peer0", sum_terms(), np.zeros(3, np.uint64))
    with pytest.raises(ParameterError, match="one of the sum's peers"):
        PackedPeer("stranger", sum_terms(), np.zeros(70, np.uint64))


def test_a_ciphertext_of_another_key_or_plan_is_refused(key: PrivateKey) -> None:
    terms = sum_terms()
    coordinator, holder, _ = sum_parties(key, terms)
    key_message = next(m for m in holder.start() if m.receiver == "coordinator")
    coordinator.start()
    coordinator.receive(key_message)

    def from_peer0(other: PackedSum, its_key: PrivateKey) -> Message:
        peer = PackedPeer("peer0", other, np.zeros(other.size, np.uint64))
        peer.start()
        mine = next(m for m in PackedKeyHolder(other, its_key).start() if m.receiver == "peer0")
        said, _ = peer.receive(mine)
        return Message(terms.session, "peer0", "coordinator", said.step, said.kind, said.payload)

    for other, its_key, reason in (
        (terms, insecure_key_for_tests(BITS, 1), "another key"),
        (sum_terms(numbers=FixedPoint(1.0, 6)), key, "another plan"),
        (sum_terms(size=3), key, "must have 70 values"),
    ):
        with pytest.raises(InputError, match=reason):
            coordinator.receive(from_peer0(other, its_key))
    assert not coordinator._inbox.taken


def with_header(message: Message, **fields: object) -> Message:
    """A summand whose header says something else."""
    data = message.item("array", bytes)
    body = _PREFIX.size + _PREFIX.unpack_from(data)[2]
    header = json.dumps(json.loads(data[_PREFIX.size : body]) | fields).encode()
    forged = _PREFIX.pack(MAGIC, VERSION, len(header)) + header + data[body:]
    return replace(message, payload={"array": forged})


@pytest.mark.parametrize("lie", ["capacity", "sum", "scale"])
def test_a_summand_that_leaves_others_no_room_is_refused_and_not_counted(
    key: PrivateKey, lie: str
) -> None:
    terms = sum_terms(4)
    coordinator, holder, peers = sum_parties(key, terms)
    plan = terms.plan(BITS)
    fields: dict[str, dict[str, object]] = {
        "capacity": {"bound": f"{plan.capacity:x}"},
        "sum": {"bound": f"{plan.program.last.bound:x}"},
        "scale": {"fraction_bits": 3},
    }
    coordinator.start()
    for peer in peers:
        peer.start()
    keys = {m.receiver: m for m in holder.start()}
    coordinator.receive(keys["coordinator"])
    said = []
    for peer in peers:
        summand, mask = peer.receive(keys[peer.name])
        said.append(summand)
        holder.receive(mask)
    with pytest.raises(SottovoceError):
        coordinator.receive(with_header(said[0], **fields[lie]))
    for message in said[1:]:
        assert coordinator.receive(message) == []
    (added,) = coordinator.time_out()
    holder.receive(added)
    assert holder.survivors == tuple(NAMES[1:4])
    np.testing.assert_array_equal(holder.total, plain([1, 2, 3]))


def test_a_summand_that_cannot_be_added_does_not_count_as_heard(
    key: PrivateKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the reason: three are needed, and one that was not added is none of them."""
    terms = sum_terms(3)
    coordinator, holder, peers = sum_parties(key, terms)
    coordinator.start()
    for peer in peers:
        peer.start()
    keys = {m.receiver: m for m in holder.start()}
    coordinator.receive(keys["coordinator"])
    said = [peer.receive(keys[peer.name])[0] for peer in peers]
    monkeypatch.setattr("sottovoce.learn.sums.packed.check_summand", lambda array: None)
    coordinator.receive(with_header(said[0], bound=f"{terms.plan(BITS).capacity:x}"))
    for message in said[1:]:
        with pytest.raises(ParameterError):
            coordinator.receive(message)
    with pytest.raises(TooFewPartiesError, match="1 peers are left"):
        coordinator.time_out()


def test_words_of_the_wrong_shape_or_order_are_refused(key: PrivateKey) -> None:
    terms = sum_terms()
    coordinator, holder, peers = sum_parties(key, terms)
    keys = {m.receiver: m for m in holder.start()}
    coordinator.start()
    peers[0].start()
    summand, _ = peers[0].receive(keys["peer0"])
    with pytest.raises(EarlyMessageError, match="after the key"):
        coordinator.receive(summand)

    def told(**payload: object) -> Message:
        given = {"vector": np.zeros(70, np.uint64), "names": tuple(NAMES), **payload}
        return Message(terms.session, "key holder", "peer0", 4, "sum", given)  # type: ignore[arg-type] # may be wrong on purpose

    with pytest.raises(DamagedMessageError, match="must have 70 values"):
        peers[0].receive(told(vector=np.zeros(3, np.uint64)))
    for names in (("stranger", *NAMES), NAMES[:2], ("peer0",) * 3):
        with pytest.raises(TooFewPartiesError, match="at least 3 of its peers"):
            peers[0].receive(told(names=tuple(names)))
    peers[0].receive(told())
    assert peers[0].finished


ROWS = np.random.default_rng(1).uniform(-1, 1, (12, 5))
SIGNS = np.random.default_rng(2).choice([-1.0, 1.0], 12)


def rado_terms(**changes: object) -> RadoTerms:
    given: dict[str, object] = {
        "session": new_session(), "owner": "owner", "intermediary": "intermediary",
        "receiver": "receiver", "examples": 12, "features": 5, "rados": 9, "bound": 1.0,
    }  # fmt: skip
    return RadoTerms(**{**given, **changes})  # type: ignore[arg-type] # their own types


def test_encrypted_rados_are_the_plain_ones(key: PrivateKey) -> None:
    terms = rado_terms()
    parties = RadoOwner(terms, ROWS, SIGNS), RadoIntermediary(terms), RadoReceiver(terms, key)
    exchange = Exchange(parties)
    exchange.run()
    rounded = np.rint(ROWS * 2**30) / 2**30
    sigma = parties[1]._signatures._signatures
    expected = (sigma @ rounded + SIGNS @ rounded) / 2
    np.testing.assert_array_equal(parties[2].rados, expected)


def test_no_party_sees_signatures_and_clear_rados(key: PrivateKey) -> None:
    terms = rado_terms()
    parties = RadoOwner(terms, ROWS, SIGNS), RadoIntermediary(terms), RadoReceiver(terms, key)
    exchange = Exchange(parties)
    exchange.run()
    kinds = {name: {m.kind for m in view} for name, view in exchange.views.items()}
    assert kinds == {"owner": {"key"}, "intermediary": {"key", "examples"}, "receiver": {"rados"}}
    every = [m for view in exchange.views.values() for m in view if m.kind != "key"]
    assert {name for m in every for name in m.payload} == {"rows", "labelled", "doubled"}


@pytest.mark.parametrize(
    "clear", [(ROWS, ROWS[0]), (ROWS.tolist(), ROWS[0].tolist()), (None, None)]
)
def test_an_intermediarys_signatures_do_not_meet_clear_rows(clear: tuple[object, object]) -> None:
    with pytest.raises(LeakError, match="ciphertexts only"):
        encrypted_rados(SealedSignatures(3, 12), *clear)


@pytest.mark.parametrize(
    ("go", "refusal"),
    [
        (lambda: rado_terms(receiver="intermediary"), LeakError),
        (lambda: rado_terms(owner="intermediary"), LeakError),
        (lambda: rado_terms(rados=0), ParameterError),
        (lambda: rado_terms(bound=1e9), ParameterError),
        (lambda: RadoOwner(rado_terms(), ROWS[:3], SIGNS[:3]), InputError),
        (lambda: RadoOwner(rado_terms(), 2 * ROWS, SIGNS), InputError),
    ],
)
def test_rados_that_would_leak_or_overflow_are_refused(
    go: Callable[[], object], refusal: type[SottovoceError]
) -> None:
    with pytest.raises(refusal):
        go()


def test_encrypted_examples_of_another_shape_are_refused(key: PrivateKey) -> None:
    terms = rado_terms()
    other = rado_terms(session=terms.session, features=4)
    parties = RadoOwner(other, ROWS[:, :4], SIGNS), RadoIntermediary(terms)
    with pytest.raises(InputError, match="shape"):
        Exchange([*parties, RadoReceiver(terms, key)]).run()
    wrong = RadoIntermediary(rado_terms(session=terms.session, rados=3))
    with pytest.raises(InputError, match="encrypted rados must be 9 x 5"):
        Exchange([RadoOwner(terms, ROWS, SIGNS), wrong, RadoReceiver(terms, key)]).run()
    fresh = new_session()
    owner = RadoOwner(rado_terms(session=fresh), ROWS, SIGNS)
    owner.start()
    (key_message,) = (
        m for m in RadoReceiver(rado_terms(session=fresh), key).start() if m.receiver == "owner"
    )
    (said,) = owner.receive(key_message)
    rows = array_from_bytes(said.item("rows", bytes), key.public)
    with pytest.raises(InputError, match="of 3 examples, got 12"):
        encrypted_rados(SealedSignatures(2, 3), rows, rows)


@pytest.mark.parametrize("silent", ["owner", "intermediary", "receiver"])
def test_a_silent_party_stalls_the_making_by_name(key: PrivateKey, silent: str) -> None:
    terms = rado_terms()
    parties = RadoOwner(terms, ROWS, SIGNS), RadoIntermediary(terms), RadoReceiver(terms, key)
    with pytest.raises(StalledError):
        Exchange(parties, faults=Faults(silent_from={silent: 1})).run()
