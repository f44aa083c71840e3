"""The seeds and elements that a seed gives, by the standard's vector and by plain Python."""

import hashlib

import pytest

from sottovoce.errors import ParameterError
from sottovoce.privacy.vdaf._xof import XofUsage, domain_tag, xof_bytes, xof_elements
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
