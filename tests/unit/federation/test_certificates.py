"""The small certificate authority."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
)

from sottovoce.errors import ConfigError, ParameterError
from sottovoce.federation._keys import load_key, save_key
from sottovoce.federation.certificates import (
    Authority,
    Issued,
    check_certificate,
    days_left,
    fingerprint,
    load_certificate,
    read_certificate,
    read_key,
)
from sottovoce.learn.paillier import key_files

RIGHT = "correct horse"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority.new("test authority")[0]


@pytest.fixture(scope="module")
def ada(authority: Authority) -> Issued:
    return authority.issue("ada", ["127.0.0.1", "ada.example"])


def test_a_certificate_that_has_not_begun_is_refused(authority: Authority, ada: Issued) -> None:
    check_certificate(ada.certificate, authority.certificate, name="ada")
    later = datetime.now(UTC) + timedelta(days=366)
    assert days_left(ada.certificate, now=later) < 0
    earlier = datetime.now(UTC) - timedelta(days=1)
    with pytest.raises(ConfigError, match="is the clock right"):
        check_certificate(ada.certificate, authority.certificate, name="ada", now=earlier)


def test_renewal_keeps_key_and_names_and_moves_the_end(authority: Authority) -> None:
    short = authority.issue("ada", ["10.0.0.7"], days=2)
    renewed = authority.renew(short.certificate, days=400)
    assert 399 < days_left(renewed) <= 400
    assert days_left(short.certificate) < 2
    before, after = read_certificate(short.certificate), read_certificate(renewed)
    assert before.public_key() == after.public_key() == read_key(short.key).public_key()
    assert before.serial_number != after.serial_number
    assert fingerprint(renewed) != fingerprint(short.certificate), "rosters must be told"
    check_certificate(renewed, authority.certificate, name="ada")
    with pytest.raises(ConfigError, match="must be signed"):
        Authority.new("other")[0].renew(short.certificate)


def test_names_that_no_certificate_can_carry_are_refused(authority: Authority) -> None:
    for name in ("", "Ada", "a b", "-a", "a" * 64, "ä", "a.b"):
        with pytest.raises(ParameterError, match="party's name"):
            authority.issue(name)
    with pytest.raises(ParameterError, match="days"):
        authority.issue("ada", days=0)


def test_what_is_no_certificate_or_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="in PEM"):
        read_certificate(b"nothing")
    with pytest.raises(ConfigError, match="in PEM"):
        read_key(b"nothing")
    with pytest.raises(ConfigError, match="No such file"):
        load_certificate(tmp_path / "absent.pem")
    one, other = Authority.new("one")[1], Authority.new("other")[1]
    with pytest.raises(ConfigError, match="does not belong"):
        Authority(one.certificate, other.key)


def test_keys_are_read_back_clear_sealed_and_as_openssl_encrypts_them(
    tmp_path: Path, ada: Issued, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_files, "_SCRYPT_COST", 1 << 4)
    save_key(ada.key, tmp_path / "clear.key", passphrase=None)
    save_key(ada.key, tmp_path / "sealed.key", passphrase=RIGHT)
    own = tmp_path / "own.key"
    own.write_bytes(
        read_key(ada.key).private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(RIGHT.encode())
        )
    )
    own.chmod(0o600)
    assert b"PRIVATE" not in (tmp_path / "sealed.key").read_bytes()
    for path, phrase in (("clear.key", None), ("sealed.key", RIGHT), ("own.key", RIGHT)):
        assert load_key(tmp_path / path, passphrase=phrase) == ada.key
    with pytest.raises(ConfigError, match="right passphrase"):
        load_key(own, passphrase=None)
