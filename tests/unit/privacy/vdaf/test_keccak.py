"""TurboSHAKE128 by RFC 9861, and by SHAKE128, which has the same sponge with all rounds."""

import hashlib

import pytest

from sottovoce.errors import ParameterError
from sottovoce.privacy.vdaf._xof import turboshake128

pytestmark = pytest.mark.kernel

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
