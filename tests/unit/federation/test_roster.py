"""Who is on a roster, and what a certificate says."""

from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import load_pem_x509_certificate
from support.federations import Authority

import sottovoce.federation
from sottovoce.errors import InputError, ParameterError
from sottovoce.federation.certificates import (
    Credentials,
    as_pem,
    fingerprint,
    named_party,
    network_name,
)
from sottovoce.federation.roster import Member, Roster

ANN = Member("ann", "peer", "127.0.0.1:1", "AB:" * 31 + "AB")


def test_members_are_found_by_name_and_by_certificate() -> None:
    holder = Member("key holder", "key holder", "127.0.0.1:2", "01" * 32)
    roster = Roster((ANN, holder))
    assert roster["ann"] is ANN
    assert roster.with_fingerprint("ab" * 32) is ANN
    assert roster.with_fingerprint("00" * 32) is None
    assert roster.names == ("ann", "key holder")
    assert holder.certificate_name == "key-holder"
    with pytest.raises(ParameterError, match="no party of the name 'bob'"):
        roster["bob"]


def test_two_members_share_neither_name_nor_certificate() -> None:
    for twin in (
        Member("ann", "peer", "", "02" * 32),
        Member("bob", "peer", "", "ab" * 32),
    ):
        with pytest.raises(ParameterError, match="of its own"):
            Roster((ANN, twin))
    with pytest.raises(ParameterError, match="64 hexadecimal digits"):
        Member("cy", "peer", "", "no fingerprint")


def test_a_certificate_says_whose_it_is_and_a_key_is_not_shown() -> None:
    held = Authority().credentials("key holder")
    assert named_party(held.certificate) == network_name(held.certificate) == "key-holder"
    read = load_pem_x509_certificate(held.certificate).public_bytes(Encoding.DER)
    assert fingerprint(held.certificate) == fingerprint(read) == sha256(read).hexdigest()
    assert as_pem(held.certificate) == held.certificate
    assert "PRIVATE" not in repr(held)
    assert isinstance(held, Credentials)
    with pytest.raises(InputError, match="PEM or DER"):
        fingerprint(b"nothing of the kind")


def test_the_package_names_what_it_has_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sottovoce.federation.nothing  # type: ignore[attr-defined] # it must not be there
