"""An attack: a lying coordinator has the key holder open one peer's ciphertext as if it were a sum.

The key holder sees one ciphertext and a list of names. It cannot tell a sum of four summands from
one of them. So the summands are masked: what is opened without exactly the named peers' summands is
a uniform number.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest
from support.evenness import evenness
from support.federations import same_key
from support.hidden_systems import small_keys_allowed

from sottovoce.errors import InputError, TooFewPartiesError
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.wire import array_from_bytes, array_to_bytes
from sottovoce.learn.sums.fixed import FixedPoint, Ring
from sottovoce.learn.sums.packed import ADDED, SUMMAND, PackedKeyHolder, PackedPeer, PackedSum
from sottovoce.learn.sums.summand_masks import SummandMasks, new_mask_seed
from sottovoce.learn.wire.message import Message, new_session

if TYPE_CHECKING:
    from sottovoce.learn.wire.codec import Value

PEERS = ("ada", "ben", "cy", "dee")
NUMBERS = FixedPoint(100.0, len(PEERS), 10)
VALUES = {
    name: NUMBERS.encode(np.random.default_rng(at).uniform(-100, 100, 60))
    for at, name in enumerate(PEERS)
}
Added = Callable[[dict[str, EncryptedArray]], EncryptedArray]


@pytest.fixture(autouse=True)
def _small_keys() -> Iterator[None]:
    with small_keys_allowed():
        yield


def opened_by_a_coordinator(added: Added, names: Sequence[str]) -> Ring | None:
    """What the key holder opens for a coordinator that adds as it likes."""
    key = same_key(2)
    terms = PackedSum(new_session(), "coordinator", "key holder", PEERS, 60, NUMBERS)
    holder = PackedKeyHolder(terms, key)
    told = {message.receiver: message for message in holder.start()}
    summands = {}
    for name in PEERS:
        peer = PackedPeer(name, terms, VALUES[name])
        peer.start()
        for said in peer.receive(told[name]):
            if said.receiver == "coordinator":
                summands[name] = array_from_bytes(said.item("array", bytes), key.public)
            else:
                holder.receive(said)
    payload: dict[str, Value] = {"array": array_to_bytes(added(summands)), "names": tuple(names)}
    holder.receive(Message(terms.session, "coordinator", "key holder", ADDED, "added", payload))
    return holder.total


def everything(given: dict[str, EncryptedArray]) -> EncryptedArray:
    ada, ben, cy, dee = (given[name] for name in PEERS)
    return ada + ben + cy + dee


def only_ada(given: dict[str, EncryptedArray]) -> EncryptedArray:
    return given["ada"]


def without_dee(given: dict[str, EncryptedArray]) -> EncryptedArray:
    return given["ada"] + given["ben"] + given["cy"]


def test_an_honest_coordinator_has_the_sum_opened_over_all_or_over_some() -> None:
    total = sum(VALUES[name] for name in PEERS)
    np.testing.assert_array_equal(opened_by_a_coordinator(everything, PEERS), total)
    np.testing.assert_array_equal(
        opened_by_a_coordinator(without_dee, PEERS[:3]), total - VALUES["dee"]
    )


@pytest.mark.parametrize(
    ("added", "names"),
    [
        (only_ada, PEERS),
        (only_ada, ("ada", "ben", "cy")),
        (without_dee, PEERS),
        (everything, PEERS[:3]),
    ],
)
def test_a_summand_that_is_passed_off_as_the_sum_is_not_opened(
    added: Added, names: Sequence[str]
) -> None:
    """Before summands were masked, the first of these opened ada's own numbers."""
    with pytest.raises(InputError, match="has not added what they gave"):
        opened_by_a_coordinator(added, names)


def test_a_peer_that_is_named_twice_is_refused() -> None:
    with pytest.raises(TooFewPartiesError, match="of its peers, each once"):
        opened_by_a_coordinator(only_ada, ("ada", "ada", "ada"))


def test_what_is_opened_of_a_part_is_uniform_whatever_the_summands_are() -> None:
    """Without the check of its size too: a mask of the others is left over, and it is uniform."""
    masks = SummandMasks(new_session(), 4000, NUMBERS, len(PEERS))
    seeds = {name: new_mask_seed() for name in PEERS}
    alone = masks.masked(np.full(4000, 7, np.uint64), seeds["ada"])
    left = [int(each) for each in alone]
    with pytest.raises(InputError):
        masks.unmasked(left, seeds.values())
    rest = alone.view(np.uint64) - masks._mask(seeds["ada"]) - masks._mask(seeds["ben"])
    values = [int(each) + masks.bound for each in masks._centred(rest)]
    assert evenness(values, [2 * masks.bound] * 4000) > 1e-3
    honest = alone.view(np.uint64) - masks._mask(seeds["ada"])
    planted = [int(each) + masks.bound for each in masks._centred(honest)]
    assert evenness(planted, [2 * masks.bound] * 4000) < 1e-3


def test_the_key_holder_waits_for_the_masks_of_those_who_are_named() -> None:
    key = same_key(2)
    terms = PackedSum(new_session(), "coordinator", "key holder", PEERS, 60, NUMBERS)
    holder = PackedKeyHolder(terms, key)
    told = {message.receiver: message for message in holder.start()}
    said: dict[str, list[Message]] = {}
    for name in PEERS:
        peer = PackedPeer(name, terms, VALUES[name])
        peer.start()
        said[name] = peer.receive(told[name])
    arrays = {
        name: array_from_bytes(said[name][0].item("array", bytes), key.public) for name in PEERS
    }
    payload: dict[str, Value] = {"array": array_to_bytes(everything(arrays)), "names": PEERS}
    late = Message(terms.session, "coordinator", "key holder", ADDED, "added", payload)
    assert holder.receive(said["ada"][1]) == []
    assert holder.receive(late) == []
    assert holder._inbox.missing == ("ben", "cy", "dee")
    assert holder.receive(said["ben"][1]) == []
    assert holder.receive(said["cy"][1]) == []
    assert said["dee"][1].step == SUMMAND
    assert {message.kind for message in holder.receive(said["dee"][1])} == {"sum"}
    np.testing.assert_array_equal(holder.total, sum(VALUES[name] for name in PEERS))
