"""The seeds and elements that a seed gives, by the standard's vector and by plain Python."""

import hashlib

import pytest

from sottovoce.errors import ParameterError
from sottovoce.privacy.vdaf._xof import XofUsage, domain_tag, turboshake128, xof_bytes, xof_elements
from sottovoce.privacy.vdaf.field import FIELD64, FIELD128, Field

pytestmark = pytest.mark.kernel

SEED = bytes(range(32))
TAG, BINDER = b"domain separation tag", b"binder string"


def test_the_vector_of_the_standard() -> None:
    derived = "b62ef0a2778190792d4d42d8c167ba20e0c37a3f319ba79645829c427d70eea5"
    assert xof_bytes(SEED, TAG, BINDER).hex() == derived
    expanded = FIELD128.encode(xof_elements(FIELD128, SEED, TAG, BINDER, 40))
    assert hashlib.sha256(expanded).hexdigest()[:32] == "ad49ff98e5aae01d271d1fa6271f5d37"


def test_numbers_that_are_no_elements_are_left_out_and_others_drawn() -> None:
    # Almost half of all numbers of 64 bits are this prime or more.
    narrow = Field(2**63 + 29, size=8, generator=2)
    found = narrow.encode(xof_elements(narrow, SEED, TAG, BINDER, 30))
    stream = xof_bytes(SEED, TAG, BINDER, 1000)
    numbers = [int.from_bytes(stream[i : i + 8], "little") for i in range(0, 1000, 8)]
    expected = [number for number in numbers if number < narrow.modulus][:30]
    assert sum(number >= narrow.modulus for number in numbers[:30]) > 5
    assert found == b"".join(number.to_bytes(8, "little") for number in expected)


def test_no_two_uses_contexts_or_algorithms_share_a_tag() -> None:
    tags = {
        domain_tag(algorithm, usage, context)
        for algorithm in (1, 3, 4)
        for usage in XofUsage
        for context in (b"", b"a", b"b")
    }
    assert len(tags) == 3 * len(XofUsage) * 3
    assert len({xof_bytes(SEED, tag, b"") for tag in tags}) == len(tags)


def test_what_cannot_be_written_in_the_lengths_is_refused() -> None:
    with pytest.raises(ParameterError, match="a seed must have 32 bytes, got 16"):
        xof_bytes(SEED[:16], TAG, BINDER)
    with pytest.raises(ParameterError, match="a context must have at most 65527 bytes"):
        domain_tag(1, XofUsage.JOINT_SEED, bytes(65_528))
    assert len(xof_elements(FIELD64, SEED, TAG, BINDER, 3)) == 3


PATTERN = bytes(range(251)) * 2
# RFC 9861, section 5: of the pattern 00 01 ... FA 00 ..., so many bytes of it.
VECTORS = {
    0: "1e415f1c5983aff2169217277d17bb538cd945a397ddec541f1ce41af2c1b74c",
    1: "55cedd6f60af7bb29a4042ae832ef3f58db7299f893ebb9247247d856958daa9",
    17: "9c97d036a3bac819db70ede0ca554ec6e4c2a1a4ffbfd9ec269ca6a111161233",
    17**2: "96c77c279e0126f7fc07c9b07f5cdae1e0be60bdbe10620040e75d7223a624d2",
}


@pytest.mark.parametrize("length", VECTORS)
def test_the_outputs_of_the_rfc(length: int) -> None:
    assert turboshake128(PATTERN[:length], 32, domain=0x1F).hex() == VECTORS[length]


@pytest.mark.parametrize("length", [0, 7, 166, 167, 168, 169, 336])
def test_with_all_rounds_it_is_shake(length: int) -> None:
    message = PATTERN[:length]
    expected = hashlib.shake_128(message).digest(340)
    assert turboshake128(message, 340, domain=0x1F, rounds=24) == expected


def test_domains_differ_and_a_domain_outside_the_standard_is_refused() -> None:
    assert turboshake128(b"m", 32, domain=1) != turboshake128(b"m", 32, domain=2)
    for domain in (0, 0x80):
        with pytest.raises(ParameterError, match="a domain must be 1 to 127"):
            turboshake128(b"m", 32, domain=domain)
