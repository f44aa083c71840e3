"""Secrets in files, and the small certificate authority."""

import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
)

from sottovoce.errors import ConfigError, InputError, ParameterError
from sottovoce.federation._keys import (
    FORMAT,
    load_key,
    load_secret,
    read_passphrase,
    save_key,
    save_secret,
)
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
from sottovoce.federation.config import TrainingSettings, absolute_source, load_config
from sottovoce.federation.setup import FoundingPlan, SetupPlan, new_federation, set_up
from sottovoce.learn.paillier import key_files

SECRET = bytes(range(32))
RIGHT, WRONG = "correct horse", "battery staple"


@pytest.fixture(autouse=True)
def cheap_derivation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrypt's memory is for attackers; tests need none of it."""
    monkeypatch.setattr(key_files, "_SCRYPT_COST", 1 << 4)


@pytest.mark.parametrize("passphrase", [None, RIGHT])
def test_a_secret_comes_back_and_its_file_is_its_owners(
    tmp_path: Path, passphrase: str | None
) -> None:
    path = tmp_path / "identity.key"
    save_secret(path, SECRET, kind="identity", passphrase=passphrase)
    assert load_secret(path, kind="identity", passphrase=passphrase) == SECRET
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ("sealed" in json.loads(path.read_text())) == (passphrase is not None)


def test_a_sealed_file_holds_nothing_of_the_secret(tmp_path: Path) -> None:
    path = tmp_path / "identity.key"
    save_secret(path, SECRET, kind="identity", passphrase=RIGHT)
    content = path.read_bytes()
    assert SECRET.hex().encode() not in content
    assert SECRET not in content
    save_secret(path, SECRET, kind="identity", passphrase=None)
    assert SECRET.hex().encode() in path.read_bytes(), "what a leak looks like is known"


def test_a_wrong_passphrase_none_and_an_empty_one_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "identity.key"
    save_secret(path, SECRET, kind="identity", passphrase=RIGHT)
    with pytest.raises(InputError, match="passphrase of .* is wrong"):
        load_secret(path, kind="identity", passphrase=WRONG)
    with pytest.raises(InputError, match="is sealed; give its passphrase"):
        load_secret(path, kind="identity", passphrase=None)
    with pytest.raises(InputError, match="must not be empty"):
        save_secret(path, SECRET, kind="identity", passphrase="")


def test_a_secret_of_another_kind_is_refused_even_if_its_label_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.key"
    save_secret(path, SECRET, kind="journal", passphrase=RIGHT)
    with pytest.raises(InputError, match="kind 'identity'"):
        load_secret(path, kind="identity", passphrase=RIGHT)
    path.write_text(path.read_text().replace("journal", "identity"))
    with pytest.raises(InputError, match="was changed"):
        load_secret(path, kind="identity", passphrase=RIGHT)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b"[" * 100_000,
        json.dumps({"format": FORMAT, "version": 2}).encode(),
        json.dumps({"format": FORMAT, "version": 1, "kind": "journal"}).encode(),
        json.dumps({"format": FORMAT, "version": 1, "kind": "journal", "secret": 3}).encode(),
        json.dumps({"format": FORMAT, "version": 1, "kind": "journal", "sealed": "zz"}).encode(),
        b"{" + b" " * (1 << 18),
    ],
)
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(InputError) as refused:
        load_secret(path, kind="journal", passphrase=WRONG)
    assert str(refused.value).count("\n") == 0


def test_a_file_of_a_passphrase_is_found_from_every_partys_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "phrase"
    file.write_text("from a file\n")
    file.chmod(0o600)
    source = "file:phrase"
    plan = SetupPlan(("ada", "ben", "cy"), TrainingSettings(), passphrase=source)
    set_up(tmp_path / "all", plan)
    new_federation(tmp_path / "new", FoundingPlan("127.0.0.1:7001", passphrase=source))
    for folder in (tmp_path / "all" / "ada", tmp_path / "new"):
        config = load_config(folder / "party.toml")
        assert read_passphrase(config.party.secrets.passphrase, config.folder) == "from a file"
    assert absolute_source("env:PHRASE") == "env:PHRASE"


def test_a_passphrase_comes_from_where_it_is_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_PHRASE", "from the environment")
    file = tmp_path / "phrase"
    file.write_text("from a file\n")
    file.chmod(0o600)
    assert read_passphrase("none", tmp_path) is None
    assert read_passphrase("env:OUR_PHRASE", tmp_path) == "from the environment"
    assert read_passphrase("file:phrase", tmp_path) == "from a file"
    monkeypatch.setenv("OUR_PHRASE", "")
    for source in ("env:OUR_PHRASE", "env:NO_SUCH_PHRASE", "prompt", "env:", "file:", "what"):
        with pytest.raises(InputError):
            read_passphrase(source, tmp_path)


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
    tmp_path: Path, ada: Issued
) -> None:
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
